// An agent as a child process of this one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "./client.js";
import { childProcess } from "./process.node.js";

export async function spawnAgent([program, ...args], client, { cwd, env, stderr = "inherit", ...how } = {}) {
  how.signal?.throwIfAborted();
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", stderr] });
  await once(child, "spawn");
  return connect(childProcess(child), client, how);
}
