// The recipe of a server: many clients in one process, some of which go without a word.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { Client, clientSide, connect, folder } from "./both.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// Milliseconds between two looks at who is still there: none in most tests.
const NEVER = 600_000;
const ROUND = 2000;

// The program as the book has it, beside the packages that it needs.
const program = join(folder, "server.mjs");
copyFileSync(here("../../docs/snippets/node/server.mjs"), program);
symlinkSync(here("node_modules/ws"), join(folder, "node_modules/ws"));
// Tells how much memory is in use when it is asked, and ends with whoever asks.
const meter = join(folder, "meter.mjs");
writeFileSync(meter, `
import { setTimeout as pause } from "node:timers/promises";
process.on("disconnect", () => process.exit());
process.on("message", async () => {
  // What is collected may let go of more.
  for (let round = 0; round < 3; round += 1) {
    gc();
    await pause(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send(heapUsed + external);
});
`);

async function started(t, round = NEVER) {
  const env = { ...process.env, PORT: "0", ROUND: String(round), PAGES: "http://page.example" };
  const stdio = ["ignore", "pipe", "pipe", "ipc"];
  const child = spawn(process.execPath, ["--expose-gc", "--import", meter, program], { env, stdio });
  const complaints = [];
  createInterface({ input: child.stderr }).on("line", (line) => complaints.push(line));
  t.after(async () => {
    child.kill();
    await once(child, "exit");
  });
  const [port] = await once(createInterface({ input: child.stdout }), "line");
  const memory = async () => {
    child.send("memory");
    return (await once(child, "message"))[0];
  };
  return { address: `ws://127.0.0.1:${port}`, complaints, memory };
}

/** A client with a session. */
async function visitor(address, options) {
  const socket = new WebSocket(address, options);
  const agent = await connect(clientSide.webSocket(socket), new Client(), { grace: 200 });
  const session = await agent.newSession("/");
  return { socket, agent, session, say: (text) => session.prompt(text).readText() };
}

test("two clients at once have sessions of their own", async (t) => {
  const { address, complaints } = await started(t);
  const [one, other] = await Promise.all([visitor(address), visitor(address)]);
  assert.deepEqual(await Promise.all([one.say("a"), other.say("b")]), ["1: a", "1: b"]);
  assert.equal(await one.say("c"), "2: c");
  await one.agent.close();
  assert.equal(await other.say("d"), "2: d");
  await other.agent.close();
  assert.deepEqual(complaints, []);
});

test("a client that drops takes nobody with it, also one that goes without a word", async (t) => {
  const { address, complaints } = await started(t, ROUND);
  const stays = await visitor(address);
  const drops = await visitor(address);
  drops.socket.terminate();
  await drops.agent.closed;
  const silent = await visitor(address, { autoPong: false });
  await silent.agent.closed;
  await pause(ROUND);
  assert.equal(await stays.say("still here"), "1: still here");
  await Promise.all([stays, drops, silent].map(({ agent }) => agent.close()));
  assert.deepEqual(complaints, []);
});

test("what dead sessions have kept is given back", async (t) => {
  const { address, memory, complaints } = await started(t);
  const text = "x".repeat(1 << 18);
  const visit = async () => {
    const { socket, agent, say } = await visitor(address);
    for (let turn = 0; turn < 2; turn += 1) await say(text);
    socket.terminate();
    await agent.closed;
  };
  // The first ones make the place that all of them use.
  for (let round = 0; round < 2; round += 1) await visit();
  const before = await memory();
  for (let round = 0; round < 12; round += 1) await visit();
  const grown = (await memory()) - before;
  assert.ok(grown < 3 << 20, `${grown >> 10} KiB more after 12 clients, each of whom left 512 KiB`);
  assert.deepEqual(complaints, []);
});

test("a page that is not named cannot connect", async (t) => {
  const { address } = await started(t);
  const [error] = await once(new WebSocket(address, { origin: "http://other.example" }), "error");
  assert.match(error.message, /401/);
  const { agent } = await visitor(address, { origin: "http://page.example" });
  await agent.close();
});
