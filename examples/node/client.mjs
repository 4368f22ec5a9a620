// A client that starts an agent and plays the script with it:
// node client.mjs --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { parseArgs } from "node:util";
import { EXACT, Player } from "./player.mjs";
import { Sum, difference, load, texts } from "./script.mjs";
import { Wire } from "./wire.mjs";
import { Workspace } from "./workspace.mjs";

const CLIENT_INFO = {
  name: "libacp-example-node-client",
  version: "0.1.0",
  _meta: { [EXACT.name]: EXACT.number },
};

function options() {
  const option = { type: "string" };
  const { values, positionals } = parseArgs({
    options: { script: option, work: option, cwd: option, trace: option },
    allowPositionals: true,
  });
  if (!values.work || !isAbsolute(values.work)) throw new Error("--work must be an absolute folder");
  if (positionals.length === 0) throw new Error("the agent's command is missing");
  return { ...values, agent: positionals };
}

const unreserved = /[^A-Za-z0-9\-._~/]/;
const uriPath = (path) =>
  Array.from(Buffer.from(path), (byte) => {
    const character = String.fromCharCode(byte);
    return unreserved.test(character) ? `%${byte.toString(16).toUpperCase().padStart(2, "0")}` : character;
  }).join("");

function withInfo(script) {
  const [initialize, ...steps] = script.steps;
  const params = { ...initialize.params, clientInfo: CLIENT_INFO };
  return { ...script, steps: [{ ...initialize, params }, ...steps] };
}

async function converse({ script: path, work, cwd, trace, agent: [command, ...args] }) {
  const script = withInfo(load(path));
  for (const [name, rule] of Object.entries(script.files)) writeFileSync(join(work, name), texts(rule).join(""));

  const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(agent, "exit");
  agent.stdin.on("error", () => {});
  const file = trace === undefined ? undefined : openSync(trace, "w");
  const wire = new Wire({ role: "client" }, agent.stdout, agent.stdin, file);
  const workspace = new Workspace();
  const player = new Player(script, wire, { perform: (method, params) => workspace.perform(method, params) });
  player.places = { cwd: cwd ?? process.cwd(), work, work_uri: uriPath(work) };
  const late = setTimeout(() => finish({ ok: false, error: `no end within ${script.deadlineMs} ms` }), script.deadlineMs);
  try {
    await Promise.race([player.play(), exit.then(([code]) => player.fail(`: the agent has ended with ${code}`))]);
    agent.stdin.end();
    await player.end();
    const [code, signal] = await exit;
    if (code !== 0) throw new Error(`/end: the agent has ended with ${signal ?? code}`);
  } finally {
    clearTimeout(late);
    agent.kill();
  }
  check("/written", script.written, written(script, work));
  check("/lines", script.lines, { fromClient: wire.sent.lines, fromAgent: wire.received.lines });
  return {
    messages_sent: wire.sent.lines,
    messages_received: wire.received.lines,
    bytes_sent: wire.sent.bytes,
    bytes_received: wire.received.bytes,
    updates: player.updates,
  };
}

function written(script, work) {
  const sums = Object.keys(script.written).map((name) => [name, new Sum().add(readFileSync(join(work, name)))]);
  return Object.fromEntries(sums.map(([name, { bytes, fnv1a32 }]) => [name, { bytes, fnv1a32 }]));
}

function check(at, expected, found) {
  const different = difference(expected, found);
  if (different !== undefined) throw new Error(`${at}${different}`);
}

function finish(report) {
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(report.ok ? 0 : 1));
}

try {
  finish({ ok: true, ...(await converse(options())) });
} catch (error) {
  finish({ ok: false, error: error.message });
}
