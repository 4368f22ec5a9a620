// Runs an agent behind a proxy in a sandbox: `node host.mjs PROXY.wasm [--rules JSON] [--time MS] [--memory BYTES] -- AGENT …`.
//
// It looks like the agent to whoever starts it: standard input and output are the client's side. The proxy runs on a thread
// of its own (sandbox.mjs), with a deadline for each piece of input and no more memory than allowed. One that exceeds
// either, or traps, is cut off: the client's open requests and all later ones are answered with an error that says so, and
// the agent keeps running until the client ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

const CLIENT = 0;
const AGENT = 1;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rules: { type: "string", default: "{}" },
    time: { type: "string", default: "2000" },
    memory: { type: "string", default: String(64 << 20) },
  },
});
const [module, command, ...args] = positionals;

/** The proxy, until it does what it may not. */
class Sandbox {
  constructor() {
    const workerData = { module, rules: values.rules, memory: Number(values.memory) };
    this.worker = new Worker(new URL("sandbox.mjs", import.meta.url), { workerData });
    this.worker.unref();
  }

  /** Passes in what a side said, nothing for its end; gives what the client and the agent are to be told. */
  async receive(side, data) {
    const expired = Symbol("expired");
    let timer;
    const deadline = new Promise((resolve) => (timer = setTimeout(resolve, Number(values.time), expired)));
    this.worker.ref();
    this.worker.postMessage({ side, data });
    try {
      const answered = once(this.worker, "message").catch(() => [{ failed: "it failed" }]);
      const result = await Promise.race([answered, deadline]);
      if (result === expired) throw new Error("it ran longer than it may");
      if (result[0].failed) throw new Error(result[0].failed);
      return result[0];
    } catch (error) {
      await this.worker.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
      this.worker.unref();
    }
  }
}

/** The client's requests that have no answer yet, for the day when the proxy cannot answer any more. */
class Open {
  ids = new Map();
  rest = [Buffer.alloc(0), Buffer.alloc(0)];

  *messages(side, data) {
    let rest = Buffer.concat([this.rest[side], data]);
    for (let end; (end = rest.indexOf(10)) >= 0; rest = rest.subarray(end + 1)) {
      let message;
      try {
        message = JSON.parse(rest.toString("utf8", 0, end));
      } catch {
        continue;
      }
      if (message && typeof message === "object" && "id" in message) yield message;
    }
    this.rest[side] = rest;
  }

  asked(data) {
    for (const { method, id } of this.messages(CLIENT, data)) if (method) this.ids.set(JSON.stringify(id), id);
  }

  answered(data) {
    for (const { method, id } of this.messages(AGENT, data)) if (!method) this.ids.delete(JSON.stringify(id));
  }

  /** Answers to all of them. */
  errors(why) {
    const error = { code: -32603, message: `The proxy was cut off: ${why}` };
    const answers = [...this.ids.values()].map((id) => `${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
    this.ids.clear();
    return Buffer.from(answers.join(""));
  }
}

const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
agent.on("error", (error) => {
  console.error(`the agent cannot be started: ${command}: ${error.code}`);
  process.exit(127);
});
const agentEnded = once(agent, "close");
agent.stdin.on("error", () => {}); // Its end arrives as the end of its output.
const waiting = new Open();
let sandbox = new Sandbox();
let why = "";

async function write(stream, data) {
  if (data.length > 0 && !stream.destroyed && !stream.write(data)) {
    await Promise.race([once(stream, "drain"), once(stream, "close")]);
  }
}

async function tell({ toClient, toAgent }) {
  waiting.answered(toClient);
  await write(process.stdout, toClient);
  await write(agent.stdin, toAgent);
}

async function receive(side, data) {
  if (side === CLIENT) waiting.asked(data);
  try {
    if (sandbox) return await tell(await sandbox.receive(side, data));
  } catch (error) {
    sandbox = undefined;
    why = error.message;
    console.error(`the proxy was cut off: ${why}`);
  }
  await tell({ toClient: waiting.errors(why), toAgent: Buffer.alloc(0) });
}

// One piece at a time: each side waits while the other is being served.
let turn = Promise.resolve();
async function pump(side, stream) {
  for await (const data of stream) await (turn = turn.then(() => receive(side, data)));
  await (turn = turn.then(() => receive(side, Buffer.alloc(0))));
}

pump(AGENT, agent.stdout);
await pump(CLIENT, process.stdin);
agent.stdin.end();
const [status] = await agentEnded;
process.exitCode = status ?? 1;
