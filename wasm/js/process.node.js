// Transports on Node's own streams: standard input and output, child processes, sockets.
import { once } from "node:events";
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

/** A child process, with pipes as its input and output. */
export function childProcess(child) {
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
        child.kill(signal);
      }
      await ended;
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
