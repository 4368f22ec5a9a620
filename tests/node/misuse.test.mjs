// Hosts that do what they should not: use after free, calls out of calls, memory that moves or is gone, values that bite.
// After each of these the connection is as it was, and goes on.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, Client, RequestError, agentSide, all, folder, joined, quiet, texts } from "./both.mjs";
import { Connection, Misuse, carry, cutOutput, greeted, raw, sent, withSession } from "./pair.mjs";

const note = (params) => `{"jsonrpc":"2.0","method":"_x","params":${JSON.stringify(params)}}\n`;

/** It has sent nothing, and a call still reaches the other side. */
function stillGood({ client, agent }) {
  assert.equal(sent(client), "");
  client.request("_x/alive", { n: 1 });
  const [asked] = carry(client, agent);
  agent.respond(asked, { ok: true });
  const [answer] = carry(agent, client);
  assert.deepEqual(answer.result, { ok: true });
}

test("after free every method and every property says so, and free may come at any time", () => {
  const { client } = withSession();
  client.receive(note({}).repeat(3));
  const events = client.events();
  events.next();
  client.free();
  client.free();
  assert.throws(() => events.next(), /freed/);
  const members = Object.entries(Object.getOwnPropertyDescriptors(Connection.prototype));
  // What fits each of them, so that it is not refused for something else.
  const fitting = {
    request: ["_x"], receive: ["x"], handleTimeout: [1], consume: [1], respondError: [1, { code: 1, message: "" }], failWork: [1, { code: 1, message: "" }],
    pendingBySerial: [1], unansweredBySerial: [1], viewSince: ["s", 1], viewContent: ["s", 1, 1], viewText: ["s", 1],
  };
  let tried = 0;
  for (const [name, { value, get }] of members) {
    if (["constructor", "free", "events"].includes(name)) continue;
    tried += 1;
    const use = get ?? value;
    assert.throws(() => use.apply(client, fitting[name] ?? ["1", "1", "1"]), { name: "TypeError", message: /freed/ }, name);
  }
  assert.ok(tried > 30, String(tried));
  // A method by itself has no connection at all.
  assert.throws(() => Connection.prototype.close.call({}), TypeError);
  assert.throws(() => Connection.prototype.receive.call(Object.create(Connection.prototype), "x"), TypeError);
});

test("free within a loop over events ends the loop with an error, and harms no other connection", () => {
  const { client, agent } = greeted();
  const other = greeted();
  client.receive(note({}).repeat(3));
  assert.throws(() => {
    for (const event of client.events()) {
      assert.equal(event.type, "notification");
      client.free();
    }
  }, /freed/);
  agent.free();
  stillGood(other);
});

test("connections that are dropped without free are collected, their memory with them", () => {
  const script = `
    import { Connection } from "libacp";
    const data = new TextEncoder().encode("x".repeat(1 << 24));
    // More than the four gigabytes that there can be.
    for (let made = 0; made < 300; made++) {
      new Connection({ role: "client" }).receive(data);
      if (made % 5 === 0) { gc(); await new Promise(setImmediate); }
    }
    console.log("done");`;
  const options = ["--expose-gc", "--input-type=module", "-e", script];
  assert.equal(execFileSync(process.execPath, options, { cwd: folder, encoding: "utf8", timeout: 60_000 }), "done\n");
});

test("what was handed out stays as it is while memory grows and moves", () => {
  const { client } = greeted();
  client.notify("_x", { a: "é" });
  const bytes = client.transmit();
  const before = bytes.slice();
  assert.equal(bytes.buffer.byteLength, bytes.length, "a view of the module's memory");
  const big = new Connection({ role: "client" });
  big.receive(new Uint8Array(100 << 20));
  big.free();
  client.consume(bytes.length);
  client.notify("_x", { other: "text" });
  assert.deepEqual(bytes, before);
  // It is the host's: giving it away takes nothing from the connection.
  const waits = client.transmit();
  structuredClone(waits, { transfer: [waits.buffer] });
  assert.match(sent(client), /^\{"jsonrpc":"2.0","method":"_x","params":\{"other":"text"\}\}\n$/);
});

test("bytes from memory that is gone, shared, growing, or not what it says", () => {
  const { client } = greeted();
  const message = new TextEncoder().encode(note({}));
  const gone = message.slice();
  structuredClone(gone, { transfer: [gone.buffer] });
  assert.throws(() => client.receive(gone), TypeError);
  assert.equal(client.buffered, 0);
  const shared = new Uint8Array(new SharedArrayBuffer(message.length));
  shared.set(message);
  client.receive(shared);
  const growing = new ArrayBuffer(message.length, { maxByteLength: 1 << 20 });
  const view = new Uint8Array(growing);
  view.set(message);
  client.receive(view);
  client.receive(Buffer.from(message));
  assert.equal([...client.events()].length, 3);
  growing.resize(0);
  client.receive(view);
  class Liar extends Uint8Array {
    get length() {
      return 4;
    }
  }
  const liar = new Liar(1 << 20);
  const proxy = new Proxy(message, {});
  for (const odd of [liar, proxy]) {
    try {
      client.receive(odd);
    } catch (error) {
      assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
    }
  }
  const others = [new ArrayBuffer(4), new DataView(new ArrayBuffer(4)), new Uint16Array(4), [1], null, 7, {}, { length: 1e9 }];
  for (const odd of others) assert.throws(() => client.receive(odd), TypeError);
  // Whatever the odd ones brought, it was bytes.
  client.receive("\n");
  for (const event of client.events()) assert.ok(["violation", "notification"].includes(event.type));
  sent(client);
  client.receive(note({ after: 1 }));
  assert.deepEqual([...client.events()].map(({ params }) => params), [{ after: 1 }]);
});

/** Values that cannot be sent, and do something while it is tried. */
const biting = (connection) => {
  const ring = { a: [] };
  ring.a.push(ring);
  const throws = () => {
    throw new RangeError("mine");
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  let deep = [];
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  return {
    ring,
    "ring with a bigint": { big: 1n, ring },
    "getter that throws": { get a() { return throws(); } },
    "toJSON that throws": { toJSON: throws },
    "proxy that throws": new Proxy({}, { ownKeys: throws }),
    "proxy that is revoked": revoked.proxy,
    "getter that throws beside a bigint": { big: 1n, get a() { return throws(); } },
    "too deep": deep,
    symbol: Symbol("x"),
    function: () => {},
    "half a surrogate pair": { a: "\ud83d" },
    "half a pair as a name": { "\udc00": 1 },
    "raw inside": { a: raw("1") },
    "raw that is no JSON": raw("{"),
    "free in a getter": { get a() { const made = new Connection({ role: "agent" }); made.free(); return made.phase; } },
  };
};

test("values that bite are refused in every place, and nothing is sent", () => {
  const pair = withSession();
  const { client, agent } = pair;
  for (const name of Object.keys(biting(client))) {
    const value = biting(client)[name];
    assert.throws(() => client.request("_x", value), Error, name);
    assert.throws(() => client.notify("_x", value), Error, name);
    assert.deepEqual(client.pending(), [], name);
    stillGood(pair);
    client.request("_x/ask", {});
    const [asked] = carry(client, agent);
    assert.throws(() => agent.respond(asked, value), Error, name);
    assert.throws(() => agent.respondError(asked, { code: 1, message: "m", data: value }), Error, name);
    assert.throws(() => agent.respondError(asked, value), Error, name);
    assert.equal(sent(agent), "");
    agent.respond(asked, {});
    carry(agent, client);
  }
});

test("values that change, or call back, while they are read", () => {
  const { client, agent } = withSession();
  let reads = 0;
  const params = {
    get first() {
      reads += 1;
      client.notify("_x/inner", { reads });
      client.receive(note({ reads }));
      [...client.events()];
      params[`new${reads}`] = reads;
      return reads;
    },
    big: 2n ** 60n,
    date: new Date(0),
    proxy: new Proxy([1, 2], {}),
    missing: undefined,
    symbol: Symbol.iterator,
    [Symbol("x")]: 1,
    minus: -0,
    sparse: [, 1],
  };
  client.notify("_x/outer", params);
  const seen = carry(client, agent);
  assert.deepEqual(seen.map(({ method }) => method), [...Array(reads).fill("_x/inner"), "_x/outer"]);
  const { first, ...rest } = seen.at(-1).params;
  assert.ok(first >= 1 && first <= reads);
  for (const name of Object.keys(rest).filter((name) => name.startsWith("new"))) delete rest[name];
  assert.deepEqual(rest, { big: 2n ** 60n, date: "1970-01-01T00:00:00.000Z", proxy: [1, 2], minus: 0, sparse: [null, 1] });
});

test("arguments of every wrong type are named or refused", () => {
  const pair = withSession();
  const { client } = pair;
  const wrong = [undefined, null, 5, -1, NaN, {}, [], ["s"], Symbol("s"), () => {}, 1n, { length: 1e9 }, new Proxy({}, {}), true];
  const names = ["peerExtension", "session", "sessionSnapshot", "can", "whyNot", "notify", "request"];
  for (const value of wrong) {
    for (const name of names) assert.throws(() => client[name](value), TypeError, `${name}(${String(value)})`);
    assert.throws(() => client.commandText(value, "x"), TypeError);
    assert.throws(() => client.commandText("s", value), TypeError);
    assert.throws(() => client.inRoots(value, "/"), TypeError);
    assert.throws(() => client.inRoots("s", value), TypeError);
    if (value !== 5) assert.throws(() => cutOutput("x", value), TypeError);
    assert.throws(() => cutOutput(value, 5), TypeError);
    assert.throws(() => client.respond(value === 5 || value === -1 || value === 1n ? 1.5 : value === null ? undefined : value, {}), (error) => error instanceof TypeError || error instanceof Misuse);
  }
  for (const count of [-1, 1.5, NaN, Infinity, 2 ** 53, "1", 1n]) assert.throws(() => client.consume(count), TypeError);
  for (const time of [-1, NaN, undefined, "x", {}]) assert.throws(() => client.handleTimeout(time), TypeError);
  for (const time of [Infinity, 2 ** 53, 1e300]) client.handleTimeout(time);
  client.consume(Number.MAX_SAFE_INTEGER);
  stillGood(pair);
});

test("options that bite", () => {
  const throws = () => {
    throw new RangeError("mine");
  };
  for (const options of [
    { get role() { return throws(); } },
    new Proxy({ role: "client" }, { ownKeys: throws }),
    { role: "client", limits: new Proxy({}, { ownKeys: throws }) },
  ]) assert.throws(() => new Connection(options), RangeError);
  for (const options of [
    { role: "client", limits: { frame: 2 ** 60 } },
    { role: "client", limits: { depth: 1e10 } },
    { role: "client", limits: [] },
    { role: "client", drafts: Array(1e5).fill("x") },
    { role: "\ud800" },
    { role: { toString: () => "client" } },
    Object.create({ role: "client" }),
    JSON.parse('{"role":"client","__proto__":{"policy":"off"}}'),
  ]) {
    try {
      new Connection(options).free();
    } catch (error) {
      assert.ok(error instanceof TypeError, String(error));
    }
  }
  assert.equal({}.policy, undefined);
  assert.throws(() => Connection({ role: "client" }), TypeError);
});

test("two copies of the package side by side", async () => {
  const copy = join(folder, "node_modules/libacp-second");
  cpSync(join(folder, "node_modules/libacp"), copy, { recursive: true, dereference: true });
  const other = await import(pathToFileURL(join(copy, "dist/node.js")).href);
  const { Connection: Other } = other;
  const [client, agent] = [new Connection({ role: "client" }), new Other({ role: "agent" })];
  client.request("initialize", {});
  agent.receive(client.transmit());
  const [hello] = agent.events();
  // An event of one copy's is no other copy's request, but says which one it is.
  assert.throws(() => client.respond(hello, {}), (error) => error instanceof Misuse && error instanceof other.Misuse);
  assert.throws(() => agent.respond(hello, other.raw("{")), (error) => error instanceof other.ParamsMisuse);
  agent.respond(hello, raw("{}"));
  client.consume(client.transmit().length);
  client.receive(agent.transmit());
  assert.deepEqual([...client.events()].map(({ outcome }) => outcome), ["result"]);
  for (const free of [Other, Connection]) assert.throws(() => free.prototype.free.call(free === Other ? client : agent), TypeError);
  assert.throws(() => Object.getOwnPropertyDescriptor(Other.prototype, "phase").get.call(client), TypeError);
  agent.free();
  assert.equal(client.phase, "ready");
  client.free();
});

test("handlers that fail in every way are answered, and the connection goes on", async (t) => {
  quiet(t);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const failures = [
    new Error("secret"), undefined, null, 5, "secret", Symbol("secret"), revoked.proxy, Object.create(null), { code: 1 },
    new RequestError(1.5, "secret"), new RequestError("secret", "secret"), new RequestError(2 ** 40, "secret"),
    new RequestError(1, "secret", () => {}), new RequestError(1, "secret", { get a() { throw new Error(); } }),
    Object.defineProperty(new Error("x"), "message", { get() { throw new Error("secret"); } }),
    Object.defineProperty(new Error("x"), "stack", { get() { throw new Error("secret"); } }),
  ];
  let failure;
  const failing = {
    "_own/at_once": () => { throw failure; },
    "_own/later": async () => { await null; throw failure; },
    "_own/then": () => ({ then(_, reject) { reject(failure); } }),
    "_own/getter": () => ({ get then() { throw failure; } }),
    "_own/result": () => ({ get a() { throw failure; } }),
  };
  const client = new Client("c", "1", {});
  const agent = new Agent("a", "1");
  for (const [name, handler] of Object.entries({ ...failing, "_own/alive": () => ({ alive: 1 }) })) {
    client.on(name, handler);
    agent.on(name, handler);
  }
  const ask = async (peer) => {
    for (const name of Object.keys(failing)) {
      await assert.rejects(peer.request(name, {}, { timeout: 5_000 }), (error) => {
        assert.deepEqual([error.code, error.error.message, error.data], [-32603, "Internal error", undefined], `${name} ${failures.indexOf(failure)}`);
        return true;
      });
      await peer.notify(name, {});
    }
    assert.deepEqual(await peer.request("_own/alive"), { alive: 1 });
  };
  const { peer, session } = await joined(t, async (turn) => {
    await ask(turn.client);
    await turn.message("alive");
  }, { client, agent });
  for (failure of failures) {
    await ask(peer);
    assert.deepEqual(texts(await all(session.prompt("x"))), ["alive"]);
  }
});
