// Agents as child processes: what stands between, what is left of them, what they say beside the protocol.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, clientSide, folder } from "./both.mjs";

const { spawnAgent, AgentEnded, Terminals } = clientSide;
const windows = process.platform === "win32" && "there are no process groups of this kind";

function program(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const echo = program("started-echo.mjs", `
import { writeFileSync } from "node:fs";
import { Agent } from "libacp/agent";
writeFileSync(process.argv[2], String(process.pid));
await new Agent("echo").prompt((turn) => turn.message(turn.text)).serve();
`);
// Ends at nothing but a signal that cannot be caught.
const stubborn = program("started-stubborn.mjs", `
import { writeFileSync } from "node:fs";
import { Agent } from "libacp/agent";
writeFileSync(process.argv[2], String(process.pid));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
setInterval(() => {}, 1000);
await new Agent("stubborn").serve();
`);

const isThere = (pid) => {
  try {
    process.kill(pid, 0);
    // What is only left for its parent to be noticed is not there any more.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

for (const [name, agent] of Object.entries({ echo, stubborn })) {
  for (const [wrapper, command] of Object.entries({
    "sh -c": ["sh", "-c", `"${process.execPath}" "${agent}" "$0"; true`],
    "two shells": ["sh", "-c", `sh -c '"${process.execPath}" "${agent}" "$0"; true' "$0"; true`],
    "a shell that looks again and again": ["sh", "-c", `exec 3<&0; "${process.execPath}" "${agent}" "$0" <&3 & while kill -0 $!; do sleep 0.05; done 2>/dev/null`],
  })) {
    test(`an agent behind ${wrapper} is gone a second after close (${name})`, { skip: windows }, async () => {
      const told = join(folder, `${name}-${wrapper.replaceAll(" ", "-")}.pid`);
      const peer = await spawnAgent([...command, told], new Client(), { grace: 200 });
      await peer.newSession(folder);
      const pid = Number(readFileSync(told, "utf8"));
      assert.ok(isThere(pid));
      await peer.close();
      await pause(1000);
      assert.ok(!isThere(pid), "it goes on");
    });
  }
}

test("an agent behind npx is gone a second after close", { skip: windows }, async () => {
  const told = join(folder, "npx.pid");
  const peer = await spawnAgent(["npx", "--offline", "--no-install", "-c", `"${process.execPath}" "${stubborn}" "${told}"`], new Client(), {
    grace: 200, cwd: folder,
  });
  const pid = Number(readFileSync(told, "utf8"));
  await peer.close();
  await pause(1000);
  assert.ok(!isThere(pid), "it goes on");
});

/** An agent as its users install it: a package with a command, from a file, without a network. */
function installed(place, name, agent) {
  const source = join(place, "source");
  mkdirSync(source, { recursive: true });
  const main = readFileSync(agent, "utf8");
  writeFileSync(join(source, "agent.mjs"), `#!/usr/bin/env node\n${main}`, { mode: 0o755 });
  writeFileSync(join(source, "package.json"), JSON.stringify({ name, version: "1.0.0", type: "module", bin: { [name]: "agent.mjs" } }));
  const npm = (cwd, ...args) => execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], { cwd, encoding: "utf8" });
  const tarball = npm(source, "pack", "--silent", "--pack-destination", place).trim();
  writeFileSync(join(place, "package.json"), '{ "private": true }\n');
  npm(place, "install", process.env.LIBACP_TARBALL, join(place, tarball));
}

for (const [name, agent] of Object.entries({ echo, stubborn })) {
  test(`an installed agent that npx starts is gone a second after close (${name})`, { skip: windows }, async (t) => {
    const place = mkdtempSync(join(tmpdir(), "libacp-npx-"));
    t.after(() => rmSync(place, { recursive: true, force: true }));
    installed(place, `${name}-agent`, agent);
    const told = join(place, "pid");
    const peer = await spawnAgent(["npx", "--offline", "--no-install", `${name}-agent`, told], new Client(), { grace: 200, cwd: place });
    await peer.newSession(place);
    const pid = Number(readFileSync(told, "utf8"));
    assert.ok(isThere(pid));
    assert.notEqual(pid, peer.process.pid);
    await peer.close();
    await pause(1000);
    assert.ok(!isThere(pid), "it goes on");
  });
}

const python = spawnSync("python3", ["-c", "import pty"]).status === 0;

for (const processGroup of [true, false]) {
  const what = processGroup ? "leaves the agent to its client" : "reaches an agent that shares the group";
  test(`Ctrl-C in a terminal ${what}`, { skip: windows || (!python && "there is no Python to make a terminal") }, async () => {
    const told = join(folder, `ctrl-c-${processGroup}.pid`);
    const client = program(`ctrl-c-${processGroup}.mjs`, `
import { Client, spawnAgent } from "libacp/client";
const agent = await spawnAgent([process.execPath, ${JSON.stringify(echo)}, ${JSON.stringify(told)}], new Client(), { processGroup: ${processGroup} });
const session = await agent.newSession("/");
const asked = new Promise((resolve) => process.once("SIGINT", resolve));
// It may end before this process is told of the key.
const ended = new Promise((resolve) => agent.process.once("exit", resolve));
console.log(process.stdin.isTTY ? "ready" : "no terminal");
await asked;
console.log("asked to stop");
if (${!processGroup}) await ended;
try {
  console.log(await session.prompt("still here").readText());
} catch (error) {
  console.log(error.name);
}
await agent.close();
`);
    const terminal = fileURLToPath(new URL("terminal.py", import.meta.url));
    const { stdout, status } = spawnSync("python3", [terminal, process.execPath, client], { encoding: "utf8", timeout: 60_000 });
    assert.match(stdout, processGroup ? /ready\n(?:\^C)?asked to stop\nstill here\n$/ : /ready\n(?:\^C)?asked to stop\nAgentEnded\n$/);
    assert.equal(status, 0);
    assert.ok(!isThere(Number(readFileSync(told, "utf8"))));
  });
}

test("what an agent says beside the protocol is heard, and its last lines are in the error", async () => {
  const path = program("started-dying.mjs", `
console.error("no key");
console.error("\\u001b[31mbye");
process.exitCode = 3;
`);
  const lines = [];
  await assert.rejects(spawnAgent([process.execPath, path], new Client(), { stderr: (line) => lines.push(line) }), (error) => {
    assert.ok(error instanceof AgentEnded);
    assert.equal(error.exitCode, 3);
    assert.match(error.message, /: the agent ended with the status 3 before it answered; its last lines of stderr:\n  no key\n  \\x1b\[31mbye$/);
    assert.deepEqual(error.stderr, ["no key", "\u001b[31mbye"]);
    return true;
  });
  assert.deepEqual(lines, ["no key", "\u001b[31mbye"]);
});

test("an agent that gives no answer in time is an error with its last lines", async () => {
  const path = program("started-silent.mjs", 'console.error("waiting for the license server");\nprocess.stdin.resume();\n');
  const started = (options) => spawnAgent([process.execPath, path], new Client(), { timeout: 1000, grace: 200, ...options });
  let heard;
  await assert.rejects(started({ stderr: () => (heard = true) }), {
    name: "NoResult",
    outcome: "timeout",
    message: "initialize: the agent gave no answer in time; its last lines of stderr:\n  waiting for the license server",
  });
  assert.ok(heard);
  await assert.rejects(started({ stderr: "ignore" }), { message: "initialize: no answer came in time" });
});

test("what commands print is heard while they run, in whole characters", { skip: windows }, async () => {
  const heard = [];
  const terminals = new Terminals({ onOutput: (session, id, text) => heard.push([session.id, id, text]) });
  const session = { id: "s", cwd: folder };
  const id = await terminals.create(session, { command: "sh", args: ["-c", "printf '\\303'; sleep 0.2; printf '\\244b'"] });
  await terminals.waitForExit(session, id);
  await terminals.release(session, id);
  assert.equal(heard.map(([, , text]) => text).join(""), "äb");
  assert.ok(heard.every(([about, terminal]) => about === "s" && terminal === id));
  assert.throws(() => new Terminals({ onOutptu: () => {} }), /onOutptu.*did you mean onOutput/);
});

test("the wire is written down where the host or the environment says so", async () => {
  const seen = [];
  const told = join(folder, "traced.pid");
  const file = join(folder, "agent.trace");
  rmSync(file, { force: true });
  const client = new Client("c", "1", { trace: (direction, message) => seen.push([direction, JSON.parse(message)]) });
  const agent = await spawnAgent([process.execPath, echo, told], client, { env: { ...process.env, LIBACP_TRACE: file } });
  const session = await agent.newSession(folder);
  await session.prompt("ä");
  await agent.close();
  const short = seen.map(([direction, { method, id }]) => `${direction} ${method ?? `answer ${id}`}`);
  const [one, two, three] = seen.filter(([, { method }]) => method && method !== "session/update").map(([, { id }]) => id);
  assert.deepEqual(short, [
    "sent initialize", `received answer ${one}`, "sent session/new", `received answer ${two}`, "sent session/prompt",
    "received session/update", `received answer ${three}`,
  ]);
  assert.ok(existsSync(file));
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.equal(lines.length, 7);
  assert.deepEqual(lines.map((line) => line.match(/(<-|->) (.*)$/)).map(([, way, text]) => [way === "->" ? "received" : "sent", JSON.parse(text)]), seen);
});

test("a path as trace is a file, and anything else is refused", async () => {
  const file = join(folder, "client.trace");
  const told = join(folder, "traced-too.pid");
  const agent = await spawnAgent([process.execPath, echo, told], new Client("c", "1", { trace: file }));
  await agent.close();
  assert.match(readFileSync(file, "utf8"), /^\S+Z \d+ -> \{"jsonrpc":"2.0","id":\d+,"method":"initialize"/);
  await assert.rejects(spawnAgent([process.execPath, echo, told], new Client("c", "1", { trace: 5 })), /trace: expected a function/);
});
