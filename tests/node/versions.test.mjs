// Agents and clients in either version: the same programs, and what differs is what the protocol has differently.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, all, clientSide, connect, later, pipes, quiet } from "./both.mjs";
import { MODES, program } from "./program.mjs";

const { NoResult, PeerError } = clientSide;

// What the agent speaks, what the client does, and what they agree on.
const PAIRS = [
  [[1], [1], 1], [[2], [2], 2], [[1, 2], [1, 2], 2], [[1], [1, 2], 1], [[2], [1, 2], 2], [[1, 2], [1], 1], [[1, 2], [2], 2],
];
/** The program and a client that are connected; in the end, neither has broken a rule, nor been told to do better. */
async function pair(t, theirs, ours, body, options = {}) {
  const [seen, wrong, asked, between] = [[], [], [], []];
  const hear = (event) => wrong.push(event);
  const client = new Client("seen", "4", {
    versions: ours,
    view: true,
    permission: (request) => {
      asked.push(request);
      return request.allow();
    },
    onUpdate: (session, update) => between.push(update),
    onViolation: hear,
    onAdvice: hear,
    ...options.client,
  });
  const { agent, go } = program(theirs, seen, options.agent);
  const ends = pipes();
  const served = agent.serve(ends[1]);
  const peer = await connect(ends[0], client, { grace: 200 });
  try {
    return await body({ peer, seen, asked, between, go, agent, client });
  } finally {
    await peer.close();
    await served;
    assert.deepEqual([...wrong, ...seen.filter((each) => ["violation", "advice"].includes(each?.type))], []);
  }
}

/** The same in each version, which gives the same in both. */
function inBoth(name, body, options) {
  test(name, async (t) => {
    const found = [];
    for (const version of [1, 2]) {
      await t.test(`in version ${version}`, async () => {
        found.push(await pair(t, [version], [version], (all) => body({ ...all, version, t }), options));
      });
    }
    assert.deepEqual(found[0], found[1]);
  });
}

/** Waits until something is so. */
async function until(is) {
  for (let waited = 0; !is(); waited += 1) {
    assert.ok(waited < 5000, `it does not come: ${is}`);
    await pause(1);
  }
}

/** An item of a tool call's content; a diff by the file that it changes. */
const item = (each) => (each.type === "diff" ? ["diff", each.path ?? each.changes[0].path] : each);

/** What the view of a session shows, without what is made up for each. */
function drawn({ view }) {
  const entries = view.entries.map((entry) => {
    if (entry.type === "message") return [entry.role, entry.text];
    if (entry.type === "plan") return ["plan", entry.plan];
    if (entry.type !== "tool_call") return entry;
    return [entry.id, entry.title, entry.kind, entry.status, entry.locations, entry.content.map(item)];
  });
  return { entries, state: view.state, stop: view.stopReason, modes: view.modes };
}

for (const [theirs, ours, agreed] of PAIRS) {
  test(`an agent of ${theirs.join(" and ")} and a client of ${ours.join(" and ")} agree on ${agreed}, and talk`, (t) =>
    pair(t, theirs, ours, async ({ peer }) => {
      assert.equal(peer.version, agreed);
      assert.deepEqual(peer.info, { name: "program", version: "3" });
      assert.equal(peer.capabilities.loadSession, true);
      assert.equal(peer.greeting.agentInfo.name, "program");
      assert.equal(peer.connection.config.versions.includes(agreed), true);
      const session = await peer.newSession("/work");
      const turn = session.prompt("refusal");
      assert.equal(turn.messageId, undefined);
      assert.equal(await turn.readText(), "refusal?");
      assert.equal(turn.stopReason, "refusal");
      assert.equal(typeof turn.messageId, agreed === 2 ? "string" : "undefined");
    }));
}

test("without a version in common there is no connection", async () => {
  for (const [theirs, ours] of [[[1], [2]], [[2], [1]]]) {
    const ends = pipes();
    const served = program(theirs, []).agent.serve(ends[1]);
    await assert.rejects(connect(ends[0], new Client("c", "1", { versions: ours, log: false }), { grace: 100 }), (error) => {
      assert.ok(error instanceof PeerError || error instanceof NoResult, String(error));
      return true;
    });
    await served;
  }
});

test("versions that there are not are refused", () => {
  assert.throws(() => new Agent("a", "1", { versions: [3] }), /versions: .*3/);
  assert.throws(() => new Client("a", "1", { versions: [] }), /versions/);
  assert.throws(() => new Client("a", "1", { versions: 2 }), /versions: expected a list/);
  assert.throws(() => new Agent("a").on("tool_call/cancel", () => {}), /tool_call\/cancel.*version 2.*versions/);
});

inBoth("each knows who the other is, and what it can do", async ({ peer, agent, version }) => {
  const session = await peer.newSession("/work");
  const known = later();
  agent.on("_known", (client) => void known.resolve([client.info, client.version === version, client.capabilities.fs]));
  await peer.request("_known");
  assert.equal(session.agent, peer);
  return known.promise;
});

inBoth("everything that a turn does", async ({ peer, seen, asked }) => {
  const session = await peer.newSession("/work");
  const turn = session.prompt("work");
  await all(turn);
  assert.equal(turn.stopReason, "end_turn");
  assert.deepEqual(asked.map(({ title, toolCall, session }) => [title, toolCall.toolCallId, session.cwd]), [["Write a", "w", "/work"]]);
  assert.deepEqual(seen, []);
  const found = drawn(session);
  assert.deepEqual(found.entries.map(([first]) => first), ["user", "plan", "thought", "w", "l", "agent"]);
  assert.deepEqual(found.entries.at(-1), ["agent", "Done."]);
  return found;
});

inBoth("a turn that is cancelled, or left", async ({ peer }) => {
  const session = await peer.newSession("/work");
  const turn = session.prompt("wait");
  const said = [];
  for await (const { sessionUpdate, content } of turn) {
    if (sessionUpdate !== "agent_message_chunk") continue;
    said.push(content.text);
    await turn.cancel();
  }
  assert.deepEqual(said.join(""), "waiting, cleaned up");
  assert.equal(turn.stopReason, "cancelled");
  for await (const { sessionUpdate } of session.prompt("wait")) if (sessionUpdate === "agent_message_chunk") break;
  const again = session.prompt("max_tokens");
  assert.equal(await again.readText(), "max_tokens?");
  return again.stopReason;
});

inBoth("a prompt that is given up by its signal, at each place where one can wait", async ({ peer }) => {
  const session = await peer.newSession("/work");
  for (const wait of [0, 1, 5, 20]) {
    const stop = new AbortController();
    const awaited = Promise.resolve(session.prompt("wait", { signal: stop.signal }));
    setTimeout(() => stop.abort(), wait);
    await assert.rejects(awaited, { name: "AbortError" });
  }
  return session.prompt("max_tokens").readText();
});

inBoth("a question ends with its turn", async ({ peer, seen, client }) => {
  const [asked, ended] = [later(), later()];
  client.permission = ({ title, signal }) => {
    asked.resolve(title);
    return new Promise(() => signal.addEventListener("abort", ended.resolve));
  };
  const session = await peer.newSession("/work");
  const turn = session.prompt("ask");
  const running = all(turn);
  const title = await asked.promise;
  await turn.cancel();
  await running;
  await ended.promise;
  assert.deepEqual(seen, ["AbortError"]);
  return [title, turn.stopReason];
});

inBoth("errors of handlers", async ({ peer, t }) => {
  quiet(t);
  const session = await peer.newSession("/work");
  const errors = [];
  for (const what of ["fail", "break"]) {
    const turn = session.prompt(what);
    await assert.rejects(all(turn), (error) => {
      assert.ok(error instanceof PeerError);
      errors.push([error.code, error.error.message, error.data]);
      return true;
    });
    assert.equal(turn.stopReason, undefined);
  }
  assert.deepEqual(errors, [[-32050, "No paper", { tray: 2 }], [-32603, "Internal error", undefined]]);
  return session.prompt("refusal").readText();
});

inBoth("two sessions at once", async ({ peer, go }) => {
  const sessions = [await peer.newSession("/a"), await peer.newSession("/b")];
  const reading = sessions.map((session) => session.prompt("go").readText());
  await until(() => sessions.every((session) => JSON.stringify(drawn(session)).includes("begins")));
  go();
  const found = await Promise.all(reading);
  assert.deepEqual(found, ["/a begins, ends", "/b begins, ends"]);
  return found;
});

test("in version 2, a second prompt waits for the end of the first", (t) =>
  pair(t, [2], [2], async ({ peer, go }) => {
    const session = await peer.newSession("/a");
    const [first, second] = [session.prompt("go"), session.prompt("refusal")];
    const reading = [first.readText(), second.readText()];
    await until(() => JSON.stringify(drawn(session)).includes("begins"));
    go();
    assert.deepEqual(await Promise.all(reading), ["/a begins, ends", "refusal?"]);
    assert.deepEqual([first.stopReason, second.stopReason], ["end_turn", "refusal"]);
    assert.notEqual(first.messageId, second.messageId);
  }));

inBoth("the connection ends in a turn", async ({ peer }) => {
  const session = await peer.newSession("/a");
  const turn = session.prompt("go");
  await assert.rejects(async () => {
    for await (const { sessionUpdate } of turn) if (sessionUpdate === "agent_message_chunk") peer.close();
  }, { name: "NoResult", outcome: "closed" });
});

inBoth("a session that is loaded is replayed", async ({ peer }) => {
  const loading = peer.loadSession("old", "/old");
  const kinds = (await all(loading)).map(({ sessionUpdate }) => sessionUpdate).filter((kind) => kind.endsWith("chunk"));
  assert.deepEqual(kinds, ["user_message_chunk", "agent_message_chunk"]);
  const session = peer.sessions.get("old");
  assert.equal(loading.session, session);
  const replayed = drawn(session).entries;
  assert.deepEqual(replayed, [["user", "Before"], ["agent", "After"]]);
  const again = await peer.loadSession("old", "/old");
  assert.equal(again, session);
  assert.deepEqual(drawn(session).entries, replayed);
  assert.equal(await session.prompt("refusal").readText(), "refusal?");
  assert.deepEqual(session.result.modes, MODES);
  return drawn(session);
});

inBoth("sessions are listed and closed", async ({ peer }) => {
  const session = await peer.newSession("/work");
  await session.close();
  assert.equal(session.open, false);
  const listed = [];
  for await (const each of peer.listSessions()) listed.push(each);
  assert.equal(listed[0].title, "An old one");
  return listed;
});

inBoth("closing a session ends its turn", async ({ peer }) => {
  const session = await peer.newSession("/work");
  const turn = session.prompt("wait");
  const reading = turn.readText();
  await until(() => JSON.stringify(drawn(session)).includes("waiting"));
  await session.close();
  assert.equal(await reading, "waiting, cleaned up");
  assert.equal(turn.stopReason, "cancelled");
});

inBoth("modes are set by the client, and by the agent", async ({ peer, seen, version }) => {
  const session = await peer.newSession("/work");
  assert.deepEqual(session.result.modes, MODES);
  await session.setMode("code");
  assert.deepEqual(seen, [["mode", "code"]]);
  await session.setMode("ask");
  const updates = await all(session.prompt("mode"));
  const kind = version === 1 ? "current_mode_update" : "config_option_update";
  assert.equal(updates.filter(({ sessionUpdate }) => sessionUpdate === kind).length, 1);
  await until(() => session.view.modes?.currentModeId === "code");
  return session.view.modes;
});

inBoth("commands follow the new session", async ({ peer, between }) => {
  const session = await peer.newSession("/work");
  await until(() => session.view.commands);
  assert.deepEqual(between.map(({ sessionUpdate }) => sessionUpdate), ["available_commands_update"]);
  return session.view.commands.map(({ name }) => name);
});

test("files of the client are offered in version 1 only", async (t) => {
  const files = { readTextFile: () => "text" };
  for (const [version, can] of [[1, "true"], [2, "false"]]) {
    const said = await pair(t, [version], [version], async ({ peer }) => (await peer.newSession("/w")).prompt("files").readText(), { client: { files } });
    assert.equal(said, can);
  }
});

test("in version 2, a single tool call can be cancelled", (t) =>
  pair(t, [2], [2], async ({ peer, agent }) => {
    const cancelled = later();
    agent.on("tool_call/cancel", (session, { toolCallId }) => void cancelled.resolve([session.cwd, toolCallId]));
    const session = await peer.newSession("/w");
    const call = { sessionUpdate: "tool_call_update", toolCallId: "c", title: "Long", status: "in_progress", capabilities: { cancel: {} } };
    agent.on("_call", async (client, { sessionId }) => client.sessions.get(sessionId).update(call));
    await peer.request("_call", { sessionId: session.id });
    await session.cancelToolCall("c");
    assert.deepEqual(await cancelled.promise, ["/w", "c"]);
    await assert.rejects(session.cancelToolCall("d"), { name: "SessionMisuse" });
  }));

test("a message that is told as a whole takes the place of its pieces", (t) =>
  pair(t, [2], [2], async ({ peer, agent }) => {
    const block = (text) => ({ type: "text", text });
    const update = (sessionUpdate, messageId, content) => ({ sessionUpdate, messageId, ...(content === undefined ? {} : { content }) });
    agent.handlers.set("session/prompt", async (turn) => {
      await turn.update(update("agent_message_chunk", "a", block("on")));
      await turn.update(update("agent_message", "b", [block("two")]));
      await turn.update(update("agent_message", "a", [block("o"), block("ne ")]));
      await turn.update(update("agent_message", "a"));
      await turn.update(update("agent_message_chunk", "b", block("!")));
    });
    const session = await peer.newSession("/w");
    const said = await session.prompt("x").readText();
    assert.equal(said, "one two!");
    const shown = session.view.entries.filter(({ role }) => role === "agent").map(({ text }) => text);
    assert.equal(shown.join(""), said);
  }));

test("prompts of the same work end together, each with its own message, whoever hears of it first", async (t) => {
  const coming = [];
  let more = later();
  const say = (message) => {
    coming.push(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    more.resolve();
  };
  let count = 0;
  const update = (members) => say({ method: "session/update", params: { sessionId: "s", update: members } });
  const answer = {
    initialize: () => ({ protocolVersion: 2, info: { name: "a", version: "1" }, capabilities: { session: {} } }),
    "session/new": () => ({ sessionId: "s" }),
    "session/prompt": () => ({ messageId: `m${(count += 1)}` }),
  };
  const transport = {
    readable: (async function* () {
      for (;;) {
        while (coming.length > 0) yield coming.shift();
        await more.promise;
        more = later();
      }
    })(),
    write(bytes) {
      for (const line of new TextDecoder().decode(bytes).trim().split("\n")) {
        const { id, method } = JSON.parse(line);
        say({ id, result: answer[method](id) });
        if (method !== "session/prompt") continue;
        update({ sessionUpdate: "user_message", messageId: `m${count}`, content: [] });
        if (count % 2 === 1) update({ sessionUpdate: "state_update", state: "running" });
        else update({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
      }
    },
    close() {},
  };
  const peer = await connect(transport, new Client("c", "1", { versions: [2] }), { grace: 50 });
  t.after(() => peer.close());
  const session = await peer.newSession("/work");
  const ended = [];
  const follow = async (turn, isIterated) => {
    if (isIterated) for await (const _ of turn);
    const { messageId, stopReason } = await (isIterated ? turn.result : turn);
    ended.push([messageId, stopReason]);
  };
  for (const iterated of [[true, true], [true, false], [false, true], [false, false]]) {
    ended.length = 0;
    const before = count;
    const first = follow(session.prompt("One"), iterated[0]);
    while (count === before) await new Promise((resolve) => setTimeout(resolve));
    await Promise.all([first, follow(session.prompt("Two"), iterated[1])]);
    assert.deepEqual(ended.sort(), [[`m${before + 1}`, "end_turn"], [`m${before + 2}`, "end_turn"]], `iterated: ${iterated}`);
  }
});
