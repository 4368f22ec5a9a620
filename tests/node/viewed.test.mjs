// Sessions of a client as conversations.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, clientSide, connect, joined, later, pipes, quiet } from "./both.mjs";

const { PeerError } = clientSide;
const viewing = (options) => new Client("c", "1", { view: true, ...options });
const texts = (view) => view.entries.map(({ role, type, text, title }) => `${role ?? type}: ${text ?? title}`);

/** An agent that stores its sessions, and says what it was told. */
function storing() {
  const agent = new Agent("a", "1");
  const say = (session, kind, text) =>
    session.notify("session/update", { update: { sessionUpdate: kind, content: { type: "text", text } } });
  agent.loadSession(async (session) => {
    if (session.id === "lost") throw new Error("no");
    await say(session, "user_message_chunk", "asked");
    await say(session, "agent_message_chunk", "replayed");
  });
  agent.on("session/close", () => {});
  return agent;
}

test("a session has no view, unless the client says so", async (t) => {
  for (const options of [undefined, {}, { view: false }]) {
    const { session } = await joined(t, undefined, { client: new Client("c", "1", options), agent: new Agent("a", "1").prompt(() => {}) });
    assert.equal(session.view, undefined);
  }
  await assert.rejects(connect(pipes()[0], viewing({ view: "yes" })), /view: expected a boolean/);
});

test("a turn is seen as it goes on, whoever gets its updates", async (t) => {
  const [asked, seen] = [later(), later()];
  const { session } = await joined(
    t,
    async (turn) => {
      await turn.message("One ");
      await turn.toolCall("Look", { kind: "read" }, () => asked.resolve() ?? seen.promise);
      await turn.message("two");
    },
    { client: viewing() },
  );
  const { view } = session;
  assert.equal(view, session.view);
  assert.deepEqual([view.session, view.state, view.entries], [session.id, "idle", []]);
  const turn = session.prompt("Hi");
  const done = turn.readText();
  await asked.promise;
  while (view.entries.length < 3) await pause(1);
  assert.deepEqual([view.state, view.prompts.length, texts(view)], ["running", 1, ["user: Hi", "agent: One ", "tool_call: Look"]]);
  const [prompt] = view.entries;
  seen.resolve();
  assert.equal(await done, "One two");
  assert.deepEqual([view.state, view.stopReason, view.turn], ["idle", "end_turn", 1]);
  assert.deepEqual(texts(view), ["user: Hi", "agent: One ", "tool_call: Look", "agent: two"]);
  assert.equal(view.entries[2].status, "completed");
  assert.equal(view.entries[0].text, prompt.text);
});

test("changes come while the host awaits the turn, and end with the session", async (t) => {
  const agent = storing();
  const { session } = await joined(t, (turn) => turn.message(turn.text), { client: viewing(), agent });
  const states = [];
  const done = (async () => {
    for await (const { state } of session.view.changes()) if (state) states.push(state);
  })();
  await session.prompt("a");
  await session.prompt("b");
  await session.close();
  await done;
  assert.equal(states[0], "idle");
  assert.ok(states.includes("running"), String(states));
  assert.equal(states.at(-1), "idle");
  assert.deepEqual(texts(session.view), ["user: a", "agent: a", "user: b", "agent: b"]);
});

test("a session that is over stays as it was until it is forgotten", async (t) => {
  const { session, peer } = await joined(t, (turn) => turn.message("x"), { client: viewing(), agent: storing() });
  const { view, id } = session;
  await session.prompt("a");
  assert.equal(view.forget(), false);
  await session.close();
  assert.deepEqual([view.frozen, texts(view)], [true, ["user: a", "agent: x"]]);

  // Opened once more it is another object, which goes on.
  const again = await peer.loadSession(id, "/work");
  assert.notEqual(again, session);
  assert.deepEqual(texts(again.view), ["user: asked", "agent: replayed"]);
  assert.deepEqual([view.frozen, texts(view), session.view], [true, ["user: a", "agent: x"], view]);
  await again.close();
  assert.equal(again.view.forget(), true);
  assert.deepEqual(texts(again.view), ["user: asked", "agent: replayed"]);
  assert.equal(peer.connection.view(id), undefined);
  assert.deepEqual(texts(view), ["user: a", "agent: x"]);
});

test("a replay is seen before its answer, and a failed one ends", async (t) => {
  const { peer } = await joined(t, () => {}, { client: viewing(), agent: storing() });
  quiet(t);
  const loading = peer.loadSession("old", "/work");
  const { view } = loading.session;
  const seen = [];
  view.subscribe(() => seen.push(view.replaying));
  for await (const _ of loading);
  assert.deepEqual(texts(view), ["user: asked", "agent: replayed"]);
  assert.deepEqual([seen[0], view.replaying], [true, false]);
  assert.equal((await peer.sessions.get("old")).view, view);

  const lost = peer.loadSession("lost", "/work");
  const done = (async () => {
    const steps = [];
    for await (const { entries } of lost.session.view.changes()) steps.push(entries.length);
    return steps;
  })();
  await assert.rejects(Promise.resolve(lost), PeerError);
  assert.ok((await done).every((length) => length === 0));
});

test("loops end with the connection", async (t) => {
  const { session, peer } = await joined(t, (turn) => turn.message("x"), { client: viewing() });
  await session.prompt("a");
  const steps = [];
  const done = (async () => {
    for await (const { entries } of session.view.changes()) steps.push(entries.length);
  })();
  await pause(1);
  await peer.close();
  await done;
  assert.deepEqual(steps, [2]);
  assert.deepEqual(texts(session.view), ["user: a", "agent: x"]);
});

test("what a listener throws goes to onError", async (t) => {
  const failed = later();
  const onError = (error, { method }) => failed.resolve([error.message, method]);
  const { session } = await joined(t, () => {}, { client: viewing({ onError }) });
  session.view.subscribe(() => {
    throw new Error("no");
  });
  await session.prompt("a");
  assert.deepEqual(await failed.promise, ["no", "view"]);
});

test("a page that draws in a loop shows all that there is", async (t) => {
  const { session } = await joined(t, (turn) => turn.message("Hello"), { client: viewing(), agent: storing() });
  const [shown, page] = [new Map(), { busy: undefined }];
  async function show(session) {
    // ANCHOR: loop
    for await (const { reset, entries, removed, state } of session.view.changes()) {
      if (reset) shown.clear();
      for (const index of removed) shown.delete(index);
      for (const entry of entries) shown.set(entry.index, entry.text ?? entry.title);
      if (state !== undefined) page.busy = state !== "idle";
    }
    // ANCHOR_END: loop
  }
  const done = show(session);
  await session.prompt("Hi");
  await session.close();
  await done;
  assert.deepEqual([[...shown], page], [[[0, "Hi"], [1, "Hello"]], { busy: false }]);
});
