// What an agent does beside saying messages: when a prompt becomes one, work of its own, what is in the background, plans with
// ids, terminals of its own. In each version: the frames that go out, and what a client's view shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, RequestError, agentSide, joined, later, quiet } from "./both.mjs";

const { DisplayTerminal, ErrorCode, Misuse } = agentSide;
const decoder = new TextDecoder();
const VERSIONS = [1, 2];
const inBoth = (name, run) => VERSIONS.forEach((version) => test(`${name}, in version ${version}`, (t) => run(t, version)));
const agentOf = (version, options) => new Agent("a", "1", { versions: [version], ...options });

/** A client without any library: what it sends, and the frames that come, one by one. */
class Raw {
  #frames = [];
  #coming = [];
  #more = later();
  #came = later();
  #over = false;
  #id = 100;

  static async of(t, agent, version, capabilities = {}) {
    const raw = new Raw();
    const served = agent.serve(raw.#transport());
    t.after(() => {
      raw.#over = true;
      raw.#more.resolve();
      return served;
    });
    const info = { name: "raw", version: "1" };
    const hello = version === 1 ? { clientCapabilities: capabilities } : { info, capabilities };
    raw.ask("initialize", { protocolVersion: version, ...hello });
    await raw.next();
    raw.ask("session/new", { cwd: "/work", mcpServers: [] });
    raw.session = (await raw.next()).result.sessionId;
    return raw;
  }

  #transport() {
    const readable = async function* () {
      for (;;) {
        while (this.#coming.length > 0) yield this.#coming.shift();
        if (this.#over) return;
        await this.#more.promise;
        this.#more = later();
      }
    };
    const write = (bytes) => {
      this.#frames.push(JSON.parse(decoder.decode(bytes)));
      this.#came.resolve();
    };
    return { framing: "messages", readable: readable.call(this), write, close() {} };
  }

  send(frame) {
    this.#coming.push(JSON.stringify({ jsonrpc: "2.0", ...frame }));
    this.#more.resolve();
  }

  ask(method, params) {
    this.send({ id: (this.#id += 1), method, params });
    return this.#id;
  }

  /** A request about the session. */
  about(method, params) {
    return this.ask(method, { sessionId: this.session, ...params });
  }

  prompt(text = "Hi") {
    return this.about("session/prompt", { prompt: [{ type: "text", text }] });
  }

  cancel() {
    this.send({ method: "session/cancel", params: { sessionId: this.session } });
  }

  async next() {
    while (this.#frames.length === 0) {
      this.#came = later();
      await Promise.race([this.#came.promise, pause(5000).then(() => assert.fail("no frame came"))]);
    }
    const { jsonrpc, ...frame } = this.#frames.shift();
    return frame;
  }

  /** The next frame, an update; without what it is about, but its own members. */
  async update() {
    const frame = await this.next();
    assert.equal(frame.method, "session/update", JSON.stringify(frame));
    assert.equal(frame.params.sessionId, this.session);
    return frame.params.update;
  }

  /** So many updates. */
  async updates(count) {
    const all = [];
    while (all.length < count) all.push(await this.update());
    return all;
  }

  /** Nothing has come for a while. */
  async still() {
    await pause(20);
    assert.deepEqual(this.#frames, []);
  }

  /** A prompt becomes a message: in version 2 it is answered and told. */
  async inserted(id) {
    const { result } = await this.next();
    const [message, state] = await this.updates(2);
    assert.deepEqual([message.sessionUpdate, message.messageId, state.state], ["user_message", result.messageId, "running"]);
    return [id, message.messageId];
  }
}

const state = (state, more) => ({ sessionUpdate: "state_update", state, ...more });
const text = (text) => ({ type: "text", text });

inBoth("a handler that holds a prompt may refuse it", async (t, version) => {
  const agent = agentOf(version).prompt(async (turn) => {
    turn.hold();
    await pause(1);
    throw new RequestError(-32602, "Not now");
  });
  const raw = await Raw.of(t, agent, version);
  const id = raw.prompt();
  assert.deepEqual(await raw.next(), { id, error: { code: -32602, message: "Not now" } });
  await raw.still();
});

inBoth("a prompt that is held becomes a message when its handler says so, once", async (t, version) => {
  const [seen, go] = [later(), later()];
  const agent = agentOf(version).prompt(async (turn) => {
    turn.hold();
    seen.resolve();
    await go.promise;
    turn.insert();
    turn.insert();
    await turn.message("Hello");
  });
  const raw = await Raw.of(t, agent, version);
  const id = raw.prompt();
  await seen.promise;
  await raw.still();
  go.resolve();
  if (version === 2) await raw.inserted(id);
  assert.deepEqual((await raw.update()).content, text("Hello"));
  assert.deepEqual(version === 2 ? await raw.update() : await raw.next(),
    version === 2 ? state("idle", { stopReason: "end_turn" }) : { id, result: { stopReason: "end_turn" } });
});

test("without hold, a prompt is a message before its handler waits, and after that it cannot be held", async (t) => {
  const [errors, go] = [[], later()];
  const agent = agentOf(2).prompt(async (turn) => {
    await undefined;
    try {
      turn.hold();
    } catch (error) {
      errors.push(error);
    }
    await go.promise;
    throw new RequestError(-32602, "Too late");
  });
  const raw = await Raw.of(t, agent, 2);
  await raw.inserted(raw.prompt());
  await raw.still();
  assert.ok(errors[0] instanceof Misuse && errors[0].rule === "LIFE-24", String(errors[0]));
  go.resolve();
  assert.deepEqual(await raw.update(), state("idle", { stopReason: "error", error: { code: -32602, message: "Too late" } }));
});

test("the first output inserts a prompt that is held", async (t) => {
  const agent = agentOf(2).prompt(async (turn) => {
    turn.hold();
    await pause(1);
    await turn.thought("Hm");
  });
  const raw = await Raw.of(t, agent, 2);
  await raw.inserted(raw.prompt());
  assert.equal((await raw.update()).sessionUpdate, "agent_thought_chunk");
  assert.equal((await raw.update()).state, "idle");
});

inBoth("a cancel ends a prompt that is held", async (t, version) => {
  const [seen, errors] = [later(), []];
  const agent = agentOf(version).prompt(async (turn) => {
    turn.hold();
    seen.resolve();
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    try {
      turn.insert();
    } catch (error) {
      errors.push(error.name);
    }
  });
  const raw = await Raw.of(t, agent, version);
  const id = raw.prompt();
  await seen.promise;
  raw.cancel();
  const answer = await raw.next();
  if (version === 1) assert.deepEqual(answer, { id, result: { stopReason: "cancelled" } });
  else assert.deepEqual([answer.id, answer.error.code], [id, -32800]);
  assert.deepEqual(errors, ["AbortError"]);
});

/** An agent whose session is in `opened`. */
function opening(version, options) {
  const opened = later();
  const agent = agentOf(version, options).newSession((session) => void opened.resolve(session));
  return { agent, opened: opened.promise };
}

inBoth("an agent works without a prompt, and prompts wait for it", async (t, version) => {
  const { agent, opened } = opening(version);
  agent.prompt((turn) => turn.message("answer"));
  const raw = await Raw.of(t, agent, version);
  const session = await opened;
  const go = later();
  const working = session.work(async (work) => {
    await work.message("by myself");
    await go.promise;
    return "refusal";
  });
  if (version === 2) assert.deepEqual(await raw.update(), state("running"));
  const said = await raw.update();
  assert.deepEqual([said.content, typeof said.messageId], [text("by myself"), "string"]);
  await assert.rejects(session.work(() => {}), (error) => error instanceof Misuse && error.rule === "LIFE-25");
  const id = raw.prompt();
  await raw.still();
  go.resolve();
  assert.deepEqual(await working, { stopReason: "refusal" });
  if (version === 2) {
    assert.deepEqual(await raw.update(), state("idle", { stopReason: "refusal" }));
    await raw.inserted(id);
  }
  assert.deepEqual((await raw.update()).content, text("answer"));
});

inBoth("a cancel, and closing the session, reach the agent's own work", async (t, version) => {
  for (const how of ["session/cancel", "session/close"]) {
    const { agent, opened } = opening(version);
    const order = [];
    agent.on("session/close", () => void order.push("closed"));
    const raw = await Raw.of(t, agent, version);
    const session = await opened;
    const working = session.work(async (work) => {
      assert.equal(work.cancelled, false);
      await new Promise((resolve) => work.signal.addEventListener("abort", resolve));
      await pause(20);
      order.push("over");
      await work.message("never sent");
    });
    if (version === 2) await raw.update();
    const id = how === "session/cancel" ? raw.cancel() : raw.about(how, {});
    assert.deepEqual(await working, { stopReason: "cancelled" });
    if (version === 2) assert.deepEqual(await raw.update(), state("idle", { stopReason: "cancelled" }));
    if (id) assert.deepEqual(await raw.next(), { id, result: {} });
    await raw.still();
    assert.deepEqual(order, id ? ["over", "closed"] : ["over"]);
  }
});

inBoth("work that fails is told so, and its caller gets the error", async (t, version) => {
  quiet(t);
  const { agent, opened } = opening(version);
  const raw = await Raw.of(t, agent, version);
  const session = await opened;
  await assert.rejects(session.work(async () => Promise.reject(new RequestError(-32050, "Broken"))), { code: -32050 });
  await assert.rejects(session.work(() => Promise.reject(new Error("secret"))), /secret/);
  await assert.rejects(session.work(5), /expected a function/);
  if (version === 1) return raw.still();
  await assert.rejects(session.work(() => "no_reason"), (error) => error instanceof Misuse && error.rule === "ENUM-01");
  const frames = await raw.updates(6);
  const errors = frames.filter(({ state }) => state === "idle").map(({ error }) => error);
  assert.deepEqual(errors.slice(0, 2), [{ code: -32050, message: "Broken" }, { code: -32603, message: "Internal error" }]);
  assert.equal(errors[2].code, -32603);
  return raw.still();
});

test("what is in the background outlives its turn and a cancel", async (t) => {
  const [calls, started] = [[], later()];
  const agent = agentOf(2).prompt(async (turn) => {
    const [left, kept] = [await turn.toolCall("Left"), await turn.toolCall("Kept")];
    await turn.session.background(kept);
    calls.push(left, kept);
    started.resolve();
    await new Promise((_, reject) => turn.signal.addEventListener("abort", () => reject(turn.signal.reason)));
  });
  const raw = await Raw.of(t, agent, 2);
  await raw.inserted(raw.prompt());
  await started.promise;
  await raw.updates(2);
  const [left, kept] = calls;
  const background = [{ type: "tool_call", toolCallId: kept.id }];
  assert.deepEqual(await raw.update(), state("running", { background }));
  raw.cancel();
  assert.deepEqual(await raw.update(), state("idle", { stopReason: "cancelled", background }));
  await assert.rejects(left.text("no"), { name: "AbortError" });
  await kept.text("yes");
  await kept.complete();
  const [shown, ended, told] = await raw.updates(3);
  assert.deepEqual([shown.toolCallId, ended.status, told], [kept.id, "completed", state("idle", { background: [] })]);
});

test("only what was shown goes into the background", async (t) => {
  const errors = [];
  const agent = agentOf(2).prompt(async (turn) => {
    const told = { sessionUpdate: "tool_call", toolCallId: "own", title: "Own" };
    await turn.update(told);
    await turn.session.background({ type: "tool_call", toolCallId: "own" });
    for (const what of [{ type: "tool_call", toolCallId: "other" }, { type: "tool" }, 5]) {
      await turn.session.background(what).catch((error) => errors.push(error.rule));
    }
  });
  const { session } = await joined(t, undefined, { agent, client: new Client("c", "1", { versions: [2], view: true }) });
  await session.prompt("x");
  assert.deepEqual(errors, ["LIFE-32", "LIFE-36", "LIFE-36"]);
  assert.deepEqual(session.view.background, [{ type: "tool_call", toolCallId: "own" }]);
});

inBoth("plans with ids are set and removed", async (t, version) => {
  const { agent, opened } = opening(version);
  const raw = await Raw.of(t, agent, version);
  const plan = (await opened).plan("build");
  await plan.set(["Compile", { content: "Test", priority: "high", status: "in_progress" }]);
  const entries = [
    { content: "Compile", priority: "medium", status: "pending" },
    { content: "Test", priority: "high", status: "in_progress" },
  ];
  const expected = version === 1 ? { sessionUpdate: "plan", entries } : { sessionUpdate: "plan_update", plan: { type: "items", planId: "build", entries } };
  assert.deepEqual(await raw.update(), expected);
  await plan.remove();
  const { plan: left, entries: none = left?.entries } = await raw.update();
  assert.deepEqual(none, []);
  await assert.rejects(plan.set("no"), /expected a list of entries/);
});

inBoth("a terminal of the agent is shown with what it prints", async (t, version) => {
  const agent = agentOf(version).prompt(async (turn) => {
    const terminal = await turn.displayTerminal("make", { cwd: "/work" });
    assert.ok(terminal instanceof DisplayTerminal);
    await turn.toolCall("Build", { id: "b", kind: "execute" }, async (call) => {
      await call.show(terminal);
      await terminal.write("größer\n");
      await terminal.write(new Uint8Array([0xff, 0x0a]));
      await terminal.exit({ exitCode: 2 });
    });
  });
  const raw = await Raw.of(t, agent, version);
  const id = raw.prompt();
  if (version === 1) {
    const all = [];
    for (let frame; (frame = await raw.next()).method; ) all.push(frame.params.update);
    assert.ok(all.every(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call")));
    const shown = JSON.stringify(all.filter(({ content }) => content).at(-1).content);
    assert.ok(shown.includes("größer") && shown.includes("2"), shown);
    return;
  }
  await raw.inserted(id);
  const [began, call, shows, one, two, exit] = await raw.updates(6);
  const { terminalId } = began;
  assert.deepEqual(began, { sessionUpdate: "terminal_update", terminalId, command: "make", cwd: "/work" });
  assert.equal(call.toolCallId, "b");
  assert.deepEqual(shows.content, [{ type: "terminal", terminalId }]);
  assert.deepEqual([one, two].map(({ data }) => [...Buffer.from(data, "base64")]), [[...Buffer.from("größer\n")], [0xff, 0x0a]]);
  assert.deepEqual(exit, { sessionUpdate: "terminal_update", terminalId, exitStatus: { exitCode: 2 } });
});

test("a large piece of output is written as it is", async (t) => {
  const bytes = new Uint8Array(400_000).map((_, index) => index);
  const agent = agentOf(2).prompt(async (turn) => {
    const terminal = await turn.displayTerminal("cat");
    await terminal.write(bytes);
    await assert.rejects(terminal.write(5), /expected a string or a Uint8Array/);
  });
  const raw = await Raw.of(t, agent, 2);
  await raw.inserted(raw.prompt());
  await raw.update();
  assert.deepEqual(new Uint8Array(Buffer.from((await raw.update()).data, "base64")), bytes);
});

inBoth("content is appended to a tool call without sending the rest again", async (t, version) => {
  const agent = agentOf(version).prompt(async (turn) => {
    await turn.toolCall("Look", { id: "l", content: [{ type: "content", content: text("zero") }] }, async (call) => {
      await call.append("one");
      await call.append({ type: "diff", path: "/work/a", newText: "new\n" });
      await call.text("two");
      await call.fail("three");
    });
  });
  const raw = await Raw.of(t, agent, version);
  const id = raw.prompt();
  if (version === 2) await raw.inserted(id);
  const [begun, ...rest] = await raw.updates(5);
  assert.equal(begun.content.length, 1);
  const sizes = rest.map(({ sessionUpdate, content }) => [sessionUpdate, Array.isArray(content) ? content.length : content && 1]);
  const [whole, piece] = ["tool_call_update", "tool_call_content_chunk"];
  const added = version === 1 ? [[whole, 2], [whole, 3]] : [[piece, 1], [piece, 1]];
  assert.deepEqual(sizes, [...added, [whole, 4], [whole, 5]]);
  assert.equal(rest.at(-1).status, "failed");
});

test("one tool call is cancelled, and the turn goes on", async (t) => {
  const calls = new Map();
  const agent = agentOf(2)
    .onCancelTool((session, { toolCallId }) => calls.get(toolCallId).stop.resolve())
    .onCancelTerminal(() => {})
    .prompt(async (turn) => {
      await turn.toolCall("Long", { id: "long" }, async (call) => {
        const stop = later();
        calls.set(call.id, { stop });
        await stop.promise;
        await call.cancelled();
      });
      await turn.message("and on");
    });
  const raw = await Raw.of(t, agent, 2);
  await raw.inserted(raw.prompt());
  assert.deepEqual((await raw.update()).capabilities, { cancel: {} });
  const id = raw.about("tool_call/cancel", { toolCallId: "long" });
  const frames = [await raw.next(), await raw.next()];
  assert.deepEqual(frames.find((frame) => frame.id === id), { id, result: {} });
  const { update } = frames.find(({ method }) => method).params;
  assert.deepEqual([update.status, update.capabilities], ["cancelled", null]);
  assert.deepEqual((await raw.update()).content, text("and on"));
});

/** What a view shows, in words that both versions share. */
function shown(view) {
  const entry = ({ type, role, text, title, status, entries, content }) => ({
    is: role ?? type,
    says: text ?? title,
    status,
    steps: entries?.map((each) => each.content),
    items: content?.length,
  });
  return { state: view.state, stopReason: view.stopReason, entries: view.entries.map(entry) };
}

test("a client sees the same in both versions", async (t) => {
  const seen = [];
  for (const version of VERSIONS) {
    const { agent, opened } = opening(version);
    agent.prompt(async (turn) => {
      turn.hold();
      await pause(1);
      turn.insert();
      await turn.plan(["Look"]);
      await turn.toolCall("Look", { kind: "read" }, async (call) => {
        await call.append("one");
        await call.append("two");
      });
      await turn.message("Done");
    });
    const client = new Client("c", "1", { versions: [version], view: true });
    const { session } = await joined(t, undefined, { agent, client });
    await session.prompt("Hi");
    await (await opened).work(async (work) => {
      await work.message("One ");
      await work.message("more");
    });
    while (session.view.entries.at(-1).text !== "One more" || session.view.state !== "idle") await pause(1);
    seen.push(shown(session.view));
  }
  const [one, two] = seen;
  assert.deepEqual(one, two);
  assert.deepEqual(two.entries.map(({ is, says }) => [is, says]).filter(([is]) => is !== "plan"), [
    ["user", "Hi"], ["tool_call", "Look"], ["agent", "Done"], ["agent", "One more"],
  ]);
  assert.equal(two.entries.find(({ is }) => is === "tool_call").items, 2);
});

test("what the book shows of work and background does what it says", async (t) => {
  const { agent, opened } = opening(2);
  const watching = later();
  const build = async (write) => {
    await write("ok\n");
    await watching.promise;
    return 0;
  };
  // ANCHOR: background
  agent.prompt(async (turn) => {
    turn.hold(); // until it is clear that there is something to build
    if (!turn.text.startsWith("build")) throw new RequestError(ErrorCode.INVALID_PARAMS, "I only build");
    const terminal = await turn.displayTerminal("make");
    await turn.session.background(terminal); // it goes on after the turn, and a cancel leaves it alone
    void build((text) => terminal.write(text)).then(async (exitCode) => {
      await terminal.exit({ exitCode });
      await turn.session.work((work) => work.message(`The build has ended with ${exitCode}.`));
    });
  });
  // ANCHOR_END: background
  const client = new Client("c", "1", { versions: [2], view: true });
  const { session } = await joined(t, undefined, { agent, client });
  await assert.rejects(Promise.resolve(session.prompt("sing")), { code: -32602 });
  await session.prompt("build it");
  await opened;
  const { view } = session;
  assert.equal(view.background.length, 1);
  watching.resolve();
  while (view.entries.at(-1)?.text !== "The build has ended with 0." || view.state !== "idle") await pause(1);
  assert.deepEqual(view.background, []);
  assert.deepEqual(view.entries.filter(({ role, discarded }) => role === "user" && !discarded).map(({ text }) => text), ["build it"]);
});
