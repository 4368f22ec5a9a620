// Ids and integers are exact in both directions, raw text passes as it is, and signals cancel.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RawJson, carry, greeted, raw, sent } from "./pair.mjs";

const BIG = 9007199254740993n;

test("ids of every kind come back as they were sent", () => {
  const { client, agent } = greeted();
  const ids = [0, -5, Number.MAX_SAFE_INTEGER, BIG, -(2n ** 63n), 2n ** 63n - 1n, "", "a", "7", "\u0001x", 'q"\\🦀', "9".repeat(20)];
  for (const id of ids) {
    assert.equal(client.request("_x/y", {}, { id }), id);
    const [asked] = carry(client, agent);
    assert.equal(asked.id, id);
    assert.equal(agent.unanswered()[0].id, id);
    agent.respond(asked.id, {});
    const [answer] = carry(agent, client);
    assert.deepEqual([answer.type, answer.id], ["response", id]);
  }
});

test("a null id of the peer's can be answered", () => {
  const { agent } = greeted();
  agent.receive('{"jsonrpc":"2.0","id":null,"method":"_x/y","params":{}}\n');
  const asked = [...agent.events()].find(({ type }) => type === "request");
  assert.equal(asked.id, null);
  agent.respond(null, {});
  assert.equal(sent(agent), '{"jsonrpc":"2.0","id":null,"result":{}}\n');
});

test("integers beyond a double's are bigints, everything beside them is itself", () => {
  const { client, agent } = greeted();
  const params = {
    big: BIG,
    small: 1n,
    half: 0.5,
    huge: 1e300,
    text: "12345678901234567890",
    marks: ["\u0001", "\u00011", "\u0001\u0001", "x\u0001"],
    "\u0001key": BIG,
    "9007199254740993": [-BIG, { deep: 123456789012345678901234567890n }],
    quote: '"9007199254740993": 9007199254740993, \\',
    __proto__x: null,
    gone: undefined,
  };
  client.notify("_x/y", params);
  const [{ params: received, paramsText }] = carry(client, agent);
  const { gone, ...kept } = params;
  assert.deepEqual(received, { ...kept, small: 1 });
  assert.ok(paramsText.includes('"big":9007199254740993,"small":1,'));
});

test("a member called __proto__ is a member", () => {
  const { agent } = greeted();
  agent.receive('{"jsonrpc":"2.0","method":"_x/y","params":{"__proto__":{"n":9007199254740993}}}\n');
  const { params } = agent.pollEvent();
  assert.equal(Object.getPrototypeOf(params), Object.prototype);
  assert.deepEqual(Object.keys(params), ["__proto__"]);
});

test("numbers that are no integers stay numbers", () => {
  const { agent } = greeted();
  agent.receive('{"jsonrpc":"2.0","method":"_x/y","params":{"a":1.2345678901234567890,"b":1e400,"c":12345678901234567890e2,"d":-0,"e":9007199254740992}}\n');
  const { params } = agent.pollEvent();
  assert.deepEqual(params, { a: 1.2345678901234567890, b: Infinity, c: 12345678901234567890e2, d: -0, e: 9007199254740992n });
});

test("integers are exact at any size", () => {
  const { client, agent } = greeted();
  const numbers = [10n ** 400n, -(10n ** 400n), 10n ** 5000n + 7n, -(10n ** 18_000n) - 7n];
  client.notify("_x/y", { numbers });
  const [{ params }] = carry(client, agent);
  assert.deepEqual(params, { numbers });
});

test("integers of a whole frame cost no more than their text", () => {
  const { agent } = greeted();
  for (const sign of ["", "-"]) {
    const digits = sign + "7".repeat(4_000_000);
    agent.receive(`{"jsonrpc":"2.0","method":"_x/y","params":{"a":${digits},"b":1}}\n`);
    const { params } = agent.pollEvent();
    assert.ok(params.a instanceof RawJson && params.a.text === digits);
    assert.equal(params.b, 1);
  }
});

test("integers of 20,000 digits are the longest that are read", () => {
  const { agent } = greeted();
  for (const sign of ["", "-"]) {
    const [longest, longer] = [20_000, 20_001].map((digits) => sign + "9".repeat(digits));
    agent.receive(`{"jsonrpc":"2.0","method":"_x/y","params":[${longest},${longer}]}\n`);
    const { params } = agent.pollEvent();
    assert.ok(params[0] === BigInt(longest) && params[1] instanceof RawJson && params[1].text === longer, sign);
  }
});

test("numbers that JSON does not have are misuse", () => {
  const { client } = greeted();
  const wrong = [NaN, Infinity, -Infinity];
  for (const number of wrong) {
    for (const params of [{ a: number }, { a: [null, { b: number }] }, { a: number, b: 1n }]) {
      assert.throws(() => client.notify("_x/y", params), { name: "ParamsMisuse", rule: "RPC-21", message: /finite/ });
      assert.throws(() => client.request("_x/y", params), { name: "ParamsMisuse", rule: "RPC-21" });
    }
  }
  assert.deepEqual([client.transmit().length, client.pending()], [0, []]);
  client.notify("_x/y", { a: null, text: "null" });
  assert.equal(sent(client), '{"jsonrpc":"2.0","method":"_x/y","params":{"a":null,"text":"null"}}\n');
});

test("a text of many megabytes with a big integer", () => {
  const { client, agent } = greeted();
  const text = '\\"🦀\\\\" '.repeat(1_000_000);
  client.notify("_x/y", { text, n: BIG });
  const [{ params }] = carry(client, agent);
  assert.equal(params.n, BIG);
  assert.ok(params.text === text);
});

test("raw text is sent as it is, and checked", () => {
  const { client, agent } = greeted();
  client.notify("_x/y", raw('{"n": 1.0, "n2": 1e2}'));
  assert.equal(sent(client), '{"jsonrpc":"2.0","method":"_x/y","params":{"n": 1.0, "n2": 1e2}}\n');
  assert.throws(() => client.notify("_x/y", raw("{")), { kind: "params" });
  assert.throws(() => client.notify("_x/y", { inner: raw("{}") }), TypeError);
  assert.throws(() => raw({}), TypeError);
  assert.ok(raw("1") instanceof RawJson);
  client.request("_x/y");
  const [asked] = carry(client, agent);
  agent.respond(asked, raw('{"r":10.0}'));
  const [{ resultText }] = carry(agent, client);
  assert.equal(resultText, '{"r":10.0}');
});

test("half a surrogate pair, which is no Unicode text, is refused", () => {
  const { client } = greeted();
  assert.throws(() => client.notify("_x/y", { text: "\ud83e" }), { name: "ParamsMisuse", kind: "params" });
  assert.equal(sent(client), "");
});

test("a signal cancels the request, and its answer still comes", () => {
  const { client, agent } = greeted();
  const controller = new AbortController();
  const id = client.request("_x/y", {}, { signal: controller.signal });
  const [asked] = carry(client, agent);
  controller.abort();
  assert.equal(client.pending()[0].cancelled, true);
  const [cancel] = carry(client, agent);
  assert.deepEqual([cancel.type, cancel.id, cancel.serial], ["cancel", asked.id, asked.serial]);
  agent.respondError(asked, { code: -32800, message: "cancelled" });
  const [answer] = carry(agent, client);
  assert.deepEqual([answer.id, answer.outcome, answer.error.code], [id, "error", -32800]);
});

test("a signal that aborts too late or too early sends nothing", () => {
  const { client, agent } = greeted();
  const late = new AbortController();
  client.request("_x/y", {}, { signal: late.signal });
  const [asked] = carry(client, agent);
  agent.respond(asked, {});
  client.receive(sent(agent));
  const [answer] = [...client.events()];
  assert.equal(answer.outcome, "result");
  late.abort();
  assert.equal(sent(client), "");
  const reason = new Error("never mind");
  assert.throws(() => client.request("_x/y", {}, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(sent(client), "");
});

test("a signal may abort after the end, and after free", () => {
  const { client } = greeted();
  const one = new AbortController();
  client.request("_x/y", {}, { signal: one.signal });
  client.close();
  one.abort();
  const { client: other } = greeted();
  const two = new AbortController();
  other.request("_x/y", {}, { signal: two.signal });
  other.free();
  two.abort();
});

test("cancel by id, once", () => {
  const { client } = greeted();
  const id = client.request("_x/y", {}, { id: BIG });
  sent(client);
  client.cancel(id);
  client.cancel(id);
  assert.equal(sent(client), '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}\n');
  assert.throws(() => client.cancel(99), { kind: "id", rule: "CANCEL-08" });
});
