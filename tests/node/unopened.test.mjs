// Sessions that are not open, or not yet: what calls on them do, and where updates are that come before `newSession` returns.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Client, connect, joined, pipes, streams } from "./both.mjs";

const MODES = { modes: { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }] } };

test("a call on a session that was closed is refused before it is sent", async (t) => {
  let theirs;
  const seen = [];
  const agent = new Agent("a", "1", { trace: (direction) => seen.push(direction) })
    .newSession((session) => void (theirs = session) ?? MODES)
    .on("session/set_mode", () => {});
  const { peer, session } = await joined(t, () => {}, { agent });
  await session.close();
  assert.deepEqual([session.open, session.snapshot, peer.sessions.size], [false, undefined, 0]);
  seen.length = 0;
  const calls = {
    prompt: async () => await session.prompt("x"),
    readText: () => session.prompt("x").readText(),
    setMode: () => session.setMode("ask"),
    setConfigOption: () => session.setConfigOption("model", "large"),
    cancel: () => session.cancel(),
    request: () => session.request("session/set_mode", { modeId: "ask" }),
    notify: () => session.notify("session/cancel"),
    update: () => theirs.update({ sessionUpdate: "session_info_update", title: "t" }),
  };
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(call, { name: "SessionMisuse", kind: "session" }, name);
  }
  assert.deepEqual(seen, []);
  // The agent may keep it still.
  await session.close();
  assert.deepEqual(seen, ["received", "sent"]);
});

test("what an agent says right after it has opened a session comes before newSession returns", async (t) => {
  const commands = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "tour", description: "Show it" }] };
  const order = [];
  const agent = new Agent("a").newSession((session) => session.update(commands)).prompt(() => {});
  const client = new Client("c", "1", { onUpdate: ({ id, open }, update) => order.push([id, open, update.sessionUpdate]) });
  const ends = pipes();
  const served = agent.serve(ends[1]);
  const peer = await connect(ends[0], client, { grace: 200 });
  t.after(async () => {
    await peer.close();
    await served;
  });
  const session = await peer.newSession("/work");
  order.push("returned");
  await session.prompt("x");
  assert.deepEqual(order, [[session.id, true, "available_commands_update"], "returned"]);
  assert.deepEqual(session.snapshot.commands.map(({ name }) => name), ["tour"]);
});

test("an update that comes before the answer which names its session goes to onUpdate, by its id", async (t) => {
  const seen = [];
  const client = new Client("c", "1", {
    onUpdate: ({ id, open }, { sessionUpdate }) => seen.push([id, open, sessionUpdate]),
    onViolation: ({ rule, consequence }) => seen.push([rule, consequence]),
  });
  const there = new TransformStream();
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  const say = (message) => writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  const update = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "tour", description: "Show it" }] };
  const answers = {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
    "session/new": async () => {
      await say({ method: "session/update", params: { sessionId: "s", update } });
      return { sessionId: "s" };
    },
  };
  (async () => {
    for await (const text of there.readable.pipeThrough(new TextDecoderStream())) {
      const { id, method } = JSON.parse(text);
      await say({ id, result: await answers[method]() });
    }
  })();
  const peer = await connect(streams(readable, there.writable), client, { grace: 200 });
  t.after(async () => {
    const closing = peer.close();
    await writer.close();
    await closing;
  });
  const session = await peer.newSession("/work");
  assert.deepEqual(seen, [["s", false, "available_commands_update"]]);
  assert.deepEqual(session.snapshot.commands.map(({ name }) => name), ["tour"]);
});
