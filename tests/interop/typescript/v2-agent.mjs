// An agent of version 2 on the official TypeScript SDK: `node v2-agent.mjs --script FILE`.
// It plays the agent's side of a script of ../version-2, and ends with 1 at the first difference.
import { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";
import { difference, fill } from "./script.mjs";
import { Queue, load } from "./v2-script.mjs";

const { values } = parseArgs({ options: { script: { type: "string" } } });
const script = load(values.script);
const vars = {};
/** What has arrived and was not looked at: a call, and for a request what answers it. */
const arrived = new Queue();
/** Requests of the client's that have no answer yet, and own ones, by their names in the script. */
const open = new Map();

const app = acp.agent({ name: "libacp-interop-typescript-agent" });
const { session, initialize } = acp.methods.agent;
for (const method of [initialize, session.new, session.setConfigOption, session.prompt, session.list, session.close, session.resume]) {
  app.onRequest(method, ({ params }) => new Promise((answer) => arrived.push({ method, params, answer })));
}
app.onNotification(session.cancel, ({ params }) => arrived.push({ method: session.cancel, params }));
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
connection.closed.then(() => arrived.push({ method: "the end of the stream" }));

function compare(expected, found, at) {
  const different = difference(fill(expected, vars), found);
  if (different !== undefined) throw new Error(`${at}${different}`);
}

async function act(step) {
  if (step.request) {
    open.set(step.as ?? step.request, connection.client.request(step.request, fill(step.params, vars)));
  } else if (step.update) {
    await connection.client.notify("session/update", { sessionId: script.session, update: fill(step.update, vars) });
  } else {
    open.get(step.answer)(fill(step.result, vars));
    open.delete(step.answer);
    // The SDK sends the answer some microtasks later; what comes next is sent behind it.
    await setImmediate();
  }
}

async function wait(step, at) {
  if (step.answer) {
    compare(step.result, await open.get(step.answer), at);
    open.delete(step.answer);
    return;
  }
  const { method, params, answer } = await arrived.shift();
  const expected = step.request ?? step.notify;
  if (method !== expected) throw new Error(`${at}: expected ${expected}, got ${method}`);
  if (method === session.new) vars.cwd = params.cwd;
  compare(step.params, params, at);
  if (answer) open.set(step.as ?? method, answer);
}

try {
  for (const [index, step] of script.steps.entries()) {
    await (step.from === "agent" ? act(step) : wait(step, `/steps/${index}`));
  }
  await connection.closed;
  const rest = await arrived.shift();
  if (rest.method !== "the end of the stream") throw new Error(`the end: got ${rest.method}`);
} catch (error) {
  process.stderr.write(`typescript agent: ${error.message}\n`, () => process.exit(1));
}
