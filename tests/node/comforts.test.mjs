// What makes hosts shorter: `_meta` of whatever a turn does, output while it is printed, what is known of a session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Client, all, clientSide, connect, joined, pipes } from "./both.mjs";

const { Terminals } = clientSide;
const meta = { trace: 1 };

test("meta goes out with all that a turn does", async (t) => {
  const seen = [];
  const keep = (answer) => (session, params) => {
    seen.push(params._meta);
    return answer;
  };
  const permission = (request) => {
    seen.push(request.meta);
    return { outcome: { outcome: "selected", optionId: request.allow() }, _meta: { back: 2 } };
  };
  const client = new Client("c", "1", {
    permission,
    files: { readTextFile: keep(""), writeTextFile: keep() },
    terminals: { create: keep("t"), output() {}, waitForExit() {}, kill() {}, release() {} },
  });
  const { session } = await joined(t, async (turn) => {
    await turn.message("a", { meta });
    await turn.thought("b", { meta });
    await turn.plan(["c"], { meta });
    const call = await turn.toolCall("d", { meta });
    seen.push((await call.askPermission(undefined, { meta })).meta);
    seen.push((await turn.askPermission(call, undefined, { meta })).allowed);
    seen.push((await turn.askPermission({ toolCallId: call.id }, undefined, { meta })).meta);
    await call.complete();
    await turn.readTextFile("/a", { meta });
    await turn.writeTextFile("/a", "", { meta });
    await turn.terminal("true", [], { meta }, () => {});
  }, { client });
  const updates = await all(session.prompt(""));
  assert.deepEqual(updates.map(({ _meta }) => _meta), [meta, meta, meta, meta, undefined]);
  const back = { back: 2 };
  assert.deepEqual(seen, [meta, back, meta, true, meta, back, meta, meta, meta]);
});

test("meta goes out with initialize", async (t) => {
  const heard = [];
  const [ours, theirs] = pipes();
  const agent = new Agent("a", "1").prompt(() => {}).on("initialize", (client, params) => void heard.push(params._meta));
  const served = agent.serve(theirs);
  const peer = await connect(ours, new Client(), { meta });
  t.after(() => served);
  await peer.close();
  assert.deepEqual(heard, [meta]);
});

test("output is followed while it is printed, also where its front is cut", { skip: process.platform === "win32" }, async (t) => {
  const ways = [
    ["for i in 1 2 3; do echo $i; sleep 0.2; done", {}, "1\n2\n3\n"],
    ["for i in 1 2 3 4; do printf %0300d $i; sleep 0.2; done", { outputByteLimit: 600 },
      [1, 2, 3, 4].map((number) => String(number).padStart(300, "0")).join("")],
  ];
  const pieces = [];
  const client = new Client("c", "1", { terminals: new Terminals() });
  const { peer } = await joined(t, async (turn) => {
    const [command, options] = ways[Number(turn.text)];
    await turn.terminal("sh", ["-c", command], options, async (terminal) => {
      for await (const piece of terminal.follow({ interval: 50 })) pieces.push(piece);
    });
  }, { client });
  const session = await peer.newSession(process.cwd());
  for (const [number, [, , expected]] of ways.entries()) {
    pieces.length = 0;
    await session.prompt(String(number));
    assert.equal(pieces.join(""), expected);
    assert.ok(pieces.length > 1);
  }
});

test("following ends when the turn is cancelled", async (t) => {
  const reasons = [];
  const client = new Client("c", "1", { terminals: new Terminals() });
  const { peer } = await joined(t, async (turn) => {
    const terminal = await turn.terminal("sleep", ["60"]);
    await turn.message("running");
    try {
      for await (const piece of terminal.follow({ interval: 60_000 })) assert.fail(piece);
    } catch (error) {
      reasons.push(error === turn.signal.reason);
    }
  }, { client });
  const turn = (await peer.newSession(process.cwd())).prompt("");
  for await (const update of turn) if (update.content) await turn.cancel();
  assert.deepEqual([turn.stopReason, reasons], ["cancelled", [true]]);
});

test("a session knows whether it is open, and what the other side was told", async (t) => {
  const seen = [];
  const agent = new Agent("a", "1").on("session/close", (session) => void seen.push(session.open));
  const { session } = await joined(t, async (turn) => {
    await turn.plan(["read"]);
    seen.push(turn.session.snapshot.plan.map(({ content }) => content));
  }, { agent });
  await session.prompt("");
  assert.equal(session.open, true);
  await session.close();
  assert.deepEqual([session.open, session.snapshot], [false, undefined]);
  assert.deepEqual(seen, [["read"], true]);
});
