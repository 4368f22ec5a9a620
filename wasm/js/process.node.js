// Transports on Node's own streams: standard input and output, child processes, sockets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { exists } from "./warden.node.js";
import { within } from "./wire.js";

/** A pair of Node's streams; one socket may be both. */
export function nodeStreams(readable, writable, { framing } = {}) {
  // What fails shows at the next write.
  writable.on("error", () => {});
  return {
    framing,
    readable,
    write(bytes) {
      if (writable.destroyed || writable.writableEnded) throw new Error("the stream to the peer has been closed");
      if (writable.write(bytes)) return undefined;
      const stop = new AbortController();
      const { signal } = stop;
      const closed = once(writable, "close", { signal }).then(() => Promise.reject(new Error("the peer reads no more")));
      return Promise.race([once(writable, "drain", { signal }), closed]).finally(() => {
        closed.catch(() => {});
        stop.abort();
      });
    },
    close() {
      writable.end();
    },
  };
}

const HAS_GROUPS = process.platform !== "win32";
// So long a group has to end when its first process has, and was asked to.
const LEFT = 300;

/** Ends a child, or all that is in its group; what has ended already is left alone. */
function end(child, signal, group) {
  if (!group) return child.kill(signal);
  if (!HAS_GROUPS) {
    const all = spawn("taskkill", ["/pid", String(child.pid), "/t", "/f"], { stdio: "ignore" });
    return all.on("error", () => child.kill());
  }
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

/** Ends what a child has left in its group. While somebody is in it, its number is nobody else's. */
async function sweep(child) {
  if (!HAS_GROUPS || !exists(-child.pid) || exists(child.pid)) return;
  end(child, "SIGTERM", true);
  for (let waited = 0; waited < LEFT; waited += 10) {
    if (!exists(-child.pid)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (!exists(child.pid)) end(child, "SIGKILL", true);
}

/** A child process, with pipes as its input and output. With `group`, it was started with a process group of its own. */
export function childProcess(child, { group = false } = {}) {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new TypeError("childProcess: expected pipes as its input and output");
  const over = child.exitCode !== null || child.signalCode !== null;
  const ended = over ? Promise.resolve() : new Promise((resolve) => child.once("exit", resolve));
  return {
    ...nodeStreams(stdout, stdin),
    process: child,
    ended,
    /** Waits for its end, then helps. */
    async exit(grace) {
      for (const signal of ["SIGTERM", "SIGKILL"]) {
        if (await within(ended, grace)) break;
        end(child, signal, group);
      }
      await ended;
      if (group) await sweep(child);
      // A child of its own may hold it open.
      stdout.destroy();
    },
  };
}

/** This process's standard input and output. Until it is closed, what the program prints goes to standard error. */
export function stdio() {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write;
  const streams = nodeStreams(stdin, stdout);
  stdout.write = (...args) => stderr.write(...args);
  return {
    ...streams,
    write(bytes) {
      const redirected = stdout.write;
      stdout.write = write;
      try {
        return streams.write(bytes);
      } finally {
        stdout.write = redirected;
      }
    },
    close() {
      stdout.write = write;
      stdin.destroy();
    },
  };
}
