// Commands of agents end with what they belong to: their session, the connection, this process.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client, NoResult, clientSide, folder, quiet } from "./both.mjs";

const { Terminals, spawnAgent } = clientSide;
const skip = process.platform !== "linux";
const ROUNDS = Number(process.env.LIBACP_ROUNDS ?? 25);

let last = 300_000 + (process.pid % 1000) * 1000;

/** Processes that sleep for so long: nobody else sleeps so many seconds. */
function sleeping(seconds) {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
}

/** Milliseconds: less than the grace of an agent that stays, and more than a busy machine needs. */
const SOON = 4000;

async function until(holds, milliseconds = 20_000) {
  for (const begun = performance.now(); !holds(); ) {
    if (performance.now() - begun > milliseconds) return false;
    await pause(5);
  }
  return true;
}

const START = `
answer() { while read -r line; do case $line in *'"method"'*) break ;; esac; done; id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/'); }
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
create() { printf '{"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"%s","command":"sh","args":["-c","sleep %s & exec sleep %s"]}}\\n' "$1" "$2" "$2"; }
answer; say '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}'
`;
const OPEN = `answer; say '{"sessionId":"s"}'\n`;

const agent = (script) => ["sh", "-c", START + script];

const endings = {
  close: [(seconds) => `${OPEN}create s ${seconds}; cat >/dev/null`, (peer) => void peer.close()],
  "the end of the stream": [(seconds) => `${OPEN}create s ${seconds}; read -r x; read -r go; exec >&-; cat >/dev/null`,
    (peer) => peer.process.stdin.write("go\n")],
  "SIGKILL of the agent": [(seconds) => `${OPEN}create s ${seconds}; cat >/dev/null`, (peer) => peer.process.kill("SIGKILL")],
};

for (const [name, [script, end]] of Object.entries(endings)) {
  test(`no command is left after ${name}`, { skip }, async () => {
    const client = new Client("c", "1", { terminals: new Terminals() });
    for (let round = 0; round < ROUNDS; round += 1) {
      const seconds = (last += 1);
      const peer = await spawnAgent(agent(script(seconds)), client, { grace: 8000 });
      await peer.newSession("/");
      assert.ok(await until(() => sleeping(seconds).length === 2), "it runs");
      await end(peer);
      assert.ok(await until(() => sleeping(seconds).length === 0, SOON), `round ${round}: ${sleeping(seconds)}`);
      await peer.close();
    }
  });
}

test("no command is left when the client's process is ended by a signal, or ends", { skip }, async () => {
  const program = join(folder, "ends.mjs");
  writeFileSync(program, `
    import { Client, Terminals, spawnAgent } from "libacp/client";
    const peer = await spawnAgent(JSON.parse(process.argv[2]), new Client("c", "1", { terminals: new Terminals() }));
    await peer.newSession("/");
    process.on("message", () => process.exit(3));
    process.channel.ref();
  `);
  const ways = [["SIGTERM"], ["SIGINT"], ["SIGHUP"], ["SIGKILL"], [undefined, 3]];
  for (let round = 0; round < Math.max(ways.length, ROUNDS / 5); round += 1) {
    const [signal, code = null] = ways[round % ways.length];
    const seconds = (last += 1);
    const answered = join(folder, `answered-${seconds}`);
    const command = agent(`${OPEN}create s ${seconds}; read -r x; : > '${answered}'; cat >/dev/null`);
    const client = spawn(process.execPath, [program, JSON.stringify(command)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    assert.ok(await until(() => existsSync(answered) && sleeping(seconds).length === 2), "it runs");
    if (signal) client.kill(signal);
    else client.send("end");
    // The signal does what it would have done.
    assert.deepEqual(await once(client, "exit"), [code, signal ?? null]);
    assert.ok(await until(() => sleeping(seconds).length === 0, SOON), `${signal}: ${sleeping(seconds)}`);
  }
});

test("what comes for a session that is closing, made up or replaced starts nothing", { skip }, async (t) => {
  const warned = quiet(t);
  const terminals = new Terminals({ most: 1 });
  const client = new Client("c", "1", { terminals });
  const late = (seconds) => `${OPEN}answer; printf '%s\\n%s\\n' "$(create s ${seconds})" "$(say '{}')"; cat >/dev/null`;
  const early = (seconds) => `create made-up ${seconds}; ${OPEN}create other ${seconds}; cat >/dev/null`;
  for (const script of [late, early]) {
    const seconds = (last += 1);
    const peer = await spawnAgent(agent(script(seconds)), client);
    const session = await peer.newSession("/");
    if (script === late) await session.close();
    await pause(300);
    assert.deepEqual(sleeping(seconds), []);
    await peer.close();
  }
  // The place of what was not started is free.
  const seconds = (last += 1);
  const peer = await spawnAgent(agent(`${OPEN}create s ${seconds}; ${OPEN}cat >/dev/null`), client);
  const first = await peer.newSession("/");
  assert.ok(await until(() => sleeping(seconds).length === 2), "it runs");
  await assert.rejects(peer.newSession("/tmp"), (error) => error instanceof NoResult && error.outcome === "invalid");
  assert.equal(peer.sessions.get("s"), first);
  await peer.close();
  assert.deepEqual(sleeping(seconds), []);
  assert.match(warned().join(), /SESS-03/);
});

/** Runs a program that uses the package; what it prints. */
function run(name, text, ...wrapper) {
  const program = join(folder, name);
  writeFileSync(program, `import { Terminals } from "libacp/client";\nconst session = { cwd: "/", roots: ["/"] };\n${text}`);
  const [command, ...args] = [...wrapper, process.execPath, program];
  return execFileSync(command, args, { encoding: "utf8", timeout: 30_000, stdio: ["ignore", "pipe", "pipe"] });
}

test("a number that is another's by now is not signalled", { skip }, (t) => {
  // Its first process sees to those that nobody waits for.
  const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", '"$0" "$@"; exit $?'];
  try {
    execFileSync(namespace[0], [...namespace.slice(1), "sh", "-c", "echo 500 > /proc/sys/kernel/ns_last_pid"], { stdio: "ignore" });
  } catch {
    return t.skip("no right to have process numbers of its own");
  }
  // Both when nobody was left in the group at its command's end, and when somebody was, who has ended since.
  for (const rest of ["", "sleep 0.3 &"]) {
    const said = run("number.mjs", `
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      import { readFileSync, writeFileSync } from "node:fs";
      const terminals = new Terminals();
      const id = await terminals.create(session, { command: "sh", args: ["-c", "echo $$; ${rest}"] });
      await terminals.waitForExit(session, id);
      const pid = Number(terminals.output(session, id).output);
      await new Promise((resolve) => setTimeout(resolve, 600));
      let other;
      for (let turn = 0; turn < 50 && other?.pid !== pid; turn += 1) {
        other?.kill("SIGKILL");
        writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
        other = spawn("sleep", ["100"], { detached: true, stdio: "ignore" });
      }
      await terminals.release(session, id);
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log(other.pid === pid, other.signalCode);
      other.kill("SIGKILL");
    `, ...namespace);
    assert.equal(said, "true null\n", rest);
  }
});

test("a command that may not be ended holds nobody up", { skip: skip || process.getuid() !== 0 }, (t) => {
  const place = mkdtempSync(join(tmpdir(), "libacp-suid-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const [real, prefix] = execFileSync("python3", ["-c", "import os, sys; print(os.path.realpath(sys.executable), sys.base_prefix)"], { encoding: "utf8" }).trim().split(" ");
  copyFileSync(real, join(place, "python"));
  chmodSync(place, 0o755);
  chmodSync(join(place, "python"), 0o4755);
  const said = run("suid.mjs", `
    process.chdir("/");
    process.setgid(65534);
    process.setuid(65534);
    const terminals = new Terminals();
    const args = ["-S", "-c", "import os, time; os.setuid(0); print(os.getuid(), flush=True); time.sleep(8)"];
    const id = await terminals.create(session, { command: ${JSON.stringify(join(place, "python"))}, args, env: [{ name: "PYTHONHOME", value: ${JSON.stringify(prefix)} }] });
    const other = await terminals.create(session, { command: "sleep", args: ["100"] });
    const waiting = terminals.waitForExit(session, other);
    for (let turn = 0; turn < 500 && terminals.output(session, id).output !== "0\\n"; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    const { output } = terminals.output(session, id);
    let refused;
    try {
      terminals.kill(session, id);
    } catch (error) {
      refused = error.message;
    }
    console.error = (text) => console.log(text.replace(/\\d+/, "N"));
    const begun = performance.now();
    await terminals.end(session);
    console.log(JSON.stringify([output, refused, performance.now() - begun < 4000, (await waiting).signal]));
  `);
  if (said.includes('["",')) return t.skip("programs keep no other user's rights here");
  assert.equal(said, `libacp: a command cannot be ended, and goes on as process N\n${JSON.stringify([
    "0\n", "The command may not be ended", true, "SIGKILL",
  ])}\n`);
});
