// What an agent's author leaves alone: promises that nobody awaits, prompts that nobody begins.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, all, clientSide, connect, folder, joined, later, pipes, texts } from "./both.mjs";

const { spawnAgent } = clientSide;

test("a callback that awaits nothing does not end the agent when the client cancels", async (t) => {
  const program = join(folder, "callbacks.mjs");
  writeFileSync(program, `
import { Agent } from "libacp/agent";
await new Agent("callbacks")
  .prompt(async (turn) => {
    if (turn.text === "after") return turn.message("alive");
    const tool = await turn.toolCall("T");
    const timer = setInterval(() => {
      turn.message("more");
      turn.thought("more");
      turn.plan(["more"]);
      turn.update({ sessionUpdate: "session_info_update", title: "more" });
      tool.text("more");
      tool.update({ title: "more" });
      turn.readTextFile("/x").catch(() => {});
    }, 1);
    await new Promise((resolve) => turn.signal.addEventListener("abort", () => setTimeout(resolve, 50)));
    clearInterval(timer);
  })
  .serve();
`);
  const agent = await spawnAgent([process.execPath, program], new Client());
  t.after(() => agent.close());
  const session = await agent.newSession(folder);
  const turn = session.prompt("go");
  for await (const _ of turn) await turn.cancel();
  assert.equal(turn.stopReason, "cancelled");
  assert.deepEqual(texts(await all(session.prompt("after"))), ["alive"]);
});

test("a misuse that nobody awaits is heard of", async () => {
  const program = join(folder, "misused.mjs");
  writeFileSync(program, `
import { Agent, streams } from "libacp/agent";
import { connect } from "libacp/client";
const [there, back] = [new TransformStream(), new TransformStream()];
process.on("unhandledRejection", (error) => {
  console.log(error.name);
  process.exit(0);
});
new Agent("a").prompt(async (turn) => {
  turn.update({ sessionUpdate: "plan", entries: 5 });
  await new Promise((resolve) => setTimeout(resolve, 5000));
}).serve(streams(there.readable, back.writable));
const agent = await connect(streams(back.readable, there.writable));
await (await agent.newSession("/")).prompt("x");
`);
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await once(child.stdout, "data");
  assert.equal(String(said).trim(), "ParamsMisuse");
  await once(child, "exit");
});

test("a prompt that is neither awaited nor iterated over is pointed out", async (t) => {
  const said = later();
  const client = new Client("c", "1", { log: (level, text) => said.resolve(`${level} ${text}`) });
  const { session } = await joined(t, () => {}, { client });
  session.prompt("x");
  // The library's own timer keeps nothing alive.
  const alive = setTimeout(() => {}, 10_000);
  assert.match(await said.promise, /^warn .*session\/prompt.*neither awaited nor iterated/);
  clearTimeout(alive);
});

test("the line of the caller is the first of a misuse's stack", async (t) => {
  const { session } = await joined(t, async (turn) => {
    const stacks = [];
    for (const wrong of [() => turn.message(42), () => turn.update({ sessionUpdate: "pln" }), () => turn.toolCall("T", { kind: "no" })]) {
      await wrong().catch((error) => stacks.push(error.stack.split("\n").find((line) => /^\s+at /.test(line))));
    }
    await turn.message(JSON.stringify(stacks));
  });
  const [text] = texts(await all(session.prompt("x")));
  for (const line of JSON.parse(text)) assert.match(line, /left\.test\.mjs:\d+/);
  assert.equal(JSON.parse(text).length, 3);
});

test("the console can be silenced, and lines go where the host wants them", async (t) => {
  const written = t.mock.method(console, "error", () => {});
  const lines = [];
  for (const log of [false, (level, text) => lines.push([level, text])]) {
    const agent = new Agent("a", "1", { log }).prompt(() => {
      throw new Error("broken");
    });
    const { session } = await joined(t, undefined, { agent });
    await assert.rejects(Promise.resolve(session.prompt("x")), { code: -32603 });
  }
  assert.equal(written.mock.callCount(), 0);
  assert.equal(lines.length, 1);
  assert.equal(lines[0][0], "error");
  assert.match(lines[0][1], /session\/prompt.*broken/s);
});

test("an end of a session is told once on each side, whatever ends it", async (t) => {
  const ended = { agent: [], client: [] };
  const agent = new Agent("a", "1", { onSessionEnd: (session) => ended.agent.push(session.id) }).prompt(() => {});
  const client = new Client("c", "1", { onSessionEnd: (session) => ended.client.push(session.id) });
  const { peer, served, session } = await joined(t, undefined, { agent, client });
  const other = await peer.newSession("/work");
  await session.close();
  await peer.close();
  await served;
  await pause(10);
  assert.deepEqual(ended, { agent: [session.id, other.id], client: [session.id, other.id] });
});

test("what is wrong is said when it is given", async (t) => {
  const refused = [
    [() => new Agent("a").on("session/setmode", () => {}), /session\/setmode.*did you mean session\/set_mode/],
    [() => new Agent("a").on("fs/read_text_file", () => {}), /sent by agents: its handler belongs to the client/],
    [() => new Agent("a").prompt(() => {}).prompt(() => {}), /session\/prompt has a handler already/],
    [() => new Agent("a").prompt(async function* prompt() {}), /generator/],
    [() => new Agent("a").prompt("no"), /expected a function as its handler, found string/],
    [() => new Agent("a", "1", { polcy: "strict" }), /polcy: no such option.*did you mean policy/],
    [() => new Agent("a", "1", { onError: 5 }), /onError: expected a function, found number/],
    [() => new Client("a", "1", { log: "no" }), /log: expected a function/],
    [() => new Client("a", "1", { permission: "no" }), /permission: expected a function/],
  ];
  for (const [give, expected] of refused) assert.throws(give, expected);
  await assert.rejects(spawnAgent("node agent.mjs"), /expected a list of the program and its arguments, found string/);
  await assert.rejects(spawnAgent(["node"], new Client(), { stdrr: "pipe" }), /stdrr.*did you mean stderr/);
  const { session } = await joined(t, async (turn) => {
    const error = await turn.terminal("echo", "-l").catch((error) => error);
    await turn.message(error.message);
  });
  assert.match((await session.prompt("x").readText()), /expected a list as the arguments, found string/);
});

test("a request for permission has the title of the tool call that is known", async (t) => {
  const titles = [];
  const client = new Client("c", "1", { permission: (request) => void titles.push([request.title, request.toolCall.title]) });
  const { session } = await joined(t, async (turn) => {
    const call = await turn.toolCall("Delete everything", { status: "pending" });
    await turn.askPermission({ toolCallId: call.id });
  }, { client });
  await session.prompt("x");
  assert.deepEqual(titles, [["Delete everything", undefined]]);
});

test("a call that nobody waits for ends no program, whenever the turn is cancelled", async () => {
  const unheard = [];
  const hear = (error) => unheard.push(error);
  process.on("unhandledRejection", hear);
  try {
    // The cancel comes while the promise of what was said is on its way through so many others.
    for (let late = 0; late < 12; late += 1) {
      const coming = [];
      let more;
      const say = (message) => {
        coming.push(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
        more?.();
      };
      const transport = {
        readable: {
          async *[Symbol.asyncIterator]() {
            for (;;) {
              while (coming.length > 0) yield coming.shift();
              await new Promise((resolve) => (more = resolve));
            }
          },
        },
        write(bytes) {
          const text = Buffer.from(bytes).toString();
          if (text.includes('"id":0')) say({ id: 1, method: "session/new", params: { cwd: "/", mcpServers: [] } });
          else if (text.includes('"id":1')) say({ id: 2, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
          else if (text.includes("agent_message_chunk")) wait(late).then(() => say({ method: "session/cancel", params: { sessionId: "s" } }));
        },
        close() {},
      };
      const wait = async (ticks) => {
        for (let tick = 0; tick < ticks; tick += 1) await undefined;
      };
      const over = new AbortController();
      const ended = later();
      const agent = new Agent("a", "1", { log: false }).newSession(() => ({ sessionId: "s" })).prompt(async (turn) => {
        turn.message("x");
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
        ended.resolve();
      });
      const served = agent.serve(transport, { signal: over.signal }).catch(() => {});
      say({ id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
      await ended.promise;
      await pause(5);
      over.abort();
      await served;
    }
  } finally {
    process.off("unhandledRejection", hear);
  }
  assert.deepEqual(unheard, []);
});

test("sessions end with their connection, on both sides, and a call about them says that it is over", async (t) => {
  const heard = [];
  const onSessionEnd = (side) => (session) => void heard.push([side, session.open]);
  const ends = pipes();
  const agent = new Agent("a", "1", { onSessionEnd: onSessionEnd("agent") });
  const client = new Client("c", "1", { onSessionEnd: onSessionEnd("client") });
  const stop = new AbortController();
  agent.prompt((turn) => turn.message("here"));
  const served = agent.serve(ends[1], { signal: stop.signal });
  const peer = await connect(ends[0], client, { grace: 200 });
  t.after(() => peer.close());
  const [one, two] = [await peer.newSession("/one"), await peer.newSession("/two")];
  assert.equal(await one.prompt("x").readText(), "here");
  stop.abort();
  await assert.rejects(served);
  while (peer.connection.phase !== "closed") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(heard, [["client", false], ["client", false], ["agent", false], ["agent", false]]);
  assert.deepEqual([one.open, two.open, peer.sessions.size], [false, false, 0]);
  await assert.rejects(async () => one.prompt("x"), { name: "NoResult", outcome: "closed" });
  await peer.close();
  assert.equal(heard.length, 4);
});

test("what follows the answer that opens a session is told before the call goes on, about that session", async (t) => {
  const heard = [];
  const client = new Client("c", "1", { onUpdate: (session, { title }) => heard.push([session, title]) });
  const agent = new Agent("a", "1").newSession((session) => session.update({ sessionUpdate: "session_info_update", title: "T" }));
  const { peer } = await joined(t, () => {}, { client, agent });
  heard.length = 0;
  const session = await peer.newSession("/work");
  assert.equal(heard.length, 1);
  assert.deepEqual([heard[0][0] === session, heard[0][1]], [true, "T"]);
});

test("an agent that is to start in a directory that is not there fails for that", async () => {
  const cwd = join(folder, "nowhere");
  const here = [process.execPath, "--version"];
  await assert.rejects(spawnAgent(here, new Client(), { cwd }), { code: "ENOENT", message: `spawnAgent: cwd: there is no directory ${cwd}` });
  await assert.rejects(spawnAgent(["no-such-program"], new Client()), /spawn no-such-program ENOENT/);
});

test("what a loop leaves behind is told in order, also where more was held back", async (t) => {
  const heard = [];
  const client = new Client("c", "1", { onUpdate: (_, { content }) => heard.push(content.text) });
  const [ours, theirs] = pipes();
  const said = (...messages) => theirs.write(new TextEncoder().encode(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")));
  const asked = connect(ours, client, { grace: 50 });
  await said({ id: 1, result: { protocolVersion: 1, agentCapabilities: {} } });
  const peer = await asked;
  t.after(() => peer.close());
  const opened = peer.newSession("/work");
  await said({ id: 2, result: { sessionId: "s" } });
  const turn = (await opened).prompt("x");
  // They come at once, and more of them than may wait.
  const numbers = Array.from({ length: 600 }, (_, index) => String(index));
  const updates = numbers.map((text) => ({
    method: "session/update",
    params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
  }));
  const iterator = turn[Symbol.asyncIterator]();
  const first = iterator.next();
  await said(...updates);
  assert.equal((await first).value.content.text, "0");
  await iterator.return();
  while (heard.length < 599) await pause(1);
  assert.deepEqual(heard, numbers.slice(1));
});
