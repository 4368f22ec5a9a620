// The observer: which side is told apart, what is known, recordings in any split, and what is refused.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const { Observer } = await import(process.env.LIBACP_ENTRY ?? "libacp");
const recordings = fileURLToPath(new URL("../recordings/", import.meta.url));

const say = (observer, from, members) => observer.receive(from, JSON.stringify({ jsonrpc: "2.0", ...members }) + "\n");
const broken = (observer) =>
  [...observer.events()].filter(({ event }) => event.type === "violation").map(({ from, event }) => `${from} ${event.rule}`);

/** Both have said hello in this version, and a session is open. */
function opened(version, options) {
  const observer = new Observer(options);
  const info = { info: { name: "x", version: "1" } };
  const [client, agent] = version === 2
    ? [{ ...info, capabilities: {} }, { ...info, capabilities: { session: {} } }]
    : [{ clientCapabilities: {} }, { agentCapabilities: {} }];
  say(observer, "client", { id: 0, method: "initialize", params: { protocolVersion: version, ...client } });
  say(observer, "agent", { id: 0, result: { protocolVersion: version, ...agent } });
  say(observer, "client", { id: 1, method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  say(observer, "agent", { id: 1, result: { sessionId: "s-1" } });
  const seen = [...observer.events()].map(({ from, event }) => `${from} ${event.type}`);
  assert.deepEqual(seen, ["client request", "agent response", "client request", "agent response"]);
  return observer;
}

/** What each side of a recording is accused of, with each message in so many pieces; byte by byte for 0. */
function replayed(name, pieces) {
  const observer = new Observer();
  const tally = {};
  for (const line of readFileSync(`${recordings}${name}.jsonl`, "utf8").split("\n").filter(Boolean)) {
    const { d, s, b64 } = JSON.parse(line);
    if (d === "#") continue;
    const bytes = Uint8Array.from(b64 === undefined ? Buffer.from(s) : Buffer.from(b64, "base64"));
    const size = pieces === 0 ? 1 : Math.max(1, Math.ceil(bytes.length / pieces));
    for (let at = 0; at < bytes.length; at += size) {
      observer.receive(d === ">" ? "client" : "agent", bytes.subarray(at, at + size));
      for (const one of broken(observer)) tally[one] = (tally[one] ?? 0) + 1;
    }
  }
  observer.free();
  return tally;
}

test("each side is told what is its own fault", () => {
  for (const version of [1, 2]) {
    const observer = opened(version);
    assert.deepEqual([observer.version, observer.phase], [version, "ready"]);
    say(observer, "client", { id: 2, method: "session/new", params: { cwd: "w", mcpServers: [] } });
    say(observer, "agent", { id: 7, result: {} });
    const [first, second, ...more] = observer.events();
    assert.deepEqual([first.from, second.from, more], ["client", "agent", []]);
    const { rule, severity, pointer, method, id, consequence, frame } = first.event;
    assert.deepEqual([rule, severity, pointer, method, id], ["SESS-04", "error", "/cwd", "session/new", 2]);
    assert.deepEqual([consequence, frame], ["refused", 3]);
  }
});

test("after noise the next message is understood", () => {
  const observer = opened(1);
  observer.receive("client", new Uint8Array([0xff, 0x0a]));
  observer.receive("agent", "noise\n");
  say(observer, "agent", { method: "_x" });
  const seen = [...observer.events()].map(({ from, event }) => `${from} ${event.type}`);
  assert.deepEqual(seen, ["client violation", "agent violation", "agent notification"]);
});

test("recordings are seen as the core sees them", () => {
  const listed = {};
  for (const line of readFileSync(`${recordings}observed.txt`, "utf8").split("\n").filter(Boolean)) {
    const [name, side, rule, count] = line.split(" ");
    (listed[name] ??= {})[`${side} ${rule}`] = Number(count);
  }
  const within = (folder) => readdirSync(recordings + folder).filter((name) => name.endsWith(".jsonl"));
  const files = [...within(""), ...within("version-2").map((name) => `version-2/${name}`)];
  assert.ok(files.length >= 17);
  for (const name of files.map((file) => file.slice(0, -".jsonl".length))) {
    for (const pieces of [1, 2]) assert.deepEqual(replayed(name, pieces), listed[name] ?? {}, name);
  }
  for (const name of ["agent-official-py-0.12.1", "version-2/both-official-kt-0.30.1"]) {
    assert.deepEqual(replayed(name, 0), listed[name], name);
  }
});

test("what is known of a conversation", () => {
  const observer = opened(2);
  assert.deepEqual([observer.capabilities("client"), observer.capabilities("agent")], [{}, { session: {} }]);
  say(observer, "client", { id: 2, method: "session/list", params: {} });
  assert.ok(observer.buffered > 40);
  assert.deepEqual(broken(observer), []);
  assert.equal(observer.buffered, 0);
  assert.deepEqual(observer.openRequests("client").map(({ method }) => method), ["session/list"]);
  assert.deepEqual(observer.openRequests("agent"), []);
  assert.deepEqual([...observer.sessions().keys()], ["s-1"]);
  assert.deepEqual([observer.session("s-1").turn, observer.sessionSnapshot("s-1").turn], ["idle", "idle"]);
  assert.equal(observer.session("none") ?? observer.sessionSnapshot("none"), undefined);
  assert.equal(observer.snapshot().version, 2);
  observer.receiveEof("client");
  assert.equal(observer.pollEvent(), undefined);
  observer.receiveEof("agent");
  const ends = [...observer.events()].map(({ from, event }) => `${from} ${event.type}`);
  assert.deepEqual(ends, ["client response", "agent closed"]);
  observer.receive("client", "{}\n");
  assert.deepEqual([observer.pollEvent(), observer.phase], [undefined, "closed"]);
});

test("views are read while they grow, each character once", () => {
  const observer = opened(2, { view: true });
  assert.deepEqual([observer.views(), opened(2).views(), opened(2).view("s-1")], [["s-1"], [], undefined]);
  const chunks = 100_000;
  let [revision, position, read] = [0, 0, 0];
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "é, " } };
    say(observer, "agent", { method: "session/update", params: { sessionId: "s-1", update } });
    while (observer.pollEvent());
    const changes = observer.viewSince("s-1", revision);
    const content = observer.viewContent("s-1", 0, position);
    assert.deepEqual([changes.entries.length, changes.entries[0].end], [1, content.end]);
    assert.deepEqual([content.from, content.continues], [position, position > 0]);
    read += content.blocks[0].text.length;
    [revision, position] = [changes.revision, content.end];
  }
  assert.equal(read, 3 * chunks);
  assert.deepEqual([observer.viewRevision("s-1"), observer.viewText("s-1", 0)], [revision, "é, ".repeat(chunks)]);
  assert.equal(observer.view("s-1").entries[0].blocks[0].text.length, read);
  assert.deepEqual([observer.viewContent("s-1", 1, 0), observer.viewText("s-2", 0), observer.forgetView("s-1")], [undefined, undefined, false]);
  say(observer, "client", { id: 2, method: "session/close", params: { sessionId: "s-1" } });
  say(observer, "agent", { id: 2, result: {} });
  while (observer.pollEvent());
  assert.deepEqual([observer.forgetView("s-1"), observer.views()], [true, []]);
});

test("what there is not is refused", () => {
  for (const [options, name] of [
    [{ framing: "tcp" }, /^framing/], [{ policy: "lax" }, /^policy/], [{ versions: [] }, /^versions/],
    [{ versions: [3] }, /^versions/], [{ drafts: ["none"] }, /^drafts/], [{ foreignMethods: ["session/new"] }, /^foreignMethods/],
    [{ role: "client" }, /^role: no such option/], [{ timeout: 1 }, /^timeout: no such option/], [null, /^options/],
  ]) {
    assert.throws(() => new Observer(options), (error) => error instanceof TypeError && name.test(error.message));
  }
  const observer = new Observer({ versions: [1] });
  for (const call of [
    () => observer.receive("editor", ""), () => observer.receiveEof(), () => observer.capabilities("x"),
    () => observer.openRequests(0),
  ]) assert.throws(call, /^TypeError: side: expected/);
  assert.throws(() => observer.receive("client", 7), /expected a Uint8Array or a string/);
  assert.throws(() => observer.session(7), /id: expected a string/);
  assert.throws(() => observer.view(7), /session: expected a string/);
  assert.throws(() => observer.viewSince("s", -1), /revision: expected a whole number/);
  observer.free();
  observer.free();
  assert.throws(() => observer.pollEvent(), /this observer has been freed/);
});
