// The members of the connection: calls, answers, events, state, time, misuse.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Connection, ErrorCode, Misuse, ParamsMisuse, PhaseMisuse, carry, cutOutput, greeted, init, rule, sent, withSession,
} from "./pair.mjs";

test("under Node the package is ready when it is imported", async () => {
  await init();
  assert.equal(new Connection({ role: "client" }).phase, "start");
});

test("a whole turn, with everything that is known on the way", () => {
  const { client, agent } = withSession({ clientCapabilities: { fs: { readTextFile: true } } });
  assert.deepEqual([client.role, client.phase, client.version], ["client", "ready", 1]);
  assert.deepEqual(agent.capabilities, { fs: { readTextFile: true } });
  assert.deepEqual(client.ownCapabilities, agent.capabilities);
  assert.equal(client.peerInfo.protocolVersion, 1);

  const id = client.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "hi" }] });
  const [prompt] = carry(client, agent);
  assert.equal(prompt.type, "request");
  assert.equal(prompt.session, "s");
  assert.equal(prompt.paramsText, '{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}');
  assert.equal(prompt.params.prompt[0].text, "hi");
  assert.equal(prompt.params, prompt.params);
  assert.deepEqual(client.pending().map(({ id }) => id), [id]);
  assert.deepEqual(agent.unanswered().map(({ method, cancelled }) => [method, cancelled]), [["session/prompt", false]]);
  assert.deepEqual(client.session("s"), { state: "ready", turn: "running", terminals: new Map() });
  assert.deepEqual([...agent.sessions().keys()], ["s"]);
  assert.equal(client.session("t"), undefined);

  const content = { type: "text", text: "hello 🦀" };
  agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content } });
  agent.respond(prompt, { stopReason: "end_turn" });
  const [update, ended] = carry(agent, client);
  assert.deepEqual([update.type, update.update, update.timing], ["notification", "agent_message_chunk", "turn"]);
  assert.deepEqual(update.params.update.content, content);
  assert.deepEqual([ended.type, ended.id, ended.outcome], ["response", id, "result"]);
  assert.deepEqual(ended.result, { stopReason: "end_turn" });
  assert.equal(ended.resultText, '{"stopReason":"end_turn"}');
  assert.equal(client.session("s").turn, "idle");
});

test("events are plain objects", () => {
  const { client, agent } = greeted();
  client.request("_x/y", { a: [1] });
  const [event] = carry(client, agent);
  assert.equal(Object.getPrototypeOf(event), Object.prototype);
  assert.deepEqual(structuredClone(event), JSON.parse(JSON.stringify(event)));
  assert.deepEqual({ ...event }.params, { a: [1] });
});

test("events look the same, whether their params were asked for or not", () => {
  const { client, agent } = withSession();
  client.request("session/prompt", { sessionId: "s", prompt: [] });
  carry(client, agent);
  const say = (text) => {
    const content = { type: "text", text };
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content } });
    return carry(agent, client)[0];
  };
  const keys = ["type", "method", "session", "update", "timing", "params", "paramsText"];
  for (let index = 0; index < 200; index += 1) {
    const event = say(`${index}`);
    assert.deepEqual(Object.keys(event), keys);
    assert.equal(Object.getPrototypeOf(event), Object.prototype);
    if (index % 3 === 0) Object.freeze(event);
    if (index > 100) continue;
    assert.deepEqual(JSON.parse(event.paramsText), event.params);
    assert.equal(event.params.update.content.text, `${index}`);
    assert.deepEqual({ ...event }, structuredClone(event));
  }
});

test("messages of any size cross, alone and in one piece", () => {
  const client = new Connection({ role: "client", framing: "messages" });
  const agent = new Connection({ role: "agent", framing: "messages" });
  client.request("initialize", {});
  agent.respond(carry(client, agent)[0]);
  carry(agent, client);
  for (const size of [0, 1, 65_000, 66_000, 70_000, 3_000_000, 1]) {
    for (const letter of ["x", "\u00e9", "\u{1f980}"]) {
      const text = letter.repeat(size);
      client.notify("_x/y", { text });
      assert.equal(carry(client, agent)[0].params.text, text);
    }
  }
});

test("an error answer arrives with its data", () => {
  const { client, agent } = greeted();
  client.request("_x/y");
  const [asked] = carry(client, agent);
  agent.respondError(asked, { code: ErrorCode.RESOURCE_NOT_FOUND, message: "gone", data: { path: "/x" } });
  const [{ outcome, error }] = carry(agent, client);
  assert.equal(outcome, "error");
  assert.deepEqual([error.code, error.message, error.data, error.dataText], [-32002, "gone", { path: "/x" }, '{"path":"/x"}']);
});

test("misuse is thrown, names its rule and place, and sends nothing", () => {
  const { client } = greeted();
  const wrong = () => client.request("session/new", { cwd: "relative", mcpServers: [] });
  assert.throws(wrong, (error) => {
    assert.ok(error instanceof ParamsMisuse && error instanceof Misuse && error instanceof Error);
    assert.ok(!(error instanceof PhaseMisuse));
    assert.deepEqual([error.name, error.kind, error.pointer], ["ParamsMisuse", "params", "/cwd"]);
    assert.match(error.rule, /^[A-Z]+-\d+$/);
    assert.ok(error.message.includes(error.rule) && error.message.includes("/cwd"));
    return true;
  });
  assert.equal(sent(client), "");
  assert.equal(client.can("session/load"), false);
  assert.equal(client.whyNot("session/load").kind, "capability");
  assert.equal(client.whyNot("session/new"), undefined);
});

test("an answer to an event never goes to a later request with its id", () => {
  const { agent } = greeted();
  const ask = () => agent.receive('{"jsonrpc":"2.0","id":7,"method":"_x/y","params":{}}\n');
  ask();
  const first = agent.pollEvent();
  agent.respond(first, {});
  ask();
  const second = agent.pollEvent();
  assert.equal(first.id, second.id);
  assert.throws(() => agent.respond(first, {}), { kind: "id", rule: "RPC-15" });
  assert.throws(() => agent.respondError(first, { code: 1, message: "" }), { kind: "id", rule: "RPC-15" });
  agent.respond(second.id, {});
  assert.throws(() => agent.respond(second, {}), { kind: "id", rule: "RPC-15" });
});

test("time-outs: the configuration's, and a call's own", () => {
  const { client } = greeted({ client: { timeout: 5000 } });
  client.handleTimeout(performance.timeOrigin);
  const now = Math.floor(performance.timeOrigin);
  const slow = client.request("_x/slow");
  const quick = client.request("_x/quick", {}, { timeout: 10 });
  assert.equal(client.pollTimeout(), now + 10);
  client.handleTimeout(now + 10);
  const outcomes = () => [...client.events()].map(({ id, outcome }) => [id, outcome]);
  assert.deepEqual(outcomes(), [[quick, "timeout"]]);
  assert.equal(client.pollTimeout(), now + 5000);
  client.handleTimeout(now + 6000);
  assert.deepEqual(outcomes(), [[slow, "timeout"]]);
  assert.equal(client.pollTimeout(), undefined);
});

test("a call that waits for ever, and one that waits as all do", () => {
  const { client } = greeted({ client: { timeout: 5000 } });
  client.request("_x/a", {}, { timeout: null });
  client.request("_x/b", {}, { timeout: undefined });
  client.request("_x/c", {}, { timeout: 0 });
  assert.deepEqual(client.pending().map(({ deadline }) => deadline), [undefined, 5000, 0]);
  assert.throws(() => client.request("_x/d", {}, { timeout: Infinity }), /^TypeError: timeout: /);
});

test("a reminder names the request, once", () => {
  const { client, agent } = greeted({ agent: { reminder: 20, limits: { remembered: 7 } } });
  assert.deepEqual([agent.config.reminder, agent.config.limits.remembered], [20, 7]);
  client.request("_x/y", {}, { id: "a" });
  const [request] = carry(client, agent);
  assert.deepEqual([agent.pollTimeout(), agent.unanswered()[0].deadline], [20, 20]);
  agent.handleTimeout(20);
  const [advice, ...more] = agent.events();
  assert.deepEqual([advice.type, advice.rule, advice.id, advice.method], ["advice", "RPC-15", "a", "_x/y"]);
  assert.deepEqual([more, agent.pollTimeout()], [[], undefined]);
  agent.respond(request);
});

test("a snapshot is all that is known of a connection", () => {
  const lists = { openElicitations: [], providers: [] };
  const fresh = new Connection({ role: "agent" });
  const start = { phase: "start", version: null, login: "unknown", loginMethods: [], ...lists };
  assert.deepEqual([fresh.snapshot(), fresh.peerExtension("x.example")], [start, undefined]);
  const client = new Connection({ role: "client" });
  client.request("initialize", { clientCapabilities: { auth: { terminal: true } } });
  const meta = { "x.example": { level: 2n ** 60n }, "y.example": false, "z.example": null };
  const authMethods = [{ id: "web", name: "Web" }, { id: "tty", name: "T", type: "terminal" }];
  const result = `{"protocolVersion":1,"agentCapabilities":{"_meta":{"x.example":{"level":${2n ** 60n}},"y.example":false,"z.example":null}},"authMethods":${JSON.stringify(authMethods)}}`;
  client.receive(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`);
  assert.deepEqual([...client.events()].map(({ type }) => type), ["response"]);
  const loginMethods = [{ methodId: "web", kind: "agent" }, { methodId: "tty", kind: "terminal" }];
  assert.deepEqual(client.snapshot(), { phase: "ready", version: 1, login: "unknown", loginMethods, ...lists });
  for (const [name, value] of Object.entries(meta)) assert.deepEqual(client.peerExtension(name), value);
  assert.equal(client.peerExtension("w.example"), undefined);
});

test("a snapshot is all that is known of a session", () => {
  const { client, agent } = withSession();
  const empty = { cwd: "/", roots: ["/"], modes: null, configOptions: null, plan: null, commands: null };
  const lists = { toolCalls: [], planIds: [], openCompactions: [], authUncertain: false, parent: null, mayCancel: true };
  const two = { displayTerminals: [], cancellable: { toolCalls: [], terminals: [] } };
  const work = { turn: "idle", stopReason: null, error: null, background: null };
  const nothing = { state: "ready", ...work, terminals: new Map(), ...empty, ...lists, ...two };
  const commands = [{ name: "web", description: "Searches", _meta: { n: 2n ** 60n } }];
  const update = { sessionUpdate: "available_commands_update", availableCommands: commands };
  for (const side of [client, agent]) {
    assert.deepEqual(side.sessionSnapshot("s"), nothing);
    assert.equal(side.sessionSnapshot("t"), undefined);
    assert.equal(side.commandText("s", "web"), undefined);
  }
  agent.notify("session/update", { sessionId: "s", update });
  carry(agent, client);
  for (const side of [client, agent]) {
    assert.deepEqual(side.sessionSnapshot("s"), { ...nothing, commands });
    assert.deepEqual([side.commandText("s", "web"), side.commandText("s", "web", "a b")], ["/web", "/web a b"]);
    assert.deepEqual(["/w", "w"].map((path) => side.inRoots("s", path)), [true, false]);
    assert.equal(side.inRoots("t", "/w"), false);
  }
});

test("output is cut from the front, and not inside a character", () => {
  assert.deepEqual(cutOutput("12 🦀", 5), { output: " 🦀", truncated: true });
  assert.deepEqual(cutOutput("12 🦀", 3), { output: "", truncated: true });
  assert.deepEqual(cutOutput("12 🦀", 7), { output: "12 🦀", truncated: false });
  assert.throws(() => cutOutput("a", -1), /^TypeError: byteLimit: /);
  assert.throws(() => cutOutput(1, 1), /^TypeError: output: /);
});

test("the end of the stream ends everything", () => {
  const { client, agent } = withSession({ clientCapabilities: { terminal: true } });
  const id = client.request("session/prompt", { sessionId: "s", prompt: [] });
  const [prompt] = carry(client, agent);
  agent.request("terminal/create", { sessionId: "s", command: "true" });
  const [create] = carry(agent, client);
  client.respond(create, { terminalId: "t" });
  carry(client, agent);
  assert.deepEqual(agent.openTerminals(), [{ session: "s", terminal: "t" }]);
  assert.deepEqual(agent.session("s").terminals, new Map([["t", false]]));
  client.receiveEof();
  const [response, closed] = [...client.events()];
  assert.deepEqual([response.id, response.outcome], [id, "closed"]);
  assert.deepEqual([closed.reason, closed.terminals.length], ["end_of_stream", 1]);
  agent.close();
  const [end] = [...agent.events()].slice(-1);
  assert.deepEqual(end, { type: "closed", reason: "host", unanswered: [prompt.id], terminals: end.terminals });
  assert.equal(agent.phase, "closed");
  assert.throws(() => agent.notify("_x/y"), { kind: "phase" });
});

test("bytes in any split, text, partial writes, and what waits to be read", () => {
  const { agent } = greeted();
  const line = new TextEncoder().encode('{"jsonrpc":"2.0","method":"_x/y","params":{"text":"é🦀"}}\n');
  for (const byte of line) {
    assert.equal(agent.pollEvent(), undefined);
    agent.receive(Uint8Array.of(byte));
  }
  assert.equal(agent.pollEvent().params.text, "é🦀");
  agent.receive('{"jsonrpc":');
  assert.equal(agent.buffered, 11);
  agent.request("_x/z");
  const whole = agent.transmit();
  agent.consume(5);
  assert.deepEqual(agent.transmit(), whole.slice(5));
  assert.deepEqual(whole, new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"_x/z","params":{}}\n'));
});

test("a loop over events may stop early", () => {
  const { agent } = greeted();
  agent.receive('{"jsonrpc":"2.0","method":"_a","params":{}}\n{"jsonrpc":"2.0","method":"_b","params":{}}\n');
  for (const event of agent.events()) {
    assert.equal(event.method, "_a");
    break;
  }
  assert.equal(agent.pollEvent().method, "_b");
});

test("with messages as framing, transmit is one message", () => {
  const { client } = greeted({ client: { framing: "lines" } });
  assert.equal(client.config.framing, "lines");
  const other = new Connection({ role: "client", framing: "messages" });
  other.request("initialize", {});
  assert.equal(sent(other), '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');
});

test("violations say what, where and what became of it", () => {
  const { agent } = greeted();
  agent.receive('{"jsonrpc":"2.0","id":"q","method":"session/new","params":{"cwd":"x","mcpServers":[]}}\n');
  const violation = agent.pollEvent();
  const { type, pointer, method, id, frame, consequence, code } = violation;
  assert.deepEqual({ type, pointer, method, id, frame, consequence, code }, {
    type: "violation", pointer: "/cwd", method: "session/new", id: "q", frame: 2, consequence: "refused", code: -32602,
  });
  assert.ok(violation.rule && violation.message && violation.excerpt.startsWith('{"jsonrpc"'));
});

test("several prompts at once and foreign methods are switched on by options", () => {
  const client = new Connection({ role: "client", promptQueueing: true, foreignMethods: ["vendor/x"] });
  assert.deepEqual([client.config.promptQueueing, client.config.foreignMethods], [true, ["vendor/x"]]);
  const { client: greetedClient, agent } = greeted({ client: { foreignMethods: ["vendor/x"] } });
  greetedClient.request("vendor/x", [1]);
  agent.free();
  client.free();
});

test("params of an extension are an object or a list", () => {
  const { client } = greeted();
  for (const params of [5, "s", true, null]) {
    assert.throws(() => client.request("_x", params), { name: "ParamsMisuse", rule: "RPC-19" });
    assert.throws(() => client.notify("_x", params), { name: "ParamsMisuse", rule: "RPC-19" });
  }
  client.request("_x", [1]);
});

test("version 2 and drafts are switched on by options", () => {
  const client = new Connection({ role: "client", versions: [1, 2], drafts: ["nes", "session_fork"] });
  assert.deepEqual(client.config.drafts, ["session_fork", "nes"]);
  client.request("initialize", { info: { name: "c", version: "1" }, capabilities: {} });
  assert.equal(JSON.parse(sent(client)).params.protocolVersion, 2);
});

/** An agent asks for permission without an option: what either side hears of it. */
function emptyQuestion(clientOptions) {
  const { client, agent } = withSession({ client: clientOptions });
  client.request("session/prompt", { sessionId: "s", prompt: [] });
  carry(client, agent);
  agent.request("session/request_permission", { sessionId: "s", toolCall: { toolCallId: "t" }, options: [] });
  const advice = [...agent.events()];
  return { advice, told: carry(agent, client) };
}

test("what is odd in an own message comes back as advice", () => {
  const { advice, told } = emptyQuestion();
  const [{ message, ...rest }] = advice;
  const { pointer } = rest;
  assert.deepEqual(rest, { type: "advice", rule: "PERM-02", pointer, method: "session/request_permission", session: "s" });
  assert.ok(message.length > 5);
  assert.deepEqual(told.map(({ type }) => type), ["violation", "request"]);
  assert.deepEqual([told[0].rule, told[0].consequence], ["PERM-02", "delivered"]);
});

test("a policy for the rules of one severity", () => {
  const { severity } = rule("PERM-02");
  const policies = { [severity]: "off" };
  assert.deepEqual(new Connection({ role: "client", policies }).config.policies, policies);
  assert.deepEqual(emptyQuestion({ policies }).told.map(({ type }) => type), ["request"]);
});

test("a rule says what it is", () => {
  const { id, level, severity, text, ...flags } = rule("PERM-02");
  assert.equal(id, "PERM-02");
  assert.match(level, /^(MUST|SHOULD)( NOT)?$|^MAY$/);
  assert.match(severity, /^(note|warning|error)$/);
  assert.ok(text.length > 10);
  assert.deepEqual(flags, { send: true, receive: true, track: flags.track });
  assert.equal(rule("NO-01"), undefined);
  assert.equal(rule(undefined), undefined);
});

test("options, ids and values that do not fit are named", () => {
  const make = (options) => () => new Connection(options);
  for (const [options, name] of [
    [undefined, "options"],
    [{}, "role"],
    [{ role: "editor" }, "role"],
    [{ role: "client", roles: 1 }, "roles"],
    [{ role: "client", policy: "lax" }, "policy"],
    [{ role: "client", policies: { note: "lax" } }, "policies/note"],
    [{ role: "client", policies: { fatal: "off" } }, "policies/fatal"],
    [{ role: "client", timeout: -1 }, "timeout"],
    [{ role: "client", timeout: null }, "timeout"],
    [{ role: "client", reminder: "soon" }, "reminder"],
    [{ role: "client", limits: { remembered: -1 } }, "limits/remembered"],
    [{ role: "client", drafts: ["nope"] }, "drafts"],
    [{ role: "client", versions: [] }, "versions"],
    [{ role: "client", versions: [1, 3] }, "versions"],
    [{ role: "client", versions: [1.5] }, "versions"],
    [{ role: "client", versions: ["2"] }, "versions"],
    [{ role: "client", versions: 2 }, "versions"],
    [{ role: "client", version2: true }, "version2"],
    [{ role: "client", foreignMethods: ["session/new"] }, "foreignMethods"],
    [{ role: "client", foreignMethods: "vendor/x" }, "foreignMethods"],
    [{ role: "client", promptQueueing: 1 }, "promptQueueing"],
    [{ role: "client", limits: { frames: 1 } }, "limits/frames"],
    [{ role: "client", limits: { depth: 1.5 } }, "limits/depth"],
  ]) {
    assert.throws(make(options), { name: "TypeError", message: new RegExp(`^${name}: `) });
  }
  const { client } = greeted();
  assert.throws(() => client.request("_x", {}, { id: 1.5 }), TypeError);
  assert.throws(() => client.request("_x", {}, { id: 2n ** 63n }), TypeError);
  assert.throws(() => client.request("_x", () => {}), TypeError);
  assert.throws(() => client.request("_x", {}, { timeOut: 3 }), /timeOut: no such option/);
  assert.throws(() => client.request(undefined), TypeError);
  assert.throws(() => client.receive([1]), TypeError);
  assert.throws(() => client.consume(-1), TypeError);
  assert.throws(() => client.respondError(1, { code: 0.5, message: "" }), TypeError);
  assert.equal(sent(client), "");
});

test("free gives everything back, once", () => {
  const connection = new Connection({ role: "client" });
  connection[Symbol.dispose]();
  connection.free();
  assert.throws(() => connection.phase, /freed/);
});
