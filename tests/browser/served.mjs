// The bridge as a process, for tests: started with an agent, and ended with this program.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** A folder that is gone at the end. */
export const store = mkdtempSync(join(tmpdir(), "libacp-web-"));
export const BRIDGE = ["target/debug/xtask-web"];

const bridges = new Set();
/** Ends all bridges that tests have started. */
export function killAll() {
  for (const bridge of bridges) bridge.kill();
  bridges.clear();
}

process.on("exit", () => {
  killAll();
  rmSync(store, { recursive: true, force: true });
});

/** The command of the agent that can all, which keeps its sessions in a new folder or a given one. */
export function able(...flags) {
  const beside = join(store, "able");
  if (!existsSync(beside)) {
    mkdirSync(beside);
    symlinkSync(join(root, "target/web/node_modules"), join(beside, "node_modules"));
    copyFileSync(join(root, "tests/browser/able-agent.mjs"), join(beside, "able-agent.mjs"));
  }
  return [process.execPath, join(beside, "able-agent.mjs"), mkdtempSync(join(store, "kept-")), ...flags];
}

/** The bridge; without another agent, with the chat example, which keeps its sessions in a new folder. */
export async function start(agent = [join(root, "target/debug/acp-chat-agent"), mkdtempSync(join(store, "chat-"))], command = BRIDGE, options = []) {
  const [program, ...args] = [...command, ...options, "--", ...agent];
  const bridge = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const started = { bridge, said: "", ended: new Promise((resolve) => bridge.on("exit", resolve)) };
  bridges.add(bridge);
  bridge.on("error", (error) => (started.said += error.message));
  bridge.stderr.on("data", (data) => (started.said += data));
  // The set-up may print lines of its own first.
  for await (const line of createInterface(bridge.stdout)) {
    if (line.startsWith("http://")) return Object.assign(started, { address: line.trim() });
  }
  throw new Error(`the bridge did not start: ${started.said}`);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something is so. */
export async function until(what, is, patience = 30_000) {
  const late = performance.now() + patience;
  while (!(await is())) {
    if (performance.now() > late) throw new Error(`not within ${patience} ms: ${what}`);
    await pause(10);
  }
}

/** Whether a process runs. One that has ended and was not waited for yet does not. */
export function runs(id) {
  if (existsSync("/proc/self/stat")) {
    try {
      return !/\) [ZX] /.test(readFileSync(`/proc/${id}/stat`, "latin1"));
    } catch {
      return false;
    }
  }
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

let folders = 0;

/** A folder in which processes leave their ids as names of files, and these ids. */
export function register() {
  const folder = mkdtempSync(join(store, `ids-${folders++}-`));
  return { folder, ids: () => readdirSync(folder).map(Number).filter(Boolean) };
}
