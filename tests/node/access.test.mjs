// What agents may do through a client under Node: files inside the roots, commands with bounded output.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Client, clientSide, joined } from "./both.mjs";

const { Files, ReadOnlyFiles, Terminals, RequestError } = clientSide;

/** A folder with a root and something outside of it. */
function place(t) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "libacp-files-")));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  for (const name of ["root", "further", "outside"]) mkdirSync(join(top, name));
  writeFileSync(join(top, "outside/secret"), "secret");
  const [root, further] = [join(top, "root"), join(top, "further")];
  return { top, root, session: { cwd: root, roots: [root, further] } };
}

const refused = (code) => (error) => error instanceof RequestError && error.code === code && !error.message.includes("secret");
const OUTSIDE = refused(-32602);
const MISSING = refused(-32002);

test("lines of a file, by LF alone", async (t) => {
  const { root, session } = place(t);
  const files = new ReadOnlyFiles();
  const path = join(root, "a");
  writeFileSync(path, "one\r\ntwo\u2028still two\nthree\nfour");
  const read = (params) => files.readTextFile(session, { path, ...params });
  assert.equal(await read({}), "one\r\ntwo\u2028still two\nthree\nfour");
  assert.equal(await read({ line: 2, limit: 2 }), "two\u2028still two\nthree\n");
  assert.equal(await read({ line: 4, limit: null }), "four");
  assert.equal(await read({ line: 9 }), "");
  assert.equal(await read({ limit: 0 }), "");
  assert.equal(await read({ limit: 1 }), "one\r\n");
  writeFileSync(path, "");
  assert.equal(await read({}), "");
  writeFileSync(path, "\ufeffx");
  assert.equal(await read({}), "\ufeffx");
  assert.equal(files.writeTextFile, undefined);
});

test("what is written is exactly the text, in folders that are made on the way", async (t) => {
  const { root, top, session } = place(t);
  const files = new Files();
  const path = join(root, "new/folder/file");
  await files.writeTextFile(session, { path, content: "long text\r\n🦀" });
  await files.writeTextFile(session, { path, content: "é" });
  assert.equal(readFileSync(path, "utf8"), "é");
  await files.writeTextFile(session, { path: join(top, "further/b"), content: "" });
  assert.equal(await files.readTextFile(session, { path: join(top, "further/b") }), "");
});

test("no way leads out of the roots", async (t) => {
  const { root, top, session } = place(t);
  const files = new Files();
  symlinkSync(join(top, "outside/secret"), join(root, "link"));
  symlinkSync(join(top, "outside"), join(root, "folder"));
  symlinkSync(join(top, "outside/none"), join(root, "nowhere"));
  symlinkSync(join(top, "outside/made"), join(root, "gone"));
  symlinkSync("self", join(root, "self"));
  for (const path of [
    join(top, "outside/secret"),
    join(root, "link"),
    join(root, "folder/secret"),
    `${root}/../outside/secret`,
    `${root}/./x/../../outside/secret`,
    `${root}2/secret`,
    root,
    top,
    "secret",
    "",
    `${root}/a\0b`,
  ]) {
    await assert.rejects(files.readTextFile(session, { path }), (error) => OUTSIDE(error) || MISSING(error), `read ${path}`);
    await assert.rejects(files.writeTextFile(session, { path, content: "mine" }), (error) => OUTSIDE(error) || MISSING(error), path);
  }
  for (const path of [join(root, "nowhere"), join(root, "gone/x"), join(root, "folder/new"), join(root, "folder/a/b"), join(root, "self")]) {
    await assert.rejects(files.writeTextFile(session, { path, content: "mine" }), (error) => OUTSIDE(error) || MISSING(error), path);
  }
  assert.equal(execFileSync("find", [join(top, "outside"), "-type", "f"], { encoding: "utf8" }), `${join(top, "outside/secret")}\n`);
  assert.equal(readFileSync(join(top, "outside/secret"), "utf8"), "secret");
  // A link that stays inside is fine, also where the root itself is one.
  symlinkSync(root, join(top, "alias"));
  writeFileSync(join(root, "real"), "x");
  symlinkSync(join(root, "real"), join(root, "inside"));
  const alias = { roots: [join(top, "alias")] };
  assert.equal(await files.readTextFile(alias, { path: join(top, "alias/inside") }), "x");
  assert.equal(await files.readTextFile(session, { path: join(top, "alias/inside") }), "x");
  await assert.rejects(files.readTextFile({ roots: [] }, { path: join(root, "real") }), OUTSIDE);
});

test("what is no text file is named, and never waited for", async (t) => {
  const { root, session } = place(t);
  const files = new Files({ most: 10 });
  execFileSync("mkfifo", [join(root, "pipe")]);
  mkdirSync(join(root, "dir"));
  writeFileSync(join(root, "binary"), Buffer.of(0xff, 0xfe));
  writeFileSync(join(root, "long"), "x".repeat(11));
  for (const name of ["pipe", "dir", "binary", "long"]) {
    await assert.rejects(files.readTextFile(session, { path: join(root, name) }), OUTSIDE, name);
  }
  await assert.rejects(files.writeTextFile(session, { path: join(root, "pipe"), content: "" }), OUTSIDE);
  await assert.rejects(files.writeTextFile(session, { path: join(root, "x"), content: "x".repeat(11) }), OUTSIDE);
  await assert.rejects(files.readTextFile(session, { path: join(root, "none") }), MISSING);
});

const script = (text) => ({ command: "sh", args: ["-c", text] });

test("a command: its folder, environment, output and end", async (t) => {
  const { root, session } = place(t);
  const terminals = new Terminals({ env: { PATH: process.env.PATH, A: "1" } });
  const run = script('pwd; echo "$A$B$HOME"; echo error >&2; exit 3');
  const id = await terminals.create(session, { ...run, env: [{ name: "B", value: "2" }] });
  assert.deepEqual(await terminals.waitForExit(session, id), { exitCode: 3, signal: null });
  const { output, truncated, exitStatus } = terminals.output(session, id);
  assert.deepEqual(output.split("\n").sort(), ["", "12", "error", root].sort());
  assert.deepEqual([truncated, exitStatus], [false, { exitCode: 3, signal: null }]);
  assert.throws(() => terminals.output({}, id), RequestError);
  await terminals.release(session, id);
  assert.throws(() => terminals.output(session, id), MISSING);
  await assert.rejects(terminals.create(session, { command: "/no/such" }), OUTSIDE);
});

test("of the output the end is kept, whole characters only", async (t) => {
  const { session } = place(t);
  const terminals = new Terminals({ outputByteLimit: 1000 });
  const shown = async (text, outputByteLimit) => {
    const id = await terminals.create(session, { ...script(text), outputByteLimit });
    await terminals.waitForExit(session, id);
    const { output, truncated } = terminals.output(session, id);
    await terminals.release(session, id);
    return [output, truncated];
  };
  assert.deepEqual(await shown("printf abc", 3), ["abc", false]);
  assert.deepEqual(await shown("printf abcd", 3), ["bcd", true]);
  assert.deepEqual(await shown("printf '🦀🦀'", 7), ["🦀", true]);
  assert.deepEqual(await shown("printf '🦀🦀'", 4), ["🦀", true]);
  assert.deepEqual(await shown("printf '🦀🦀'", 3), ["", true]);
  assert.deepEqual(await shown("printf abc", 0), ["", true]);
  assert.deepEqual(await shown("printf 'a\\360\\237'", 10), ["a", false]);
  const [long, truncated] = await shown("yes 1234567 | head -c 3000000", 1_000_000);
  assert.deepEqual([long.length, truncated, long.endsWith("1234567\n")], [1000, true, true]);
});

test("commands are ended with their children: when killed, when released, when the session is over", async (t) => {
  const { session } = place(t);
  const terminals = new Terminals({ most: 3 });
  const start = () => terminals.create(session, script("echo $$; sleep 100 & sleep 100"));
  const alive = (pid) => {
    try {
      // Processes of the group that are no zombies.
      return execFileSync("ps", ["-o", "stat=", "--ppid", pid, "-p", pid], { encoding: "utf8" }).split("\n").some((line) => /^[^Z]/.test(line));
    } catch {
      return false;
    }
  };
  const pids = [];
  const ids = [];
  for (let index = 0; index < 3; index += 1) {
    ids.push(await start());
    while (!/\d+\n/.test(terminals.output(session, ids[index]).output)) await pause(5);
    pids.push(terminals.output(session, ids[index]).output.trim());
  }
  await assert.rejects(start(), { code: -32603 });
  assert.deepEqual(pids.map(alive), [true, true, true]);
  terminals.kill(session, ids[0]);
  assert.deepEqual(await terminals.waitForExit(session, ids[0]), { exitCode: null, signal: "SIGKILL" });
  await terminals.release(session, ids[1]);
  await terminals.end({ ...session });
  assert.deepEqual(pids.map(alive), [false, false, true]);
  await terminals.end(session);
  assert.deepEqual(pids.map(alive), [false, false, false]);
});

test("through the protocol: files and commands in a turn, and the end of the connection", async (t) => {
  const { root } = place(t);
  const client = new Client("c", "1", { files: new Files(), terminals: new Terminals() });
  const seen = [];
  const { peer } = await joined(
    t,
    async (turn) => {
      const path = join(turn.session.cwd, "a");
      await turn.writeTextFile(path, "1\n2\n3\n");
      seen.push(await turn.readTextFile(path, { line: 2, limit: 1 }));
      seen.push(await turn.readTextFile("/etc/passwd").catch(({ code }) => code));
      seen.push(await turn.terminal("cat", [path], {}, async (terminal) => {
        const { exitCode } = await terminal.wait();
        return [exitCode, (await terminal.output()).output];
      }));
      const endless = await turn.terminal("sleep", ["100"]);
      await endless.kill();
      seen.push((await endless.wait()).signal);
    },
    { client },
  );
  const session = await peer.newSession(root);
  await session.prompt("x");
  assert.deepEqual(seen, ["2\n", -32602, [0, "1\n2\n3\n"], "SIGKILL"]);
});
