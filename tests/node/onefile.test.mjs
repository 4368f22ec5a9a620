// Programs that are one file: an agent and a client, made by esbuild and by bun, and in a Worker.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { clientSide, folder } from "./both.mjs";

const AGENT = `
import { Agent } from "libacp/agent";
new Agent("one").prompt((turn) => turn.message("from one file: " + turn.text)).serve();
`;
const WORKER = `
// ANCHOR: worker
import { Agent, init, messagePort } from "libacp/agent";
import { bytes } from "libacp/inline";
import { parentPort } from "node:worker_threads";

await init(bytes());
await new Agent("worker").prompt((turn) => turn.message("from a Worker: " + turn.text)).serve(messagePort(parentPort));
// ANCHOR_END: worker
`;
const CLIENT = `
import { Client, spawnAgent } from "libacp/client";
(async () => {
  const agent = await spawnAgent(process.argv.slice(2), new Client());
  const session = await agent.newSession(process.cwd());
  console.log(await session.prompt("hello").readText());
  await agent.close();
})();
`;

/** Where they are made. */
const work = join(folder, "onefile");
mkdirSync(work, { recursive: true });

/** What the book says to do. */
const command = (name) => readFileSync(new URL(`../../docs/snippets/onefile/${name}.sh`, import.meta.url), "utf8");

/** A folder in which there is nothing but what a test puts there. */
function alone(t) {
  const place = mkdtempSync(join(tmpdir(), "libacp-one-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** What a command of the book makes of a source, alone in a folder and under this name. */
function made(t, how, name, text) {
  const said = command(how);
  const [source] = /\S+\.mjs/.exec(said);
  const [, result] = /\bbundle\/(\S+)$/.exec(said.trim());
  rmSync(join(work, "bundle"), { recursive: true, force: true });
  writeFileSync(join(work, source), text);
  const PATH = [bun() && join(bun(), ".."), fileURLToPath(new URL("node_modules/.bin", import.meta.url)), process.env.PATH];
  // What npx would run is on the way.
  const env = { ...process.env, PATH: PATH.filter(Boolean).join(delimiter) };
  execFileSync("sh", ["-euc", said.replace(/^npx /, "")], { cwd: work, env, stdio: "pipe" });
  const file = join(alone(t), name);
  copyFileSync(join(work, "bundle", result), file);
  return file;
}

const run = (cwd, [program, ...args], env = process.env) => execFileSync(program, args, { cwd, encoding: "utf8", env });

for (const [format, suffix] of Object.entries({ esm: "mjs", cjs: "cjs" })) {
  test(`esbuild makes an agent and a client that are one file each (${format})`, (t) => {
    const [agent, client] = [made(t, format, `agent.${suffix}`, AGENT), made(t, format, `client.${suffix}`, CLIENT)];
    assert.equal(run(alone(t), [process.execPath, client, process.execPath, agent]), "from one file: hello\n");
  });
}

/** Its package brings the program for each platform in a package of its own; nothing needs to be run to install it. */
function bun() {
  const require = createRequire(import.meta.url);
  for (const name of [`bun-${process.platform}-${process.arch}-baseline`, `bun-${process.platform}-${process.arch}`]) {
    try {
      return join(require.resolve(`@oven/${name}/package.json`), "../bin/bun");
    } catch {
      // It is for another kind of machine.
    }
  }
  return undefined;
}

test("bun makes an agent and a client that are one program each", { skip: !bun() && "bun is not there for this machine" }, (t) => {
  const [agent, client] = [made(t, "bun", "agent", AGENT), made(t, "bun", "client", CLIENT)];
  // Neither Node nor bun is on the way.
  assert.equal(run(alone(t), [client, agent], { PATH: "/usr/nowhere" }), "from one file: hello\n");
});

test("an agent in a Worker is one file, with the module for browsers in it", async (t) => {
  const file = made(t, "worker", "worker.mjs", WORKER);
  const { connect, messagePort } = clientSide;
  // ANCHOR: client
  const worker = new Worker(file);
  const agent = await connect(messagePort(worker));
  // ANCHOR_END: client
  t.after(() => worker.terminate());
  const session = await agent.newSession("/");
  assert.equal(await session.prompt("hello").readText(), "from a Worker: hello");
  const ended = once(worker, "exit");
  await agent.close();
  // Its agent has nobody left to serve, and nothing else holds it.
  assert.deepEqual(await Promise.race([ended, pause(5000, "it goes on")]), [0]);
});

test("the client of a Worker hears of its end, and why", async (t) => {
  for (const [text, why] of [["throw new Error('broken')", /broken/], ["process.exit(3)", undefined]]) {
    const worker = new Worker(`setTimeout(() => { ${text} }, 100)`, { eval: true });
    t.after(() => worker.terminate());
    await assert.rejects(clientSide.connect(clientSide.messagePort(worker), undefined, { timeout: 5000 }), (error) => {
      assert.equal(error.outcome, "closed");
      if (why) assert.match(error.cause.message, why);
      return true;
    });
  }
});

test("a port of a runtime that transfers nothing is sent copies, and what fails is the cause", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const poor = {
    postMessage(message, transfer) {
      if (transfer) throw new TypeError("Transfer list is not supported");
      port1.postMessage(message);
    },
    addEventListener: (...all) => port1.addEventListener(...all),
    removeEventListener: (...all) => port1.removeEventListener(...all),
    start: () => port1.start(),
  };
  const { Agent } = await import(join(folder, "agent.mjs"));
  new Agent("a").prompt((turn) => turn.message("hi")).serve(clientSide.messagePort(port2));
  const agent = await clientSide.connect(clientSide.messagePort(poor));
  const session = await agent.newSession("/");
  assert.equal(await session.prompt("x").readText(), "hi");
  await agent.close();
  const broken = { ...poor, postMessage: () => { throw new Error("the port is broken"); } };
  await assert.rejects(clientSide.connect(clientSide.messagePort(broken)), (error) => error.cause?.message === "the port is broken");
});
