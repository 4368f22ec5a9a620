// What an agent cannot do with files: by paths, by changing the directories, by asking for a lot, on a full disk.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync, chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, renameSync,
  rmSync, statSync, symlinkSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { clientSide, folder } from "./both.mjs";

const { Files, ReadOnlyFiles, RequestError, guarded } = clientSide;
const isLinux = process.platform === "linux";

/** A root, and something outside of it. */
function place(t) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "libacp-files-")));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  for (const name of ["root", "outside"]) mkdirSync(join(top, name));
  writeFileSync(join(top, "outside/secret"), "secret");
  return { top, root: join(top, "root"), session: { roots: [join(top, "root")] } };
}

const refused = (message) => (error) => {
  assert.ok(error instanceof RequestError, error.stack);
  assert.match(error.message, message);
  assert.ok(!/secret|libacp-files/.test(error.message));
  return true;
};

test("a file that is missing is named in the error, as the client knows it", async (t) => {
  const { root, session } = place(t);
  await assert.rejects(new Files().readTextFile(session, { path: join(root, "not here.md") }), (error) => {
    assert.deepEqual([error.code, error.data], [-32002, { uri: pathToFileURL(join(root, "not here.md")).href }]);
    return true;
  });
});

test("a session that is opened once more has its new directories, as they were when that began", async (t) => {
  const { top, root, session } = place(t);
  mkdirSync(join(top, "next"));
  writeFileSync(join(root, "a"), "a");
  writeFileSync(join(top, "next/b"), "b");
  const files = new Files();
  files.begin(session);
  const made = { roots: [join(top, "next")] };
  files.begin(made);
  assert.equal(await files.readTextFile(session, { path: join(root, "a") }), "a");
  files.adopt(session, made);
  session.roots = made.roots;
  await assert.rejects(files.readTextFile(session, { path: join(root, "a") }), refused(/outside/));
  assert.equal(await files.readTextFile(session, { path: join(top, "next/b") }), "b");
});

test("what is missing of a path leads nowhere, and leaves nothing", async (t) => {
  const { top, root, session } = place(t);
  symlinkSync(join(top, "outside"), join(root, "link"));
  const files = new Files();
  for (const way of ["none/../link/a/b", "none/../link/a", "none/../x", "a/b/../../../outside/x", "none/../../outside/x"]) {
    await assert.rejects(files.writeTextFile(session, { path: `${root}/${way}`, content: "x" }), refused(/outside/), way);
  }
  assert.deepEqual([readdirSync(join(top, "outside")), readdirSync(root)], [["secret"], ["link"]]);
  // Steps back within what is there are fine.
  mkdirSync(join(root, "there"));
  await files.writeTextFile(session, { path: `${root}/there/../there/./x`, content: "x" });
  assert.equal(readFileSync(join(root, "there/x"), "utf8"), "x");
  await assert.rejects(files.writeTextFile(session, { path: join(root, "n/".repeat(65), "x"), content: "" }), refused(/64/));
  assert.equal(existsSync(join(root, "n")), false);
});

test("a session's directories are what they were when it was opened", async (t) => {
  const { top, root } = place(t);
  mkdirSync(join(root, "inner"));
  writeFileSync(join(root, "inner/secret"), "mine");
  const session = { roots: [root, join(root, "inner")] };
  const files = new Files();
  files.begin(session);
  const path = join(root, "inner/secret");
  assert.equal(await files.readTextFile(session, { path }), "mine");
  renameSync(join(root, "inner"), join(root, "moved"));
  symlinkSync(join(top, "outside"), join(root, "inner"));
  await assert.rejects(files.readTextFile(session, { path }), refused(/outside/));
  await assert.rejects(files.writeTextFile(session, { path, content: "x" }), refused(/outside/));
  assert.equal(readFileSync(join(top, "outside/secret"), "utf8"), "secret");
  // Neither is another folder with the name of the root.
  renameSync(root, join(top, "old"));
  mkdirSync(root);
  writeFileSync(join(root, "new"), "new");
  await assert.rejects(files.readTextFile(session, { path: join(root, "new") }), refused(/outside/));
});

test("what is asked for one after the other happens so", async (t) => {
  const { root, session } = place(t);
  const files = new Files();
  const path = join(root, "file");
  symlinkSync("file", join(root, "alias"));
  const [long, short] = ["a".repeat(3_000_000), "b".repeat(1000)];
  for (let round = 0; round < 20; round += 1) {
    const other = round % 2 === 0 ? path : join(root, "alias");
    const reads = [
      files.writeTextFile(session, { path, content: long }),
      files.readTextFile(session, { path: other }),
      files.writeTextFile(session, { path: other, content: short }),
      files.readTextFile(session, { path }),
    ];
    const [, first, , second] = await Promise.all(reads);
    assert.ok(first === long, `round ${round}: ${first.length} characters`);
    assert.ok(second === short, `round ${round}: ${second.length} characters`);
    assert.equal(readFileSync(path, "utf8"), short);
  }
  // Two sessions never mix what they write, whichever comes first; nor do two names of one file.
  linkSync(path, join(root, "hard"));
  const another = { roots: [root] };
  for (let round = 0; round < 20; round += 1) {
    await Promise.all([
      files.writeTextFile(session, { path, content: long }),
      files.writeTextFile(another, { path: join(root, "hard"), content: short }),
    ]);
    assert.ok([long, short].includes(readFileSync(path, "utf8")), `round ${round}`);
  }
});

test("a write keeps mode and names; one that fails leaves the old text", { skip: !isLinux }, async (t) => {
  const { root, session } = place(t);
  const files = new Files();
  const path = join(root, "file");
  writeFileSync(path, "long before");
  chmodSync(path, 0o751);
  linkSync(path, join(root, "hard"));
  await files.writeTextFile(session, { path, content: "short" });
  assert.deepEqual([readFileSync(join(root, "hard"), "utf8"), statSync(path).mode & 0o777], ["short", 0o751]);
  const disk = join(root, "disk");
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk], { stdio: "ignore" });
  } catch {
    return t.diagnostic("no right to mount: the full disk was not tried");
  }
  try {
    const old = "o".repeat(9000);
    writeFileSync(join(disk, "kept"), old);
    const failing = files.writeTextFile(session, { path: join(disk, "kept"), content: "n".repeat(2_000_000) });
    await assert.rejects(failing, refused(/no storage space/));
    assert.ok(readFileSync(join(disk, "kept"), "utf8") === old);
    await assert.rejects(files.writeTextFile(session, { path: join(disk, "new"), content: "n".repeat(2_000_000) }), refused(/no storage space/));
    assert.deepEqual(readdirSync(disk), ["kept"]);
  } finally {
    execFileSync("umount", [disk]);
  }
});

test("a file is read to its end, however little comes at once, and while it grows", { skip: !isLinux }, async (t) => {
  const { root, session } = place(t);
  // The kernel gives what it makes in small pieces, and says no size.
  const big = { roots: ["/proc"] };
  assert.equal(await new Files().readTextFile(big, { path: "/proc/cpuinfo", limit: 1 }), readFileSync("/proc/cpuinfo", "utf8").split(/(?<=\n)/)[0]);
  const maps = await new Files().readTextFile(big, { path: "/proc/kallsyms", limit: 3000 });
  assert.equal(maps.split("\n").length, 3001);
  const path = join(root, "grows");
  const script = `import sys, time
with open(sys.argv[1], "ab", buffering=0) as file:
    while True:
        file.write(b"\\xc3")
        file.write(b"\\xa4" * 1 + b"\\xc3\\xa4" * 20)`;
  writeFileSync(path, "ä");
  const writer = spawn("python3", ["-c", script, path], { stdio: "ignore" });
  t.after(() => writer.kill("SIGKILL"));
  const files = new ReadOnlyFiles({ most: 1_000_000_000 });
  for (let round = 0; round < 50; round += 1) {
    const text = await files.readTextFile(session, { path });
    assert.match(text.slice(-50), /^ä+$/u);
  }
  writer.kill("SIGKILL");
  await once(writer, "exit");
  writeFileSync(path, Buffer.of(0x61, 0xc3));
  await assert.rejects(files.readTextFile(session, { path }), refused(/UTF-8/));
});

test("a window of lines costs its own size", async (t) => {
  const { root, session } = place(t);
  const files = new ReadOnlyFiles();
  const path = join(root, "lines");
  writeFileSync(path, "a\n".repeat(4_999_999));
  const before = process.memoryUsage.rss();
  let longest = 0;
  let last = performance.now();
  const clock = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const all = Promise.all(Array.from({ length: 20 }, (_, index) => files.readTextFile(session, { path, line: index * 200_000 + 1, limit: 1 })));
  assert.deepEqual(await all, Array(20).fill("a\n"));
  clearInterval(clock);
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  assert.ok(grown < 32, `${grown} MiB`);
  assert.ok(longest < 500, `${longest} ms`);
  // They need not be text before, and not short.
  writeFileSync(path, Buffer.concat([Buffer.of(0xff, 10), Buffer.from("é\n".repeat(100_000)), Buffer.from("end")]));
  assert.equal(await files.readTextFile(session, { path, line: 100_001, limit: 5 }), "é\nend");
  assert.equal(await files.readTextFile(session, { path, line: 2, limit: 100_000 }), "é\n".repeat(100_000));
  appendFileSync(path, Buffer.of(0xc3));
  await assert.rejects(files.readTextFile(session, { path, line: 100_002 }), refused(/UTF-8/));
});

const askTheUser = async (path) => path.endsWith("tasks.json");

// ANCHOR: may
const may = (path, writing, about) => guarded(path, writing, about) || askTheUser(path);
// ANCHOR_END: may

test("what runs unasked is not written unless the host says so", async (t) => {
  const { root, session } = place(t);
  mkdirSync(join(root, ".git"));
  writeFileSync(join(root, ".git/config"), "[core]");
  symlinkSync(".git", join(root, "innocent"));
  const files = new Files();
  const names = [
    ".git/config", "innocent/config", ".git/hooks/post-checkout", ".GIT/config", ".git./x", ".git", "sub/.git/config", ".hg/hgrc",
    ".vscode/tasks.json", ".envrc", ".mcp.json", "x.code-workspace", "a/.idea/x",
  ];
  for (const name of names) {
    await assert.rejects(files.writeTextFile(session, { path: join(root, name), content: "x" }), refused(/not allow|regular/), name);
  }
  assert.deepEqual([readdirSync(root).sort(), readFileSync(join(root, ".git/config"), "utf8")], [[".git", "innocent"], "[core]"]);
  assert.equal(await files.readTextFile(session, { path: join(root, ".git/config") }), "[core]");
  for (const name of [".gitignore", "git/x", ".github/CODEOWNERS"]) await files.writeTextFile(session, { path: join(root, name), content: "" });
  const asked = [];
  const asking = new Files({
    may: (path, writing, about) => {
      asked.push([path, writing, about.root, about.session === session, guarded(path, writing, about)]);
      return may(path, writing, about);
    },
  });
  await asking.writeTextFile(session, { path: join(root, ".vscode/tasks.json"), content: "{}" });
  assert.equal(readFileSync(join(root, ".vscode/tasks.json"), "utf8"), "{}");
  assert.equal(await asking.readTextFile(session, { path: join(root, "innocent/config") }), "[core]");
  await assert.rejects(asking.writeTextFile(session, { path: join(root, "innocent/config"), content: "x" }), refused(/not allow/));
  assert.deepEqual(asked, [
    [join(root, ".vscode/tasks.json"), true, root, true, false],
    [join(root, ".git/config"), false, root, true, true],
    [join(root, ".git/config"), true, root, true, false],
  ]);
  const writers = new Files({ may: async (path, writing) => writing });
  await assert.rejects(writers.readTextFile(session, { path: join(root, "innocent/config") }), refused(/not allow/));
  for (const answer of [undefined, 1, "yes", Promise.resolve("yes")]) {
    await assert.rejects(new Files({ may: () => answer }).readTextFile(session, { path: join(root, ".gitignore") }), refused(/not allow/));
  }
  assert.throws(() => new Files({ may: true }), TypeError);
});

test("what is no file is not opened, and what goes wrong is said", { skip: !isLinux }, async (t) => {
  const { root, session } = place(t);
  const files = new Files();
  // Opening a FIFO for reading lets a writer go on that waits for one.
  execFileSync("mkfifo", [join(root, "pipe")]);
  const writer = spawn("sh", ["-c", 'echo x > "$0"', join(root, "pipe")]);
  t.after(() => writer.kill("SIGKILL"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await assert.rejects(files.readTextFile(session, { path: join(root, "pipe") }), refused(/regular/));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(writer.exitCode, null);
  for (const [name, message] of [["n".repeat(300), /invalid filename/], ["x/".repeat(3000), /4096|regular/], ["a/", /regular/]]) {
    await assert.rejects(files.writeTextFile(session, { path: `${root}/${name}`, content: "" }), refused(message), name.slice(0, 10));
  }
});

test("without /proc, names are held against what was opened", async (t) => {
  const { top, root } = place(t);
  const { find } = await import(pathToFileURL(join(folder, "node_modules/libacp/dist/named.node.js")).href);
  const { resolved } = await import(pathToFileURL(join(folder, "node_modules/libacp/dist/roots.node.js")).href);
  const roots = resolved([root]);
  symlinkSync(join(top, "outside"), join(root, "link"));
  for (const way of ["link/secret", "link/new", "none/../link/a", "../outside/secret", "none/../x", "link"]) {
    await assert.rejects(find(roots, `${root}/${way}`), RequestError, way);
  }
  const made = await (await find(roots, join(root, "a/b/c"))).make();
  await made.writeFile("x");
  await made.close();
  const place_ = await find(roots, join(root, "a/b/c"));
  const read = await place_.open(0);
  assert.equal(await read.readFile("utf8"), "x");
  await read.close();
  // Exchanged after it was found: nothing is opened.
  renameSync(join(root, "a"), join(root, "was"));
  symlinkSync(join(top, "outside"), join(root, "a"));
  mkdirSync(join(top, "outside/b"));
  writeFileSync(join(top, "outside/b/c"), "secret");
  await assert.rejects(place_.open(0), refused(/exchanged/));
});
