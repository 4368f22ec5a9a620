// What crosses what: prompts that are cancelled while they wait, answers that come late or say more than they should.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, RequestError, all, connect, joined, later, pipes, quiet, texts } from "./both.mjs";

const CAPABILITIES = { loadSession: true, sessionCapabilities: { close: {}, delete: {} } };

/** A client, and an agent that is a function from requests to what is sent back. */
async function scripted(t, client, act) {
  const [ours, theirs] = pipes();
  const send = (message) => theirs.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  const heard = [];
  const listen = async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of theirs.readable) {
      const lines = (text + decoder.decode(bytes, { stream: true })).split("\n");
      text = lines.pop();
      for (const message of lines.map((line) => JSON.parse(line))) {
        heard.push(message);
        const { id, method } = message;
        if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: CAPABILITIES } });
        else act(message, send);
      }
    }
  };
  const listening = listen();
  const peer = await connect(ours, client, { grace: 200 });
  t.after(async () => {
    await peer.close();
    await listening;
  });
  return { peer, methods: () => heard.map(({ method }) => method) };
}

test("a prompt that is cancelled while it waits for another is not sent", async (t) => {
  const goOn = later();
  const served = [];
  const { session } = await joined(t, async (turn) => {
    served.push(turn.text);
    if (turn.text !== "stubborn") return turn.message("fine");
    await turn.message("begun");
    await goOn.promise;
  });
  for await (const _ of session.prompt("stubborn")) break;
  const second = session.prompt("second");
  const ended = all(second);
  await pause(10);
  await second.cancel();
  assert.deepEqual([await ended, second.stopReason, await second], [[], "cancelled", { stopReason: "cancelled" }]);
  goOn.resolve();
  assert.deepEqual(texts(await all(session.prompt("third"))), ["fine"]);
  assert.deepEqual(served, ["stubborn", "third"]);
});

test("who has left the loop over a turn can still wait for its end", async (t) => {
  const { session } = await joined(t, async (turn) => {
    await turn.message("begun");
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  });
  const turn = session.prompt("x");
  for await (const _ of turn) break;
  assert.deepEqual(await turn, { stopReason: "cancelled" });
});

test("a prompt that takes too long is cancelled with its questions", async (t) => {
  const stopped = later();
  const permission = async ({ signal }) => {
    signal.addEventListener("abort", () => stopped.resolve("stopped"));
    await new Promise(() => {});
  };
  const { peer, methods } = await scripted(t, new Client("c", "1", { permission }), ({ id, method }, send) => {
    if (method === "session/new") send({ id, result: { sessionId: "s" } });
    if (method !== "session/prompt") return;
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    send({ id: 7, method: "session/request_permission", params: { sessionId: "s", toolCall: { toolCallId: "t" }, options } });
  });
  const session = await peer.newSession("/work");
  await assert.rejects(async () => await session.prompt("x", { timeout: 100 }), { outcome: "timeout" });
  assert.equal(await stopped.promise, "stopped");
  await pause(10);
  assert.ok(methods().includes("session/cancel"));
});

for (const method of ["session/close", "session/delete"]) {
  test(`a session has ended also where the answer to ${method} is late`, async (t) => {
    const ended = [];
    const late = later();
    const client = new Client("c", "1", { onSessionEnd: ({ id }) => ended.push(id), onLateResponse: late.resolve });
    const { peer } = await scripted(t, client, ({ id, method: asked }, send) => {
      if (asked === "session/new") send({ id, result: { sessionId: "s" } });
      if (asked === method) setTimeout(() => send({ id, result: {} }), 150);
    });
    const session = await peer.newSession("/work");
    const asking = method === "session/close" ? session.close({ timeout: 50 }) : peer.deleteSession("s", { timeout: 50 });
    await assert.rejects(asking, { outcome: "timeout" });
    assert.equal(session.open, true);
    await late.promise;
    assert.deepEqual([session.open, [...peer.sessions], ended], [false, [], ["s"]]);
  });
}

test("the answer to a load names no session", async (t) => {
  const ended = [];
  const client = new Client("c", "1", { onSessionEnd: ({ id }) => ended.push(id) });
  const { peer } = await scripted(t, client, ({ id, method }, send) => {
    if (method === "session/new" || method === "session/load") send({ id, result: { sessionId: "other" } });
  });
  const other = await peer.newSession("/other");
  const session = await peer.loadSession("s", "/work");
  assert.deepEqual([session.id, session.open, other.open, other.roots, ended], ["s", true, true, ["/other"], []]);
});

test("a title is known however many tool calls have not ended", async (t) => {
  const titles = [];
  const permission = ({ title }) => void titles.push(title);
  const { session } = await joined(t, async (turn) => {
    for (let number = 0; number < 1200; number += 1) {
      await turn.update({ sessionUpdate: "tool_call", toolCallId: `${number}`, title: `Call ${number}` });
    }
    await turn.askPermission({ toolCallId: "1199" });
  }, { client: new Client("c", "1", { permission }) });
  await session.prompt("x");
  assert.deepEqual(titles, ["Call 1199"]);
});

test("what a handler asks in its first step ends with the turn", async () => {
  const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } };
  const agent = new Agent("a", "1").newSession(() => ({ sessionId: "s" }));
  agent.prompt((turn) => turn.session.request("elicitation/create", form).then(() => {}));
  // A client that answers no question, also when the turn is cancelled.
  const [ours, theirs] = pipes();
  const served = agent.serve(theirs);
  const say = (message) => ours.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  const capabilities = { elicitation: { form: {} } };
  await say({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: capabilities } });
  await say({ id: 2, method: "session/new", params: { cwd: "/work", mcpServers: [] } });
  await say({ id: 3, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  let heard = "";
  const decoder = new TextDecoder();
  const until = async (what) => {
    const reading = ours.readable[Symbol.asyncIterator]();
    while (!heard.includes(what)) heard += decoder.decode((await reading.next()).value, { stream: true });
  };
  await until("elicitation/create");
  await say({ method: "session/cancel", params: { sessionId: "s" } });
  // Long before it is given up that the client answers.
  await Promise.race([until('"stopReason"'), pause(2000)]);
  assert.match(heard, /\{"jsonrpc":"2.0","id":3,"result":\{"stopReason":"cancelled"\}\}/);
  ours.close();
  await served;
});

test("a handler that a client leaves alone has not failed", async (t) => {
  const wrong = [];
  const agent = new Agent("a", "1", { onError: (error) => wrong.push(error) });
  agent.prompt(async (turn) => {
    await turn.message("begun");
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    if (turn.text === "refuse") throw new RequestError(-32001, "in the middle of it");
    await turn.message("more");
  });
  for (const text of ["say", "refuse"]) {
    const { peer, served, session } = await joined(t, undefined, { agent });
    const turn = session.prompt(text);
    const ended = all(turn).catch(() => {});
    await pause(20);
    await peer.close();
    await Promise.all([ended, served]);
  }
  assert.deepEqual(wrong, []);
});

test("an extension may give any result, and a tool call has options before its function", async (t) => {
  quiet(t);
  const agent = new Agent("a").on("_x/list", (client, params) => params);
  agent.prompt(async (turn) => {
    await assert.rejects(turn.toolCall("T", () => {}), { name: "TypeError", message: /toolCall\(title, \{\}, run\)/ });
  });
  const { peer, session } = await joined(t, undefined, { agent });
  assert.deepEqual(await peer.request("_x/list", [1, "text"]), [1, "text"]);
  assert.deepEqual(await session.prompt("x"), { stopReason: "end_turn" });
});

test("a session that is opened when nobody waits for it any more is closed", async (t) => {
  const closed = later();
  const { peer } = await scripted(t, new Client("c", "1"), ({ id, method, params }, send) => {
    if (method === "$/cancel_request") send({ id: params.requestId, result: { sessionId: "s" } });
    if (method === "session/close") closed.resolve([params.sessionId, send({ id, result: {} })]);
  });
  const stop = new AbortController();
  const opening = peer.newSession("/work", { signal: stop.signal });
  await pause(10);
  stop.abort();
  await assert.rejects(opening, { name: "AbortError" });
  assert.equal((await closed.promise)[0], "s");
  assert.equal(peer.sessions.size, 0);
});

test("a child session has its directories, and ends with its parent", async (t) => {
  const [ended, read, answered] = [[], [], later()];
  const files = { readTextFile: (session, { path }) => read.push([session.id, session.open, session.roots, path]) && "text" };
  const onSessionEnd = ({ id }) => ended.push(id);
  const client = new Client("c", "1", { files, onSessionEnd, capabilities: { subagents: {} } });
  const { peer } = await scripted(t, client, ({ id, method, result }, send) => {
    if (id === 7) answered.resolve(result);
    if (method === "session/close") send({ id, result: {} });
    if (method !== "session/new") return;
    send({ id, result: { sessionId: "parent" } });
    const update = { sessionUpdate: "subagent_update", sessionId: "child", title: "C", state: { state: "running" } };
    send({ method: "session/update", params: { sessionId: "parent", update } });
    send({ id: 7, method: "fs/read_text_file", params: { sessionId: "child", path: "/work/a" } });
  });
  const session = await peer.newSession("/work");
  assert.deepEqual(await answered.promise, { content: "text" });
  assert.deepEqual([read, [...peer.sessions.keys()]], [[["child", true, ["/work"], "/work/a"]], ["parent", "child"]]);
  const child = peer.sessions.get("child");
  await session.close();
  assert.deepEqual([child.open, peer.sessions.size, ended], [false, 0, ["parent", "child"]]);
});
