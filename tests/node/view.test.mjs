// Sessions as conversations: objects that stay the same, and are what the core has.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Connection, carry, greeted, sent, withSession } from "./pair.mjs";

const { Observer, SessionView } = await import(process.env.LIBACP_ENTRY);
const recordings = fileURLToPath(new URL("../recordings/", import.meta.url));

/** A client with a view of its session, and an agent that talks to it. */
function talking(options) {
  const { client, agent } = withSession({ client: { view: true, ...options } });
  const tell = (update) => {
    agent.notify("session/update", { sessionId: "s", update });
    return carry(agent, client);
  };
  const chunk = (text) => tell({ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text } });
  return { client, agent, tell, chunk, view: new SessionView(client, "s") };
}

const image = { type: "image", data: "AA==", mimeType: "image/png" };
const isFrozen = (value) =>
  typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));

/** A snapshot as the core has it: it has no texts. */
function asCore({ entries, ...rest }) {
  const plain = ({ text, ...entry }) => entry;
  return structuredClone({ ...rest, entries: entries.map(plain) });
}

/** What is new is as the core has it; what is not is the object that it was. */
function compare(source, view, before) {
  const whole = source.view(view.session);
  if (whole === undefined) return before;
  const now = view.getSnapshot();
  assert.deepEqual(asCore(now), whole);
  assert.ok(isFrozen(now));
  const known = new Map([...before.entries, ...before.terminals].map((entry) => [`${before.epoch} ${entry.index}`, entry]));
  for (const entry of [...now.entries, ...now.terminals]) {
    const old = known.get(`${now.epoch} ${entry.index}`);
    assert.equal(entry === old, entry.revision === old?.revision);
    for (const [name, value] of Object.entries(entry)) {
      if (typeof value !== "object" || value === null || old === undefined) continue;
      const [is, was] = [JSON.stringify(value), JSON.stringify(old[name])];
      assert.equal(value === old[name], is === was, `${name}: ${was} is ${is}`);
    }
    if (entry.type !== "message" && entry.type !== "compaction") continue;
    assert.equal(entry.text, source.viewText(view.session, entry.index));
  }
  for (const name of Object.keys(now)) {
    if (JSON.stringify(now[name]) === JSON.stringify(before[name])) assert.equal(now[name], before[name], name);
  }
  return now;
}

/** A view, and a page that draws it step by step. */
function follow(view, before) {
  const changes = view.changes();
  const page = new Map();
  let drawn;
  const facts = {};
  const step = async () => {
    const now = view.getSnapshot();
    if (drawn === now) return;
    const { reset, entries, terminals, removed, ...told } = (await changes.next()).value;
    if (reset) page.clear();
    for (const index of removed) assert.ok(page.delete(index));
    for (const entry of [...entries, ...terminals]) {
      assert.notEqual(page.get(entry.index), entry);
      page.set(entry.index, entry);
    }
    Object.assign(facts, told);
    assert.deepEqual({ ...facts, entries: now.entries, terminals: now.terminals }, now);
    assert.equal(page.size, now.entries.length + now.terminals.length);
    assert.ok([...now.entries, ...now.terminals].every((entry) => page.get(entry.index) === entry));
    drawn = now;
  };
  return { view, before, step };
}

for (const name of readdirSync(recordings, { recursive: true }).filter((name) => name.endsWith(".jsonl"))) {
  const lines = readFileSync(`${recordings}${name}`, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  if (!lines.some(({ d, s }) => d === "<" && s?.includes("session/update"))) continue;

  test(`whatever is told: ${name}`, async () => {
    for (const [every, limits] of [[1, {}], [1, { viewEntries: 6, viewContent: 300, viewOutput: 60 }], [7, { viewEntries: 3 }]]) {
      const observer = new Observer({ view: true, limits });
      const seen = new Map();
      const nothing = new SessionView(observer, "none").getSnapshot();
      let compared = 0;
      for (const [at, { d, s, b64 }] of lines.entries()) {
        if (d === "#") continue;
        observer.receive(d === ">" ? "client" : "agent", b64 === undefined ? s : Buffer.from(b64, "base64"));
        for (const _ of observer.events());
        if (at % every > 0 && at < lines.length - 1) continue;
        for (const id of observer.views()) {
          if (!seen.has(id)) seen.set(id, follow(new SessionView(observer, id), nothing));
          const one = seen.get(id);
          one.before = compare(observer, one.view, one.before);
          await one.step();
          compared += one.before.entries.length;
        }
      }
      assert.ok(compared > 0);
    }
  });
}

test("what did not change is the same object", () => {
  const { chunk, tell, view } = talking();
  assert.equal(view.getSnapshot(), view.getSnapshot());
  assert.deepEqual([view.state, view.title, view.entries, view.revision], ["idle", null, [], view.getSnapshot().revision]);
  tell({ sessionUpdate: "tool_call", toolCallId: "t", title: "Look", locations: [{ path: "/a" }], rawInput: { deep: { b: 1 }, c: 2 } });
  chunk("One ");
  tell({ sessionUpdate: "agent_message_chunk", messageId: "m", content: image });
  chunk("two");
  const before = view.getSnapshot();
  const [tool, message] = before.entries;
  assert.equal(message.text, "One two");
  chunk(" three");
  const [sameTool, grown] = view.entries;
  assert.notEqual(view.getSnapshot(), before);
  assert.equal(sameTool, tool);
  assert.notEqual(grown, message);
  assert.deepEqual(grown.blocks.map((block, at) => block === message.blocks[at]), [true, true, false]);
  assert.deepEqual([message.text, grown.text, grown.blocks[2].text], ["One two", "One two three", "two three"]);
  assert.equal(view.terminals, before.terminals);
  assert.equal(view.meta, undefined);

  tell({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", rawInput: { deep: { b: 1 }, c: 3 } });
  const ended = view.tool("t");
  assert.deepEqual([ended.status, ended.rawInput], ["completed", { deep: { b: 1 }, c: 3 }]);
  assert.equal(ended.locations, tool.locations);
  assert.equal(ended.rawInput.deep, tool.rawInput.deep);
  assert.equal(view.entries[1], grown);
  const { entries } = view;
  tell({ sessionUpdate: "session_info_update", title: "T" });
  assert.equal(view.title, "T");
  assert.equal(view.entries, entries);
  assert.throws(() => entries.push(1), TypeError);
  assert.throws(() => (ended.rawInput.deep.b = 2), TypeError);
});

test("entries are found by their ids", () => {
  const { client, agent, tell, chunk, view } = talking({ drafts: ["plan_operations"] });
  for (const kind of ["agent_thought_chunk", "user_message_chunk"]) {
    tell({ sessionUpdate: kind, messageId: "m", content: { type: "text", text: kind } });
    tell({ sessionUpdate: kind, messageId: kind, content: { type: "text", text: kind } });
  }
  assert.equal(view.message("m").role, "user");
  chunk("x");
  assert.deepEqual([view.message("m").role, view.message("agent_thought_chunk").role], ["agent", "thought"]);
  tell({ sessionUpdate: "plan", entries: [] });
  tell({ sessionUpdate: "tool_call", toolCallId: "m", title: "t" });
  assert.deepEqual([view.plan(), view.plan("main").type, view.tool("m").type], [view.entries.at(-2), "plan", "tool_call"]);
  assert.deepEqual([view.message("x"), view.tool("x"), view.plan("x"), view.terminal("m")], [undefined, undefined, undefined, undefined]);
  client.free();
  agent.free();
});

test("names of members that every object has are members like others", () => {
  const { agent, client, view } = talking();
  const told = '{"a":1,"constructor":{"b":2},"toString":"x","__proto__":{"c":{}}}';
  const say = (status) => {
    const params = `{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"t","status":"${status}","rawInput":${told}}}`;
    client.receive(`{"jsonrpc":"2.0","method":"session/update","params":${params}}\n`);
    for (const _ of client.events());
    return view.tool("t").rawInput;
  };
  const before = say("pending");
  assert.equal(JSON.stringify(before), told);
  assert.equal(Object.getPrototypeOf(before), Object.prototype);
  assert.equal(say("completed"), before);
  agent.free();
});

test("100,000 chunks of one message are read once each", () => {
  const { chunk, view, client } = talking();
  let read = 0;
  const { viewContent } = client;
  client.viewContent = (...asked) => {
    const content = viewContent.apply(client, asked);
    read += JSON.stringify(content.blocks).length;
    return content;
  };
  const COUNT = 100_000;
  let length = 0;
  for (let count = 0; count < COUNT; count += 1) {
    chunk("0123456789");
    length = view.entries[0].text.length;
  }
  assert.equal(length, 10 * COUNT);
  assert.equal(view.entries[0].text, "0123456789".repeat(COUNT));
  assert.equal(read, COUNT * JSON.stringify([{ type: "text", text: "0123456789" }]).length);
});

test("what the core gives up is given up", () => {
  const { tell, view } = talking({ limits: { viewEntries: 3 } });
  for (let at = 0; at < 20; at += 1) tell({ sessionUpdate: "tool_call", toolCallId: `t-${at}`, title: "x".repeat(300) });
  const { entries, trimmed, dropped } = view;
  assert.deepEqual(entries.map(({ index, trimmed }) => [index, trimmed]), [14, 15, 16, 17, 18, 19].map((at) => [at, at < 17]));
  assert.deepEqual([trimmed, dropped], [17, 14]);
  assert.equal(view.tool("t-3"), undefined);
});

test("a view of nothing is empty, and of what is gone as it was", () => {
  const { client, chunk, view } = talking();
  const none = new SessionView(client, "other");
  assert.deepEqual([none.entries, none.state, none.session], [[], "idle", "other"]);
  chunk("x");
  assert.equal(view.entries[0].text, "x");
  const last = view.getSnapshot();
  client.free();
  assert.equal(view.getSnapshot(), last);
  assert.equal(none.getSnapshot().revision, 0);
  view.subscribe(() => {})();
  assert.equal(view.forget(), false);
});

test("a conversation that was forgotten and begins anew replaces the one before", async () => {
  const capabilities = { agentCapabilities: { loadSession: true, sessionCapabilities: { close: {} } } };
  const { client, agent } = greeted({ client: { view: true }, ...capabilities });
  const ask = (method, params, result) => {
    client.request(method, params);
    agent.respond(carry(client, agent).find(({ type }) => type === "request"), result);
    carry(agent, client);
  };
  const say = (text) => {
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } });
    carry(agent, client);
  };
  const rest = { sessionId: "s", cwd: "/", mcpServers: [] };
  ask("session/new", { cwd: "/", mcpServers: [] }, { sessionId: "s" });
  const [view, other] = [1, 2].map(() => new SessionView(client, "s"));
  const texts = ({ entries }) => entries.map(({ text }) => text);
  assert.equal(view.forget(), false);
  for (const text of ["a", "b", "c"]) say(text);
  const changes = other.changes();
  assert.deepEqual(texts((await changes.next()).value), ["abc"]);
  assert.deepEqual(texts(view), ["abc"]);
  ask("session/close", { sessionId: "s" }, {});
  assert.equal(view.frozen, true);
  assert.equal(view.forget(), true);
  assert.equal(view.forget(), false);
  assert.deepEqual([view, other].map(texts), [["abc"], ["abc"]]);
  ask("session/load", rest, {});
  for (const text of "defghijk") say(text);
  // The one that was told to forget stays; others show what there is now.
  assert.deepEqual([view, other].map(texts), [["abc"], ["defghijk"]]);
  const { reset, entries, frozen } = (await changes.next()).value;
  assert.deepEqual([reset, entries, frozen], [true, other.entries, undefined]);
  await changes.return();
});

test("a conversation that is replayed is another one, once all of it is there", async () => {
  const { client, agent } = greeted({ client: { view: true }, agentCapabilities: { loadSession: true } });
  const rest = { sessionId: "s", cwd: "/", mcpServers: [] };
  const say = (text) => {
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } });
    carry(agent, client);
  };
  const load = (...texts) => {
    client.request("session/load", rest);
    const asked = carry(client, agent).find(({ type }) => type === "request");
    texts.forEach(say);
    return () => {
      agent.respond(asked, {});
      carry(agent, client);
    };
  };
  load("one")();
  const view = new SessionView(client, "s");
  const changes = view.changes();
  const first = (await changes.next()).value;
  const answer = load("one", " two");
  assert.deepEqual([view.replaying, view.entries], [true, first.entries]);
  const { reset, entries, replaying } = (await changes.next()).value;
  assert.deepEqual([reset, entries, replaying], [false, [], true]);
  answer();
  const last = (await changes.next()).value;
  assert.deepEqual([last.reset, last.entries.map(({ text }) => text), last.removed], [true, ["one two"], []]);
  assert.notEqual(last.epoch, first.epoch);
  await changes.return();
});

test("mistakes are TypeErrors", () => {
  const client = new Connection({ role: "client" });
  for (const source of [undefined, {}, "s"]) assert.throws(() => new SessionView(source, "s"), /expected a Connection or an Observer/);
  for (const source of [client, new Observer()]) assert.throws(() => new SessionView(source, "s"), /made without the option view/);
  const viewing = new Connection({ role: "client", view: true });
  assert.throws(() => new SessionView(viewing, 5), /session: expected the id of a session/);
  assert.throws(() => new SessionView(viewing, "s").subscribe({}), /subscribe: expected a function/);
  assert.equal(sent(client), "");
});
