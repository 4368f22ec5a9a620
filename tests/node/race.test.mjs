// Files while somebody exchanges folders for links, and by names that nobody would choose.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync, symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { test } from "node:test";
import { clientSide } from "./both.mjs";

const { Files, RequestError } = clientSide;
const skip = process.platform !== "linux";
const SECONDS = Number(process.env.LIBACP_SECONDS ?? 15);

function place(t) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "libacp-race-")));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  for (const name of ["root", "outside"]) mkdirSync(join(top, name));
  return { top, root: join(top, "root"), outside: join(top, "outside") };
}

/** All that is in a folder, with what files have. */
const inside = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => [join(entry.parentPath ?? entry.path, entry.name), entry.isFile()])
    .map(([path, isFile]) => `${path} ${isFile ? readFileSync(path, "utf8") : ""}`)
    .sort();

// Exchanges each pair as fast as it can; where the system cannot, by renaming three times.
const FLIPPER = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pairs = [(a.encode(), b.encode()) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
def exchange(a, b):
    if libc.renameat2(-100, a, -100, b, 2) != 0:
        os.rename(a, a + b".x"); os.rename(b, a); os.rename(a + b".x", b)
print("flipping", flush=True)
while True:
    for a, b in pairs:
        exchange(a, b)
`;

test("a folder and a link that are exchanged lead nobody outside", { skip, timeout: (SECONDS + 60) * 1000 }, async (t) => {
  const { root, outside } = place(t);
  writeFileSync(join(outside, "file"), "secret");
  mkdirSync(join(outside, "deep"));
  writeFileSync(join(outside, "deep/file"), "secret");
  for (const name of ["way", "other"]) mkdirSync(join(root, name));
  mkdirSync(join(root, "way/deep"));
  symlinkSync(outside, join(root, "link"));
  symlinkSync(outside, join(root, "second"));
  writeFileSync(join(root, "plain"), "fine");
  symlinkSync(join(outside, "file"), join(root, "leaf"));
  for (const name of ["way/file", "way/deep/file", "other/file"]) writeFileSync(join(root, name), "fine");
  const before = inside(outside);
  const names = ["way", "link", "other", "second", "plain", "leaf"].map((name) => join(root, name));
  const flipper = spawn("python3", ["-c", FLIPPER, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => flipper.kill("SIGKILL"));
  await once(flipper.stdout, "data");
  const files = new Files();
  const session = { roots: [root] };
  files.begin(session);
  const [done, refused] = [{ read: 0, write: 0 }, { read: 0, write: 0 }];
  const attempt = async (kind, work) => {
    try {
      const text = await work();
      done[kind] += 1;
      assert.ok(text === undefined || !text.includes("secret"), "the secret was read");
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      refused[kind] += 1;
    }
  };
  const end = performance.now() + SECONDS * 1000;
  const agent = async (index) => {
    for (let turn = 0; performance.now() < end; turn += 1) {
      for (const name of ["way/file", "way/deep/file", "other/file", "plain", "leaf"]) {
        const path = join(root, name);
        await attempt("read", () => files.readTextFile(session, { path }));
        await attempt("write", () => files.writeTextFile(session, { path, content: "fine" }));
      }
      for (const name of [`way/new-${index}-${turn}`, `other/made-${index}-${turn}/deep/file`]) {
        await attempt("write", () => files.writeTextFile(session, { path: join(root, name), content: "fine" }));
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, (_, index) => agent(index)));
  flipper.kill("SIGKILL");
  await once(flipper, "exit");
  t.diagnostic(`done ${JSON.stringify(done)}, refused ${JSON.stringify(refused)}`);
  assert.deepEqual(inside(outside), before);
  assert.ok(done.read > 0 && done.write > 0 && refused.read > 0 && refused.write > 0);
});

/** Numbers that are the same in each run with one seed. */
function random(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** Where a path leads, by a model of the tree that steps from name to name; whether it is there; nothing for no place. */
function model(path, turns = { left: 40 }) {
  let at = "/";
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    if (name === "..") {
      at = posix.dirname(at);
      continue;
    }
    const next = posix.join(at, name);
    const stat = lstatSync(next, { throwIfNoEntry: false });
    if (!stat) return names.slice(index).includes("..") ? undefined : { path: posix.join(at, ...names.slice(index)), isThere: false };
    if (stat.isSymbolicLink()) {
      turns.left -= 1;
      if (turns.left < 0) return undefined;
      return model(posix.isAbsolute(readlinkSync(next)) ? [readlinkSync(next), ...names.slice(index + 1)].join("/")
        : [at, readlinkSync(next), ...names.slice(index + 1)].join("/"), turns);
    }
    if (!stat.isDirectory() && index < names.length - 1) return undefined;
    at = next;
  }
  return { path: at, isThere: true };
}

test("whatever a path is made of, it leads where the tree says, or nowhere", { skip }, async (t) => {
  const seed = Number(process.env.LIBACP_SEED ?? Math.floor(Math.random() * 2 ** 32));
  t.diagnostic(`LIBACP_SEED=${seed}`);
  const pick = random(seed);
  const { top, root, outside } = place(t);
  writeFileSync(join(outside, "file"), "secret");
  const odd = ["a", "b", "..", ".", "...", " ", "a ", "\n", "\u202e", "é", "\ud800", "🦀", "-", "~", "%2e%2e", "..\\", "file", "new", "x".repeat(255)];
  const name = () => odd[pick(odd.length)];
  const way = (most) => Array.from({ length: 1 + pick(most) }, name).join("/");
  const targets = [outside, join(outside, "file"), "..", "../outside", "../../outside/file", ".", "a", "b/..", "none", root, join(root, "a"), "/", "/proc/self/root", "/proc/self/cwd"];
  for (let made = 0; made < 60; made += 1) {
    const path = join(root, way(3));
    if (!path.startsWith(`${root}/`)) continue;
    try {
      mkdirSync(join(path, ".."), { recursive: true });
      const real = realpathSync(join(path, ".."));
      if (!`${real}/`.startsWith(`${root}/`)) continue;
      if (pick(3) === 0) symlinkSync(targets[pick(targets.length)], path);
      else if (pick(2) === 0) mkdirSync(path);
      else writeFileSync(path, "fine");
    } catch (error) {
      if (!error.code) throw error;
    }
  }
  const files = new Files();
  const session = { roots: [root] };
  // Links may have led the making of the tree out, too.
  const [before, around] = [inside(outside), readdirSync(top)];
  const held = readdirSync("/proc/self/fd").length;
  let served = 0;
  for (let turn = 0; turn < 1500; turn += 1) {
    const base = [root, `${root}/..`, top, "/", `${root}/a/..`][pick(5) * (pick(2))];
    const path = `${base}/${way(6)}${pick(20) === 0 ? "/" : ""}`;
    const wanted = model(path);
    const isInside = wanted && wanted.path.startsWith(`${root}/`);
    const writing = pick(3) === 0;
    const content = `fine ${turn}`;
    const old = isInside && wanted.isThere && lstatSync(wanted.path).isFile() ? readFileSync(wanted.path, "utf8") : undefined;
    let text;
    try {
      text = writing ? await files.writeTextFile(session, { path, content }) : await files.readTextFile(session, { path });
    } catch (error) {
      assert.ok(error instanceof RequestError, error.stack);
      // What is a plain file, and inside, is served.
      if (!path.endsWith("/") && !/\/\.$/.test(path)) assert.equal(old, undefined, `${JSON.stringify(path)}: ${error.message}`);
      continue;
    }
    served += 1;
    assert.ok(isInside, `${JSON.stringify(path)} was served`);
    if (writing) assert.ok(existsSync(wanted.path) && readFileSync(wanted.path, "utf8") === content, JSON.stringify(path));
    else assert.equal(text, old);
  }
  assert.deepEqual(inside(outside), before);
  assert.deepEqual(readdirSync(top), around);
  assert.ok(readdirSync("/proc/self/fd").length <= held + 2, "files stay open");
  assert.ok(served > 10, `${served} were served`);
});
