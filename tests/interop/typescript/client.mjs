// The client of the script on the official TypeScript SDK:
// `node client.mjs --script script.json --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk";
import { Player } from "./player.mjs";
import { Checksum, difference, expand, load, pathToUri } from "./script.mjs";

const option = { type: "string" };
const { values, positionals } = parseArgs({
  options: { script: option, work: option, cwd: option, trace: option },
  allowPositionals: true,
});

/** Counts, and on demand records, the lines that pass in one direction. */
class Tap {
  lines = 0;
  bytes = 0;
  #parts = [];

  constructor(direction, file) {
    Object.assign(this, { direction, file });
  }

  feed(data) {
    this.bytes += data.length;
    let start = 0;
    for (let end; (end = data.indexOf(10, start)) >= 0; start = end + 1) {
      this.#parts.push(data.subarray(start, end));
      const line = Buffer.concat(this.#parts.splice(0));
      this.lines += 1;
      if (this.file === undefined) continue;
      const ms = Number(performance.now().toFixed(3));
      writeSync(this.file, `${JSON.stringify({ d: this.direction, ms, s: line.toString() })}\n`);
    }
    if (start < data.length) this.#parts.push(Buffer.from(data.subarray(start)));
  }
}

/** What the client really does for the agent. */
class Workspace {
  #terminals = new Map();

  async perform(method, params) {
    switch (method) {
      case "fs/read_text_file": {
        const lines = readFileSync(params.path, "utf8").match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const start = (params.line ?? 1) - 1;
        return { content: lines.slice(start, start + (params.limit ?? lines.length)).join("") };
      }
      case "fs/write_text_file":
        writeFileSync(params.path, params.content);
        return {};
      case "session/request_permission": {
        const option = params.options.find(({ kind }) => kind === "allow_once");
        return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
      }
      case "terminal/create":
        return { terminalId: this.#start(params) };
      case "terminal/wait_for_exit":
        return this.#terminal(params).exited;
      case "terminal/output":
        return this.#output(this.#terminal(params));
      case "terminal/release":
        this.#terminal(params).child.kill();
        this.#terminals.delete(params.terminalId);
        return {};
      case "_libacp.dev/echo":
        return params;
      default:
        throw new Error(`${method} is not in the script`);
    }
  }

  get terminals() {
    return this.#terminals.size;
  }

  #terminal({ terminalId }) {
    const terminal = this.#terminals.get(terminalId);
    if (!terminal) throw new Error(`no terminal ${terminalId}`);
    return terminal;
  }

  #start({ command, args, env, cwd, outputByteLimit }) {
    const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(command, args ?? [], { cwd, env: { ...process.env, ...added }, stdio: ["ignore", "pipe", "pipe"] });
    const terminal = { child, parts: [], limit: outputByteLimit ?? Infinity, status: undefined };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => terminal.parts.push(data));
    terminal.exited = once(child, "close").then(
      ([exitCode, signal]) => (terminal.status = { exitCode, signal }),
    );
    const id = `term-${this.#terminals.size + 1}`;
    this.#terminals.set(id, terminal);
    return id;
  }

  #output({ parts, limit, status }) {
    const all = Buffer.concat(parts);
    const truncated = all.length > limit;
    const output = (truncated ? all.subarray(all.length - limit) : all).toString();
    return { output, truncated, exitStatus: status };
  }
}

async function converse(child, player, sent, received) {
  const app = acp.client({ name: "libacp-interop-typescript-client" });
  const { session, fs, terminal } = acp.methods.client;
  // First: the SDK awaits each handler that does not match, so a later place lets requests and results overtake.
  app.onNotification(session.update, ({ params }) =>
    player.push({ kind: "notification", name: session.update, params }),
  );
  const requests = [session.requestPermission, fs.readTextFile, fs.writeTextFile, terminal.create];
  for (const method of [...requests, terminal.waitForExit, terminal.output, terminal.release]) {
    app.onRequest(method, ({ params }) => player.receive(method, params));
  }
  app.onRequest("_libacp.dev/echo", (params) => params, ({ params }) => player.receive("_libacp.dev/echo", params));

  const output = new WritableStream({
    write(data) {
      sent.feed(data);
      return new Promise((done, failed) => child.stdin.write(data, (error) => (error ? failed(error) : done())));
    },
  });
  const input = Readable.toWeb(child.stdout).pipeThrough(
    new TransformStream({
      transform(data, controller) {
        received.feed(data);
        controller.enqueue(data);
      },
    }),
  );
  const connection = app.connect(acp.ndJsonStream(output, input));
  player.io.connection = connection;
  connection.closed.then(() => player.push({ kind: "eof", name: "" }));
  await player.run();
  child.stdin.end();
  await connection.closed;
  player.expectEmpty();
}

function prepare(script) {
  const { script: path, work } = values;
  if (!path || !work || positionals.length === 0) throw new Error("--script, --work and an agent are needed");
  if (!isAbsolute(work)) throw new Error("--work must be absolute");
  for (const [name, rule] of Object.entries(script.files)) writeFileSync(join(work, name), expand(rule).join(""));
}

function checkFiles(script) {
  for (const [name, expected] of Object.entries(script.written)) {
    const sum = new Checksum().add(readFileSync(join(values.work, name), "utf8"));
    const found = difference(expected, { bytes: sum.bytes, fnv1a32: sum.fnv1a32 });
    if (found !== undefined) throw new Error(`${name}${found}`);
  }
}

async function main() {
  const script = load(values.script);
  prepare(script);
  const trace = values.trace === undefined ? undefined : openSync(values.trace, "w");
  const sent = new Tap(">", trace);
  const received = new Tap("<", trace);
  const [command, ...args] = positionals;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const started = once(child, "spawn");
  const exited = new Promise((ended) => child.once("exit", (code, signal) => ended([code, signal])));
  child.stdin.on("error", () => {});

  const workspace = new Workspace();
  const clientInfo = { name: "libacp-interop-typescript-client", version: "0.1.0" };
  const io = {
    request: (method, params) =>
      io.connection.agent.request(method, method === "initialize" ? { ...params, clientInfo } : params),
    notify: (method, params) => io.connection.agent.notify(method, params),
    perform: (method, params) => workspace.perform(method, params),
  };
  const player = new Player(script, "client", io);
  player.vars = { cwd: values.cwd ?? process.cwd(), work: values.work, work_uri: pathToUri(values.work) };
  const deadline = new Promise((_, late) =>
    setTimeout(() => late(new Error(`${player.at}: no answer within ${script.deadlineMs} ms`)), script.deadlineMs).unref(),
  );
  try {
    await started;
    await Promise.race([converse(child, player, sent, received), deadline]);
    const [code, signal] = await Promise.race([exited, deadline]);
    if (code !== 0) throw new Error(`the agent ended with ${signal ?? code}`);
    if (workspace.terminals > 0) throw new Error("a terminal was not released");
    checkFiles(script);
    const found = difference(script.lines, { fromClient: sent.lines, fromAgent: received.lines });
    if (found !== undefined) throw new Error(`lines${found}`);
  } finally {
    child.kill();
    if (trace !== undefined) closeSync(trace);
  }
  return {
    messages_sent: sent.lines,
    messages_received: received.lines,
    bytes_sent: sent.bytes,
    bytes_received: received.bytes,
    updates: player.updates,
  };
}

main().then(
  (summary) => console.log(JSON.stringify({ ok: true, ...summary })),
  (error) => {
    console.log(JSON.stringify({ ok: false, error: error.message }));
    process.exitCode = 1;
  },
);
