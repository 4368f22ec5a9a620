// What the step `view` of the vectors looks at. Beside what a scenario expects, a copy of each view is kept that reads
// nothing but what has changed, and of contents nothing but what is new; it must be the view.
import assert from "node:assert/strict";

const LISTS = ["entries", "terminals"];
const CONTENTS = ["blocks", "summary", "content"];
/** What a connection counts as it will. */
const COUNTED = ["revision", "rewritten", "end"];

/** An entry from its head, what was known of it, and what is new of its content. */
function joined(head, known, content) {
  const entry = { ...head };
  for (const name of CONTENTS.filter((name) => name in content)) {
    const list = [...(known?.[name] ?? [])];
    const [...fresh] = content[name];
    if (content.continues) {
      const last = list.pop();
      const more = fresh.shift();
      assert.deepEqual([last.type, more.type], ["text", "text"], "what goes on is no text");
      list.push({ ...last, text: last.text + more.text });
    }
    entry[name] = [...list, ...fresh];
  }
  if ("output" in content) {
    entry.output = (known?.output ?? "") + content.output;
    entry.before = content.before;
  }
  assert.equal(content.end, head.end, "the content ends elsewhere");
  return entry;
}

/** What is kept of a view between two steps. */
class Copy {
  revision = 0;
  members = {};
  entries = new Map();

  /** Reads what has changed since, and says so; undefined where there is no view. */
  follow(connection, session) {
    const changes = connection.viewSince(session, this.revision);
    assert.equal(connection.viewRevision(session), changes?.revision, "the revision");
    if (changes === undefined) return undefined;
    const { entries, terminals, removed, first, reset, ...members } = changes;
    if (reset) {
      this.members = {};
      this.entries.clear();
    }
    for (const head of [...entries, ...terminals]) {
      const known = this.entries.get(head.index);
      const content = connection.viewContent(session, head.index, known?.end ?? 0);
      assert.ok(content.from === 0 || content.from === known?.end, "it was asked from elsewhere");
      this.entries.set(head.index, joined(head, content.from === 0 ? undefined : known, content));
    }
    for (const index of removed) this.entries.delete(index);
    for (const index of this.entries.keys()) if (index < first) this.entries.delete(index);
    Object.assign(this.members, members);
    this.revision = changes.revision;
    return changes;
  }

  get whole() {
    const all = [...this.entries.values()].sort((left, right) => left.index - right.index);
    const of = (terminals) => all.filter(({ type }) => (type === "terminal") === terminals);
    return { ...this.members, entries: of(false), terminals: of(true) };
  }
}

/** The members that are expected must be equal. */
function holds(expected, found, path = "") {
  for (const [name, value] of Object.entries(expected)) {
    assert.ok(!COUNTED.includes(name), `${name} is no business of a scenario`);
    const actual = found[name];
    if (LISTS.includes(name) && path === "" && actual?.length === value.length) {
      value.forEach((item, at) => holds(item, actual[at], `${name} ${at}: `));
    } else {
      assert.deepEqual(actual, value, `${path}${name}`);
    }
  }
}

/** Looks at the view of a session; `copies` is kept between the steps. */
export function look(connection, { view: session, shows }, copies) {
  assert.notEqual(shows, undefined, "what it shows is not stated");
  const copy = copies.get(session) ?? new Copy();
  const changes = copy.follow(connection, session);
  const whole = connection.view(session);
  assert.equal(changes === undefined, whole === undefined, "a view with changes and without itself");
  if (whole === undefined) {
    copies.delete(session);
    assert.equal(shows, null, "there is no such view");
    return;
  }
  copies.set(session, copy);
  assert.deepEqual(copy.whole, whole, "what was read bit by bit");
  assert.notEqual(shows, null, "there is such a view");
  const { revision, epoch, first, reset, entries, terminals, removed, ...members } = changes;
  holds(shows, {
    ...whole,
    busy: whole.prompts.length > 0 || !["idle", "unknown"].includes(whole.state),
    changed: entries.map(({ index }) => index),
    removed,
    members: Object.keys(members),
    reset,
  });
}
