// What makes hosts shorter: `_meta` of whatever a turn does, output while it is printed, what is known of a session.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { constants, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, all, clientSide, connect, folder, joined, later, pipes } from "./both.mjs";

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

test("a file is read from the client where it offers files, else from the disk", async (t) => {
  const there = join(folder, "read.txt");
  writeFileSync(there, "\ufeffzwölf\r\n");
  writeFileSync(join(folder, "latin.txt"), Buffer.from([0xe4, 0x0a]));
  const said = [];
  const handler = async (turn) => {
    for (const path of [there, join(folder, "latin.txt"), join(folder, "none.txt"), "read.txt", 5]) {
      said.push(await turn.readText(path).catch((error) => `${error.code ?? error.name}: ${error.message}`));
    }
  };
  const { session } = await joined(t, handler);
  await session.prompt("");
  assert.deepEqual(said.splice(0).map((text) => text.split(folder).join("…")), [
    "\ufeffzwölf\r\n",
    "TypeError: readText: …/latin.txt is not UTF-8 text",
    "ENOENT: ENOENT: no such file or directory, open '…/none.txt'",
    "TypeError: readText: expected an absolute path, found read.txt",
    "TypeError: readText: expected an absolute path, found 5",
  ]);
  const files = { readTextFile: (_, { path }) => `unsaved text of ${path}` };
  const other = await joined(t, async (turn) => void said.push(await turn.readText("/not/on/the/disk")), {
    client: new Client("c", "1", { files }),
  });
  await other.session.prompt("");
  assert.deepEqual(said, ["unsaved text of /not/on/the/disk"]);
});

test("a file that never ends is given up with the turn", { skip: process.platform === "win32" }, async (t) => {
  const pipe = join(folder, "read.pipe");
  execFileSync("mkfifo", [pipe]);
  // Opening a pipe waits for a writer; this one writes nothing.
  const writer = await open(pipe, constants.O_RDWR);
  t.after(() => writer.close());
  const begun = later();
  const ended = later();
  const { session } = await joined(t, async (turn) => {
    const reading = turn.readText(pipe);
    begun.resolve();
    await reading.catch((error) => ended.resolve(error.name));
  });
  const turn = session.prompt("");
  const done = turn.then(({ stopReason }) => stopReason);
  await begun.promise;
  await turn.cancel();
  assert.equal(await Promise.race([ended.promise, pause(3000, "it waits")]), "AbortError");
  assert.equal(await done, "cancelled");
  await writer.write("x");
});

test("a session has the meta of the request that opened it", async (t) => {
  const seen = {};
  const agent = new Agent("a", "1").prompt(() => {});
  agent.newSession((session) => void (seen.new = session.meta));
  agent.loadSession((session) => void (seen.load = session.meta));
  agent.resumeSession((session, params, how) => void (seen.resume = [session.meta, params.sessionId, typeof how.id]));
  const { peer } = await joined(t, undefined, { agent });
  const session = await peer.newSession("/work", { meta });
  await session.close();
  await peer.loadSession(session.id, "/work", { meta: { load: 1 } });
  await peer.sessions.get(session.id).close();
  await peer.resumeSession(session.id, "/work", { meta: { resume: 1 } });
  assert.deepEqual(seen, { new: meta, load: { load: 1 }, resume: [{ resume: 1 }, session.id, "number"] });
});

test("what an agent says of an extension is found by its name, and whether the connection is open", async (t) => {
  const agent = new Agent("a", "1", { capabilities: { _meta: { "example.com/fast": { speed: 3 } } } }).prompt(() => {});
  const sides = [];
  agent.newSession((session) => void sides.push(session.client));
  const client = new Client("c", "1", { capabilities: { _meta: { "example.com/slow": true } } });
  const { peer, served } = await joined(t, undefined, { agent, client });
  assert.deepEqual(peer.extension("example.com/fast"), { speed: 3 });
  assert.equal(peer.extension("example.com/slow"), undefined);
  assert.equal(sides[0].extension("example.com/slow"), true);
  assert.deepEqual([peer.open, sides[0].open], [true, true]);
  await peer.close();
  await served;
  assert.deepEqual([peer.open, sides[0].open], [false, false]);
});

test("notifications are updates with what came beside them, in prompts and in loads", async (t) => {
  const say = (session, text) => session.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }, { meta: { text } });
  const agent = new Agent("a", "1").prompt(async ({ session }) => {
    await say(session, "one");
    await say(session, "two");
  });
  agent.loadSession((session) => say(session, "before"));
  const heard = [];
  const client = new Client("c", "1", { onUpdate: (_, update) => heard.push(update.content.text) });
  const { peer, session } = await joined(t, undefined, { agent, client });
  const told = async (exchange) => {
    const found = [];
    for await (const { sessionId, update, _meta } of exchange.notifications()) found.push([sessionId, update.content.text, _meta]);
    return found;
  };
  assert.deepEqual(await told(session.prompt("")), [[session.id, "one", { text: "one" }], [session.id, "two", { text: "two" }]]);
  assert.deepEqual(await told(peer.loadSession(session.id, "/work")), [[session.id, "before", { text: "before" }]]);
  const left = session.prompt("");
  for await (const { update } of left.notifications()) {
    assert.equal(update.content.text, "one");
    break;
  }
  assert.throws(() => left.notifications(), /iterated over, or awaited, before/);
  await left._over.promise;
  assert.deepEqual(heard, ["two"]);
});
