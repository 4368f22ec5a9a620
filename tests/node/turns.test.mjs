// Whole turns of the high level, from both sides.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, RequestError, all, clientSide, agentSide, connect, joined, later, pipes, quiet, texts } from "./both.mjs";

const { PeerError, NoResult, CapabilityMisuse, ParamsMisuse, allowAll } = clientSide;
const { messagePort } = agentSide;

test("a turn says what it does, in order", async (t) => {
  const { session } = await joined(t, async (turn) => {
    await turn.thought("hm");
    await turn.message(`you said ${turn.text}`, { messageId: "m" });
    await turn.message({ type: "text", text: "!" });
    await turn.plan(["read", { content: "write", priority: "high", status: "completed" }]);
    await turn.toolCall("Look", { kind: "read", locations: ["/x"], rawInput: { a: 1 } }, async (call) => {
      await call.text("one");
      await call.diff("/x", "new", "old");
      await call.complete({ rawOutput: 2 });
    });
    return "max_tokens";
  });
  const turn = session.prompt(["a", { type: "text", text: "b" }]);
  const updates = await all(turn);
  const id = updates[4].toolCallId;
  const one = { type: "content", content: { type: "text", text: "one" } };
  const call = { sessionUpdate: "tool_call_update", toolCallId: id };
  assert.deepEqual(updates, [
    { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "you said ab" }, messageId: "m" },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "!" } },
    {
      sessionUpdate: "plan",
      entries: [
        { content: "read", priority: "medium", status: "pending" },
        { content: "write", priority: "high", status: "completed" },
      ],
    },
    {
      sessionUpdate: "tool_call", toolCallId: id, title: "Look", status: "in_progress",
      kind: "read", locations: [{ path: "/x" }], rawInput: { a: 1 },
    },
    { ...call, content: [one] },
    { ...call, content: [one, { type: "diff", path: "/x", newText: "new", oldText: "old" }] },
    { ...call, status: "completed", rawOutput: 2 },
  ]);
  assert.equal(turn.stopReason, "max_tokens");
  assert.deepEqual(turn.result, { stopReason: "max_tokens" });
});

test("a turn that is awaited gives its updates to onUpdate", async (t) => {
  const seen = [];
  const client = new Client("c", "1", { onUpdate: (session, update) => seen.push([session.id, update.content.text]) });
  const { session } = await joined(t, (turn) => turn.message("hi"), { client });
  assert.deepEqual(await session.prompt("x"), { stopReason: "end_turn" });
  assert.deepEqual(seen, [[session.id, "hi"]]);
});

test("the end of a tool call: as it went, or as it was refused", async (t) => {
  let allow = true;
  const permission = (request) => (allow ? request.allow() : request.reject());
  const answers = [];
  const { session } = await joined(
    t,
    async (turn) => {
      await turn.toolCall("done", {}, () => {});
      await turn.toolCall("broken", {}, () => Promise.reject(new Error("no"))).catch(() => {});
      const left = await turn.toolCall("left");
      await left.close();
      await left.close();
      for (allow of [true, false]) {
        await turn.toolCall("asked", { status: "pending" }, async (call) => answers.push(await call.askPermission()));
      }
    },
    { client: new Client("c", "1", { permission }) },
  );
  const updates = await all(session.prompt("x"));
  const told = updates.map(({ title, status }) => title ?? status);
  assert.deepEqual(told, [
    "done", "completed", "broken", "failed", "left", "failed", "asked", "in_progress", "completed", "asked", "failed",
  ]);
  assert.deepEqual(answers.map(({ optionId, kind, allowed }) => [optionId, kind, allowed]), [
    ["allow", "allow_once", true],
    ["reject", "reject_once", false],
  ]);
});

test("what the client does not offer is a misuse, and the turn can go on", async (t) => {
  const { session } = await joined(t, async (turn) => {
    const error = await turn.readTextFile("/x").catch((error) => error);
    await turn.message(`${error instanceof CapabilityMisuse} ${error.rule} ${error.kind}`);
    const other = await turn.update({ sessionUpdate: "plan", entries: 5 }).catch((error) => error);
    await turn.message(`${other instanceof ParamsMisuse} ${other.pointer}`);
  });
  const [first, second] = texts(await all(session.prompt("x")));
  assert.match(first, /^true [A-Z]+-\d+ capability$/);
  assert.equal(second, "true /update/entries");
});

test("an error of a handler's own arrives as it is, any other one without detail", async (t) => {
  const logged = quiet(t);
  const agent = new Agent("a", "1")
    .on("_own", (subject, params) => {
      if (params.own) throw new RequestError(-32002, "gone", { path: "/x" });
      throw new Error("secret");
    });
  const { peer } = await joined(t, () => {}, { agent });
  await assert.rejects(peer.request("_own", { own: true }), (error) => {
    assert.ok(error instanceof PeerError);
    assert.deepEqual([error.code, error.error.message, error.data], [-32002, "gone", { path: "/x" }]);
    return true;
  });
  await assert.rejects(peer.request("_own"), { code: -32603, message: "_own: Internal error (-32603)", data: undefined });
  await assert.rejects(peer.request("_none"), { code: -32601 });
  assert.equal(logged().length, 1);
});

test("cancelling a turn aborts its signal, and the answer is cancelled", async (t) => {
  const [begun, reasons] = [later(), []];
  const { session } = await joined(t, async (turn) => {
    begun.resolve();
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    reasons.push(turn.cancelled, turn.signal.reason.name, await turn.message("late").catch((error) => error.name));
    await turn.session.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "bye" } });
    return "end_turn";
  });
  const turn = session.prompt("x");
  const updates = all(turn);
  await begun.promise;
  await turn.cancel();
  assert.deepEqual(texts(await updates), ["bye"]);
  assert.equal(turn.stopReason, "cancelled");
  assert.deepEqual(reasons, [true, "AbortError", "AbortError"]);
});

test("leaving a loop cancels the turn, and the next prompt waits for its end", async (t) => {
  const ends = [];
  const { session } = await joined(t, async (turn) => {
    try {
      for (let index = 0; turn.text === "first"; index += 1) await turn.message(String(index));
      await turn.message(turn.text);
    } finally {
      await pause(20);
      ends.push(turn.text);
    }
  });
  for await (const update of session.prompt("first")) if (update.content.text === "3") break;
  assert.deepEqual(texts(await all(session.prompt("second"))), ["second"]);
  assert.deepEqual(ends, ["first", "second"]);
});

test("an abort of the prompt's signal, at each place where one can wait", async (t) => {
  const { session } = await joined(t, async (turn) => {
    await turn.message("a");
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  });
  const aborted = { name: "AbortError" };
  await assert.rejects(all(session.prompt("x", { signal: AbortSignal.abort() })), aborted);
  for (const wait of [0, 1, 5, 20]) {
    const controller = new AbortController();
    const turn = session.prompt("x", { signal: controller.signal });
    const awaited = wait % 2 === 0 ? all(turn) : Promise.resolve(turn);
    setTimeout(() => controller.abort(), wait);
    await assert.rejects(awaited, aborted);
  }
  const controller = new AbortController();
  const turn = session.prompt("x", { signal: controller.signal });
  await assert.rejects(async () => {
    for await (const update of turn) controller.abort(update.reason);
  }, aborted);
  // The session is as good as new.
  const last = session.prompt("x");
  for await (const _ of last) await last.cancel();
  assert.equal(last.stopReason, "cancelled");
});

test("a permission request that waits when the turn is cancelled is answered, and its handler hears of it", async (t) => {
  const asked = later();
  const permission = ({ signal }) => {
    asked.resolve(signal);
    return new Promise(() => {});
  };
  const { session } = await joined(
    t,
    (turn) => turn.toolCall("T", { status: "pending" }, (call) => call.askPermission()),
    { client: new Client("c", "1", { permission }) },
  );
  const turn = session.prompt("x");
  const updates = all(turn);
  const signal = await asked.promise;
  await turn.cancel();
  assert.deepEqual((await updates).map(({ status }) => status), ["pending", "failed"]);
  assert.equal(turn.stopReason, "cancelled");
  assert.equal(signal.aborted, true);
});

test("requests can be cancelled and time out, on both sides", async (t) => {
  const seen = later();
  const agent = new Agent("a", "1").on("_slow", (subject, params, { signal }) => {
    seen.resolve(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const { peer } = await joined(t, () => {}, { agent });
  const controller = new AbortController();
  const asked = peer.request("_slow", {}, { signal: controller.signal });
  const theirs = await seen.promise;
  controller.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  while (!theirs.aborted) await pause(1);
  await assert.rejects(peer.request("_slow", {}, { timeout: 20 }), (error) => {
    assert.ok(error instanceof NoResult);
    assert.deepEqual([error.outcome, error.method], ["timeout", "_slow"]);
    return true;
  });
});

test("sessions are opened, loaded with a replay, resumed, listed in pages, closed and deleted", async (t) => {
  const log = [];
  const agent = new Agent("a", "1", { title: "A" })
    .newSession((session) => {
      session.data = session.roots;
      return { sessionId: `s-${session.cwd}`, modes: { currentModeId: "m", availableModes: [{ id: "m", name: "M" }, { id: "n", name: "N" }] } };
    })
    .loadSession(async (session) => {
      for (const text of ["one", "two"]) {
        await session.update({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
      }
    })
    .on("session/resume", () => {})
    .on("session/list", (client, { cursor }) =>
      cursor === "2" ? { sessions: [{ sessionId: "b", cwd: "/b" }] } : { sessions: [{ sessionId: "a", cwd: "/a" }], nextCursor: "2" })
    .on("session/close", (session) => void log.push(["close", session.id]))
    .on("session/delete", (client, { sessionId }) => void log.push(["delete", sessionId]))
    .on("session/set_mode", (session, { modeId }) => void log.push(["mode", session.data, modeId]));
  const { peer } = await joined(t, () => {}, { agent });
  assert.deepEqual(peer.info, { name: "a", version: "1", title: "A" });
  assert.equal(peer.capabilities.loadSession, true);
  const session = await peer.newSession("/c", { additionalDirectories: [] });
  assert.deepEqual([session.id, session.roots, session.result.modes.currentModeId], ["s-/c", ["/c"], "m"]);
  await session.setMode("n");
  const loading = peer.loadSession("old", "/old");
  assert.deepEqual(texts(await all(loading)), ["one", "two"]);
  assert.equal(peer.sessions.get("old").cwd, "/old");
  assert.equal((await peer.loadSession("older", "/old")).id, "older");
  assert.equal((await peer.resumeSession("oldest", "/old")).id, "oldest");
  const infos = [];
  for await (const info of peer.listSessions()) infos.push(info.sessionId);
  assert.deepEqual(infos, ["a", "b"]);
  await session.close();
  await peer.deleteSession("b");
  assert.deepEqual(log, [["mode", ["/c"], "n"], ["close", "s-/c"], ["delete", "b"]]);
  assert.equal(peer.sessions.has("s-/c"), false);
});

test("many sessions run at once, each with its own updates", async (t) => {
  const { peer, session } = await joined(t, async (turn) => {
    for (let index = 0; index < 20; index += 1) {
      await turn.message(turn.text);
      await pause(0);
    }
  });
  const sessions = [session, await peer.newSession("/a"), await peer.newSession("/b")];
  const said = await Promise.all(sessions.map(async (each, index) => texts(await all(each.prompt(String(index))))));
  assert.deepEqual(said, [0, 1, 2].map((index) => Array(20).fill(String(index))));
});

test("a client that does not read holds the agent back", async (t) => {
  let sent = 0;
  const { session, peer } = await joined(t, async (turn) => {
    for (; sent < 5000; sent += 1) await turn.message("x".repeat(1000));
  });
  let taken = 0;
  for await (const _ of session.prompt("x")) {
    taken += 1;
    if (taken !== 1) continue;
    for (let before = -1; before !== sent; await pause(200)) before = sent;
    assert.ok(sent < 2500, `${sent} were sent to a client that took one`);
    // A question in the loop has an answer all the same, although updates stand before it.
    await assert.rejects(peer.request("_none"), { code: -32601 });
  }
  assert.equal(taken, 5000);
});

test("what is told while the transport is busy goes out together, in order and not without end", async (t) => {
  const ends = pipes();
  const sizes = [];
  const { write } = ends[1];
  ends[1].write = async (bytes) => {
    sizes.push(bytes.length);
    await pause(1);
    await write(bytes);
  };
  const { session } = await joined(t, async (turn) => {
    for (let index = 0; index < 2000; index += 1) await turn.message(String(index));
  }, { ends });
  const said = texts(await all(session.prompt("x")));
  assert.deepEqual(said, Array.from({ length: 2000 }, (_, index) => String(index)));
  assert.ok(sizes.length < 100, `${sizes.length} writes`);
  // 64 KiB, and the message that goes beyond.
  assert.ok(Math.max(...sizes) < 66_000, `${Math.max(...sizes)} bytes at once`);
});

test("over message ports, whole messages cross", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const ends = [messagePort(port1), messagePort(port2)];
  const { session } = await joined(t, (turn) => turn.message("🦀".repeat(10_000)), { ends });
  assert.deepEqual(texts(await all(session.prompt("x"))), ["🦀".repeat(10_000)]);
});

test("several agents and clients in one program, and what comes after the end", async (t) => {
  const agent = new Agent("a", "1").prompt((turn) => turn.message(turn.session.cwd));
  const one = await joined(t, undefined, { agent });
  const two = await joined(t, undefined, { agent });
  assert.notEqual(one.session.id, two.session.id);
  await one.peer.close();
  await one.peer.close();
  await one.served;
  await assert.rejects(one.peer.request("session/list"), { name: "NoResult", outcome: "closed" });
  await assert.rejects(all(one.session.prompt("x")), { name: "NoResult", outcome: "closed" });
  assert.deepEqual(texts(await all(two.session.prompt("x"))), ["/work"]);
});

test("what cannot be a transport, a handler or an option is named", async () => {
  await assert.rejects(connect({}), TypeError);
  await assert.rejects(new Agent("a").serve({ readable: [] }), TypeError);
  assert.throws(() => new Agent("a").prompt("no"), /function/);
  assert.throws(() => new Agent("a", "1", { permission: allowAll }), /permission/);
  assert.throws(() => new Client("a", "1", { authMethods: [] }), /authMethods/);
  assert.throws(() => new Client("c", "1", { policy: "lax" }), /policy/);
});

test("chunks are merged while the client is slow to read, if the agent wants that", async (t) => {
  for (const mergeChunks of [false, true]) {
    const agent = new Agent("a", "1", { mergeChunks });
    const { session } = await joined(
      t,
      async (turn) => {
        for (let number = 0; number < 2000; number += 1) await turn.message(`${number} `);
      },
      { agent },
    );
    let [count, text] = [0, ""];
    for await (const { content } of session.prompt("?")) {
      [count, text] = [count + 1, text + content.text];
      if (count === 10) await pause(20);
    }
    assert.equal(text, Array.from({ length: 2000 }, (_, number) => `${number} `).join(""));
    assert.ok(mergeChunks ? count < 1000 : count === 2000, `${count} chunks`);
  }
});
