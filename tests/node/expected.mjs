// What an event must be: each of its members is stated, has one default, or follows from the frame that it came from.
// Which, ../vectors/format.json says.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

const EXCERPT = 256;
const PAYLOADS = ["params", "result", "data"];
const TOKEN = /[ \t\r\n]*("[^"\\]*(?:\\[^][^"\\]*)*"|[^\s{}[\],:"]+|[{}[\],:])/y;

/** The tree of a JSON text, nothing of it lost: each node has its text, and its members or items. */
export function read(text) {
  JSON.parse(text);
  let at = 0;
  const token = () => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    at = TOKEN.lastIndex;
    return found?.[1];
  };
  const value = (first) => {
    const start = at - first.length;
    const node = {};
    if (first === "{") {
      node.members = [];
      for (let next = token(); next !== "}"; next = token()) {
        if (next === ",") next = token();
        token();
        node.members.push([JSON.parse(next), value(token())]);
      }
    } else if (first === "[") {
      node.items = [];
      for (let next = token(); next !== "]"; next = token()) node.items.push(value(next === "," ? token() : next));
    }
    node.text = text.slice(start, at);
    return node;
  };
  return value(token());
}

/** Whether two trees are the same value. Digits matter, the order of members does not; a name twice equals nothing. */
export function same(left, right) {
  if (left.members && right.members) {
    const [ours, theirs] = [new Map(left.members), new Map(right.members)];
    const unique = ours.size === left.members.length && theirs.size === right.members.length;
    return unique && ours.size === theirs.size && [...ours].every(([name, node]) => theirs.has(name) && same(node, theirs.get(name)));
  }
  if (left.items && right.items) {
    return left.items.length === right.items.length && left.items.every((node, index) => same(node, right.items[index]));
  }
  if (left.text[0] === '"' && right.text[0] === '"') return JSON.parse(left.text) === JSON.parse(right.text);
  return !left.members && !left.items && left.text === right.text;
}

/** What the package reads of it: integers that a number does not hold are bigints. */
function native({ text, members, items }) {
  if (items) return items.map(native);
  if (members) {
    const object = {};
    for (const [name, node] of members) {
      Object.defineProperty(object, name, { value: native(node), configurable: true, enumerable: true, writable: true });
    }
    return object;
  }
  return /^-?\d{16,400}$/.test(text) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : JSON.parse(text);
}

/** The text of the one member of that name; undefined without one, null where it is unclear. */
function member(text, name) {
  let node;
  try {
    node = read(text);
  } catch {
    return null;
  }
  const found = node.members?.filter(([key]) => key === name);
  return found === undefined || found.length > 1 ? null : found[0]?.[1].text;
}

/** What a scenario has fed, frame by frame, cut as agreed. */
export class Frames {
  #framing;
  #rest = Buffer.alloc(0);
  all = [];

  constructor(framing = "lines") {
    this.#framing = framing;
  }

  feed(bytes) {
    if (this.#framing === "messages") {
      this.all.push(bytes);
      return;
    }
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let cut; (cut = this.#cut()); this.#rest = this.#rest.subarray(cut.next)) {
      this.#add(this.#rest.subarray(cut.start, cut.end));
    }
  }

  end() {
    this.#add(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  #cut() {
    if (this.#framing === "lines") {
      const end = this.#rest.indexOf("\n");
      return end < 0 ? undefined : { start: 0, end, next: end + 1 };
    }
    const start = this.#rest.indexOf("\r\n\r\n") + 4;
    const length = /^Content-Length: (\d+)\r?$/m.exec(this.#rest.toString("latin1", 0, start));
    const end = start + Number(length?.[1]);
    return start > 3 && end <= this.#rest.length ? { start, end, next: end } : undefined;
  }

  #add(frame) {
    const whole = frame.at(-1) === 13 ? frame.subarray(0, -1) : frame;
    if (/[^ \t\r\n\f]/.test(whole.toString("latin1"))) this.all.push(whole);
  }

  /** What is expected of a member that is not stated; undefined where it must be. */
  default(name, rule, number) {
    if (rule !== "frame") return rule === "stated" || rule === "prose" ? undefined : rule;
    if (name === "frame") return this.all.length;
    const frame = this.all[number - 1];
    if (frame === undefined) return undefined;
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      // The cut may go through a character.
      if (name === "excerpt") return decoder.decode(frame.subarray(0, EXCERPT), { stream: frame.length > EXCERPT });
      return payload(decoder.decode(frame), name);
    } catch {
      return undefined;
    }
  }
}

function payload(text, name) {
  if (name === "params" || name === "result") {
    const found = member(text, name);
    return name === "params" && (found === undefined || found === "null") ? "{}" : (found ?? undefined);
  }
  const error = member(text, "error");
  const found = typeof error === "string" ? member(error, name) : undefined;
  if (name === "data") return found ?? null;
  return typeof found === "string" ? JSON.parse(found) : undefined;
}

export function only(what, value, known) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return;
  const stranger = Object.keys(value).find((name) => !known.includes(name));
  if (stranger !== undefined) assert.fail(`${what} has no member ${stranger}`);
}

export class Format {
  constructor(rules) {
    this.rules = rules;
  }

  scenario(scenario) {
    only("a scenario", scenario, this.rules.scenario);
    only("config", scenario.config, this.rules.config);
    for (const name of ["policies", "limits"]) only(name, scenario.config[name], this.rules[name]);
  }

  /** The kind of a step; fails for one, or a member of one, that is not known. */
  step(step) {
    const { steps, beside } = this.rules;
    const kinds = Object.keys(step).filter((name) => Object.hasOwn(steps, name));
    assert.equal(kinds.length, 1, `a step of no known kind, or of two: ${Object.keys(step)}`);
    const [kind] = kinds;
    only(`the step ${kind}`, step, [kind, ...(beside[kind] ?? [])]);
    // The members of `can` are methods.
    if (kind !== "can") only(kind, step[kind], steps[kind]);
    return kind;
  }

  misuse(expected, found) {
    only("a misuse", expected, this.rules.misuse);
    assert.deepEqual(found, expected);
  }

  event(expected, found, frames) {
    const kind = ["event", "outcome", "consequence"].filter((name) => name in expected).map((name) => expected[name]).join("/");
    const table = this.rules.events[kind];
    assert.ok(table, `no event ${kind}, or its outcome or consequence is not stated`);
    const source = expected.frame ?? frames.all.length;
    const texts = PAYLOADS.filter((name) => table[name] === "frame").map((name) => `${name}_text`);
    const known = ["event", ...Object.keys(table), ...texts];
    only(kind, expected, Object.values(table).includes("frame") ? [...known, "frame"] : known);
    only(kind, Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)), known);
    for (const [name, rule] of Object.entries({ event: "stated", ...table })) {
      const why = difference(name, rule, expected, found, () => frames.default(name, rule, source));
      if (why !== undefined) assert.fail(`${name}: ${why}`);
    }
  }
}

const show = (value) => (value === undefined ? "nothing" : JSON.stringify(value, (_, part) => (typeof part === "bigint" ? `${part}n` : part)));

function difference(name, rule, expected, found, byDefault) {
  const value = found[name] ?? null;
  let [wanted, wantedText] = [expected[name], expected[`${name}_text`]];
  if (rule === "prose" && (typeof value !== "string" || value === "")) return `expected a sentence, found ${show(value)}`;
  if (wanted !== undefined && wantedText !== undefined) return "is stated twice";
  if (wanted === undefined && wantedText === undefined) {
    const otherwise = byDefault();
    if (otherwise === undefined) return rule === "prose" ? undefined : `is not stated; it is ${show(value)}`;
    if (rule === "frame" && PAYLOADS.includes(name)) wantedText = otherwise;
    else wanted = otherwise;
  }
  if (!PAYLOADS.includes(name)) {
    return isDeepStrictEqual(value, wanted) ? undefined : `expected ${show(wanted)}, found ${show(value)}`;
  }
  // What was read must be what the text says, and the text what is expected.
  const text = found[`${name}_text`] ?? null;
  if (text !== null && typeof text !== "string") return `expected text, found ${show(text)}`;
  const said = text === null ? null : read(text);
  if (!isDeepStrictEqual(said && native(said), value)) return `the text ${text} is read as ${show(value)}`;
  if (wantedText !== undefined) return wantedText === text ? undefined : `expected ${wantedText}, found ${text}`;
  const right = said === null ? wanted === null : same(read(JSON.stringify(wanted)), said);
  return right ? undefined : `expected ${show(wanted)}, found ${text}`;
}

/** The event with one member changed, for each of them. */
export function* falsified(event) {
  for (const [name, value] of Object.entries(event)) {
    let others = [[value], "x"];
    if (name === "message" && !event.event.endsWith("response")) others = ["", 1];
    else if (name.endsWith("_text")) others = value === null ? ["0"] : [`[${value}]`, null];
    else if (typeof value === "number") others = [value + 1, String(value)];
    else if (typeof value === "string") others = [`${value}x`, null];
    for (const other of others) yield { ...event, [name]: other };
  }
  yield { ...event, extra: true };
}
