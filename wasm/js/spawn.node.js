// An agent as a child process of this one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { connect } from "./client.js";
import { mustKnow } from "./host.js";
import { childProcess } from "./process.node.js";

const OPTIONS = ["cwd", "env", "stderr", "processGroup", "timeout", "grace", "signal", "meta"];
// Lines of standard error that an error tells, where the host has asked to hear them, and characters of each.
const LAST = 20;
const LONG = 1000;
// As long as a connection gives it by default.
const GRACE = 5000;

export async function spawnAgent(command, client, options = {}) {
  if (!Array.isArray(command) || command.length === 0) {
    throw new TypeError(`spawnAgent: expected a list of the program and its arguments, found ${typeof command}`);
  }
  mustKnow(options, OPTIONS, "option");
  const { cwd, env, stderr = "inherit", processGroup = true, ...how } = options;
  how.signal?.throwIfAborted();
  const [program, ...args] = command;
  const hears = typeof stderr === "function";
  const stdio = ["pipe", "pipe", hears ? "pipe" : stderr];
  const child = spawn(program, args, { cwd, env, stdio, detached: processGroup && process.platform !== "win32" });
  await once(child, "spawn").catch((error) => {
    // The system says the same of a program and of a directory that are not there.
    if (error.code !== "ENOENT" || cwd === undefined || existsSync(cwd)) throw error;
    throw Object.assign(new Error(`spawnAgent: cwd: there is no directory ${cwd}`, { cause: error }), { code: error.code });
  });
  const transport = childProcess(child, { group: processGroup });
  if (hears) transport.lastLines = listen(child.stderr, stderr);
  try {
    return await connect(transport, client, how);
  } catch (error) {
    // Whoever has no agent cannot close it.
    transport.close();
    await transport.exit(how.grace ?? GRACE);
    throw error;
  }
}

/** Gives each line to the host, and keeps the last ones. */
function listen(stream, hear) {
  const last = [];
  createInterface({ input: stream }).on("line", (line) => {
    last.push(line.slice(0, LONG));
    if (last.length > LAST) last.shift();
    hear(line);
  });
  return last;
}
