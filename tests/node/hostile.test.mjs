// Peers that die, keep silent, break the rules or send too much; handlers that throw; copies of the package.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Agent, Client, agentSide, all, clientSide, connect, folder, joined, later, pipes, quiet, texts } from "./both.mjs";

const { AgentEnded, NoResult, childProcess, spawnAgent } = clientSide;
const { messagePort } = agentSide;
const { execPath } = process;

/** A program in the folder where the package is installed. */
function program(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return [execPath, path];
}

const AGENT = `
import { Agent } from "libacp/agent";
const agent = new Agent("child", "1");
agent.prompt(async (turn) => {
  console.log("this goes to standard error");
  await turn.message("one");
  if (turn.text === "die") process.exit(7);
  if (turn.text === "crash") process.kill(process.pid, "SIGKILL");
  if (turn.text === "hang") await new Promise(() => {});
  await turn.message("two");
});
await agent.serve();
`;

test("an agent in a process: a turn, its standard error, a clean end", async () => {
  const agent = await spawnAgent(program("child.mjs", AGENT), undefined, { stderr: "pipe" });
  let said = "";
  agent.process.stderr.on("data", (data) => (said += data));
  const session = await agent.newSession("/");
  assert.deepEqual(texts(await all(session.prompt("x"))), ["one", "two"]);
  await agent.close();
  assert.deepEqual([agent.process.exitCode, agent.process.signalCode], [0, null]);
  assert.equal(said, "this goes to standard error\n");
});

for (const [how, ending] of [["die", [7, null]], ["crash", [null, "SIGKILL"]]]) {
  test(`an agent that ends in the middle of a turn: ${how}`, async () => {
    const agent = await spawnAgent(program("child.mjs", AGENT), undefined, { stderr: "ignore" });
    const session = await agent.newSession("/");
    const updates = [];
    await assert.rejects(
      async () => {
        for await (const update of session.prompt(how)) updates.push(update);
      },
      (error) => {
        assert.ok(error instanceof AgentEnded && error instanceof NoResult);
        assert.deepEqual([error.exitCode, error.signal], ending);
        return true;
      },
    );
    assert.deepEqual(texts(updates), ["one"]);
    await assert.rejects(agent.newSession("/"), AgentEnded);
    await agent.close();
  });
}

test("an agent that does not end is helped, a program that is none is named", async () => {
  const stubborn = program("stubborn.mjs", `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);${AGENT}`);
  const agent = await spawnAgent(stubborn, undefined, { stderr: "ignore", grace: 100 });
  await agent.close();
  assert.equal(agent.process.signalCode, "SIGKILL");
  await assert.rejects(spawnAgent([join(folder, "no-such-program")]), { code: "ENOENT" });
  await assert.rejects(spawnAgent([execPath, "-e", "process.exit(3)"]), { exitCode: 3 });
});

test("an agent that never answers: a time-out, an abort, and its handler that hangs at the end", async (t) => {
  const silent = [execPath, "-e", "process.stdin.resume()"];
  await assert.rejects(spawnAgent(silent, undefined, { timeout: 50, grace: 100 }), { outcome: "timeout" });
  await assert.rejects(spawnAgent(silent, undefined, { signal: AbortSignal.timeout(50), grace: 100 }), { name: "TimeoutError" });
  const warned = quiet(t);
  const [ours, theirs] = pipes();
  const agent = new Agent("a", "1").prompt(() => new Promise(() => {}));
  const controller = new AbortController();
  const served = agent.serve(theirs, { signal: controller.signal });
  const peer = await connect(ours, undefined, { grace: 50 });
  const session = await peer.newSession("/");
  const turn = all(session.prompt("x"));
  const outcome = assert.rejects(turn, { outcome: "closed" });
  await pause(10);
  await peer.close();
  await outcome;
  controller.abort();
  await assert.rejects(served, { name: "AbortError" });
  assert.match(warned().join(), /handler does not end/);
});

test("handlers that throw, on either side, harm nobody else", async (t) => {
  const logged = quiet(t);
  const client = new Client("c", "1", {
    permission: () => {
      throw new Error("secret");
    },
    onUpdate: () => {
      throw new Error("also");
    },
  });
  const { session } = await joined(
    t,
    async (turn) => {
      const refused = await turn.toolCall("T", {}, (call) => call.askPermission()).catch((error) => error);
      await turn.message(`${refused.code} ${refused.error.message}`);
      if (turn.text === "throw") throw new Error("mine");
    },
    { client },
  );
  const turn = session.prompt("throw");
  const updates = [];
  await assert.rejects(async () => {
    for await (const update of turn) updates.push(update);
  }, { code: -32603, message: "session/prompt: Internal error (-32603)" });
  assert.deepEqual(texts(updates), ["-32603 Internal error"]);
  await session.prompt("x");
  assert.equal(logged().length, 6);
});

test("an agent that breaks the rules is reported, without what it sent", async (t) => {
  const warned = quiet(t);
  const violations = [];
  const [ours, theirs] = pipes();
  const client = new Client("c", "1", { onViolation: (violation) => violations.push(violation) });
  const said = (text) => theirs.write(new TextEncoder().encode(`${text}\n`));
  const asked = connect(ours, client, { timeout: 1000, grace: 50 });
  await said("secret, and no JSON");
  await said('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}');
  const peer = await asked;
  await said('{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"x","path":"/etc/passwd"}}');
  while (violations.length < 2) await pause(1);
  assert.ok(violations.every(({ rule, severity }) => /^[A-Z]+-\d+$/.test(rule) && severity === "error"));
  assert.ok(warned().length >= 2);
  assert.ok(!/secret/.test(warned().join()));
  await peer.close();
});

test("a peer that sends more than is read is cut off where it cannot be held back", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const asked = connect(messagePort(port1, { most: 1000 }), undefined, { timeout: 2000, grace: 50 });
  port2.postMessage(new Uint8Array(1001).fill(32));
  await assert.rejects(asked, (error) => {
    assert.equal(error.outcome, "closed");
    assert.match(error.cause.message, /1000 bytes/);
    return true;
  });
});

test("terminals of a turn are released: after an error, at the end, and when it is cancelled while one is made", async (t) => {
  const [released, creating, made] = [[], later(), later()];
  let count = 0;
  const terminals = {
    create: async (session, { command }) => {
      if (command === "slow") {
        creating.resolve();
        await made.promise;
      }
      return `t${(count += 1)}`;
    },
    waitForExit: () => new Promise(() => {}),
    release: (session, id) => void released.push(id),
  };
  const { session, peer } = await joined(
    t,
    async (turn) => {
      await turn.terminal("a", [], {}, () => Promise.reject(new Error("x"))).catch(() => {});
      const kept = await turn.terminal("b");
      await turn.toolCall("T", {}, (call) => call.show(kept));
      await kept.close();
      assert.throws(() => kept.wait(), TypeError);
      await turn.terminal("c");
      if (turn.text === "slow") await turn.terminal("slow");
    },
    { client: new Client("c", "1", { terminals }) },
  );
  await all(session.prompt("x"));
  assert.deepEqual(released, ["t1", "t2", "t3"]);
  const turn = session.prompt("slow");
  const updates = all(turn);
  await creating.promise;
  await turn.cancel();
  await pause(5);
  made.resolve();
  await updates;
  assert.equal(turn.stopReason, "cancelled");
  assert.deepEqual(released.slice(3).sort(), ["t4", "t5", "t6", "t7"]);
  assert.deepEqual(peer.connection.openTerminals(), []);
});

test("a transport that fails while it is written to ends what waits", async (t) => {
  const ends = pipes();
  const { peer } = await joined(t, () => {}, { ends, agent: new Agent("a", "1").on("_never", () => new Promise(() => {})) });
  const waiting = assert.rejects(peer.request("_never"), { outcome: "closed" });
  await pause(5);
  ends[0].write = () => Promise.reject(new Error("broken"));
  await assert.rejects(peer.request("_x"), (error) => error.outcome === "closed" && error.cause.message === "broken");
  await waiting;
});

test("two copies of the package understand each other's errors and values", async () => {
  const copy = join(folder, "node_modules/libacp-copy");
  cpSync(join(folder, "node_modules/libacp"), copy, { recursive: true, dereference: true });
  const other = await import(pathToFileURL(join(copy, "dist/agent.node.js")).href);
  const index = await import(pathToFileURL(join(copy, "dist/node.js")).href);
  assert.notEqual(other.RequestError, agentSide.RequestError);
  const agent = new Agent("a", "1").on("_own", () => {
    throw new other.RequestError(-5, "theirs");
  });
  const [ours, theirs] = pipes();
  const served = agent.serve(theirs);
  const peer = await connect(ours, undefined, { grace: 100 });
  await assert.rejects(peer.request("_own", index.raw('{"big":12345678901234567890}')), { code: -5, message: "_own: theirs (-5)" });
  const misuse = peer.whyNot("session/load");
  assert.ok(misuse instanceof index.Misuse && misuse instanceof index.CapabilityMisuse && !(misuse instanceof index.IdMisuse));
  await peer.close();
  await served;
});

test("a program ends by itself once all is closed", () => {
  const [, path] = program("whole.mjs", `
    import { spawnAgent } from "libacp/client";
    const agent = await spawnAgent([process.execPath, ${JSON.stringify(join(folder, "child.mjs"))}], undefined, { stderr: "ignore" });
    const session = await agent.newSession("/");
    for await (const update of session.prompt("x")) console.log(update.content.text);
    await agent.close();`);
  assert.equal(execFileSync(execPath, [path], { encoding: "utf8", timeout: 10_000 }), "one\ntwo\n");
});

test("a child process of the host's own is a transport", async () => {
  const [command, ...args] = program("child.mjs", AGENT);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const agent = await connect(childProcess(child));
  assert.equal(agent.info.name, "child");
  await agent.close();
  assert.equal(child.exitCode, 0);
  assert.throws(() => childProcess({ stdin: null, stdout: null }), TypeError);
});
