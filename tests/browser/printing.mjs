// Example clients that print what an agent says, with an agent that would steer the terminal: in C, C++ and JavaScript. Those
// in Rust have the same test beside them, in examples/rust-async.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, store } from "./served.mjs";
import { STEERING } from "./steering-agent.mjs";

const AGENT = [process.execPath, fileURLToPath(new URL("steering-agent.mjs", import.meta.url))];
const RELEASE = join(root, "target/release");
const LIBRARY = join(RELEASE, "libacp.a");
/** Makes the library of files fit beside the other one; only where there is one. */
const PRELINK = join(root, "ffi-files/prelink.sh");
// These are for lines; everything else is written out, or replaced.
const ALLOWED = ["\n", "\t"];

/** The C library, which the set-up of the tests has built, and that of files. */
function libraries() {
  const build = (name) => execFileSync("cargo", ["build", "--quiet", "--release", "--package", name], { cwd: root });
  if (!existsSync(LIBRARY)) build("libacp-ffi");
  if (!existsSync(PRELINK)) return [LIBRARY];
  const files = join(store, "libacp_files.a");
  if (!existsSync(join(RELEASE, "libacp_files.a"))) build("libacp-ffi-files");
  if (!existsSync(files)) execFileSync(PRELINK, [join(RELEASE, "libacp_files.a"), files], { cwd: root });
  return [files, LIBRARY];
}

/** Compiles an example. */
function compile(compiler, options, folder, sources) {
  const program = join(store, folder.replaceAll("/", "-"));
  const files = sources ?? readdirSync(join(root, folder)).filter((name) => name.endsWith(".c"));
  const paths = files.map((name) => join(folder, name));
  execFileSync(compiler, [...options, "-Iinclude", ...paths, ...libraries(), "-lpthread", "-ldl", "-lm", "-o", program], { cwd: root, stdio: "pipe" });
  return program;
}

/** Runs a program to its end, with what is typed in a pipe. */
function run(command, typed = "") {
  return new Promise((resolve) => {
    const [program, ...args] = command;
    const child = execFile(program, args, { cwd: store, timeout: 60_000 }, (error, out, errors) => resolve(out + errors));
    child.stdin.on("error", () => {}).end(typed);
  });
}

function check(printed, ...parts) {
  for (const part of parts) assert.ok(printed.includes(part), `missing: ${part} in ${JSON.stringify(printed)}`);
  const found = STEERING.filter((it) => !ALLOWED.includes(it) && printed.includes(it));
  assert.deepEqual(found.map((it) => it.charCodeAt(0).toString(16)), []);
}

const CPP = ["chat.cpp", "main.cpp", "conversation.cpp", "screen.cpp", "diff.cpp", "process.cpp"];
const missing = (compiler) => {
  const none = spawnSync(compiler, ["--version"]).error !== undefined;
  if (none) console.log(`note: an example was skipped: there is no ${compiler} (apt-get install build-essential)`);
  return none;
};

export const printingTests = {
  async "nothing that an agent says steers the terminal of the editor in C"() {
    if (missing("cc")) return;
    const editor = compile("cc", ["-std=c99"], "examples/c/editor");
    check(await run([editor, "--cwd", store, "go", "--", ...AGENT]), "* Call", "Words", "turn ended: end_turn");
    check(await run([editor, "--cwd", store, "go", "--", ...AGENT, "--fail"]), "failed: session/prompt: Because");
  },

  async "nothing that an agent says steers the terminal of the chat in C++"() {
    if (missing("c++")) return;
    const chat = compile("c++", ["-std=c++17"], "examples/cpp", CPP);
    check(await run([chat, "--cwd", store, "--", ...AGENT], "go\n1\n"), "Name", "Call", "Step", "Words", "? May the agent go on: Ask");
    check(await run([chat, "--cwd", store, "--", ...AGENT, "--fail"], "go\n1\n"), "Because");
  },

  async "nothing that an agent says steers the terminal of the short client"() {
    const folder = join(store, "short");
    mkdirSync(folder);
    copyFileSync(join(root, "examples/node/short-client.mjs"), join(folder, "short-client.mjs"));
    symlinkSync(join(root, "target/web/node_modules"), join(folder, "node_modules"));
    const client = [process.execPath, join(folder, "short-client.mjs"), "go", "--", ...AGENT];
    check(await run(client), "[Call", "Ask", "wants to run; allowed", "[plan] Step", "Words", "(end_turn)");
    check(await run([...client, "--fail"]), "Because");
  },
};
