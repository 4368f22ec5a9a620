// A client of version 2 on the official TypeScript SDK:
// `node v2-client.mjs --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`
// It plays the client's side of a script of ../version-2 with the SDK's own session, and ends with one line of JSON.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";
import { difference, fill } from "./script.mjs";
import { Queue, Tap, load } from "./v2-script.mjs";

const option = { type: "string" };
const options = { script: option, work: option, cwd: option, trace: option };
const { values, positionals } = parseArgs({ options, allowPositionals: true });

class Play {
  updates = 0;
  at = "";
  #asked = new Queue();
  #open = new Map();

  constructor(script) {
    this.script = script;
    this.vars = { cwd: values.cwd ?? process.cwd() };
    this.app = acp.client({ name: "libacp-interop-typescript-client" });
    const { requestPermission } = acp.methods.client.session;
    this.app.onRequest(requestPermission, ({ params }) => new Promise((answer) => this.#asked.push({ params, answer })));
  }

  async run(agent) {
    for (const [index, step] of this.script.steps.entries()) {
      this.at = `/steps/${index}`;
      await (step.from === "client" ? this.#act(agent, step) : this.#wait(step));
    }
    this.session.dispose();
    if (this.#asked.size + this.#open.size > 0) throw new Error("something is left without an answer");
  }

  async #act(agent, step) {
    const params = fill(step.params ?? {}, this.vars);
    if (step.notify) await agent.notify(step.notify, params);
    else if (step.request) this.#open.set(step.as ?? step.request, this.#request(agent, step.request, params));
    else this.#take(step.answer)(fill(step.result, this.vars));
  }

  /** A request as a program would make it: by the session, where that has something for it. */
  #request(agent, method, params) {
    const { sessionId, prompt, ...rest } = params;
    if (method === "session/new") return agent.buildSession(params).start();
    if (method === "session/prompt") return this.session.prompt(prompt);
    if (method === "session/set_config_option") return this.session.setConfigOption(rest);
    return agent.request(method, params);
  }

  #take(name) {
    const thing = this.#open.get(name);
    this.#open.delete(name);
    return thing;
  }

  async #wait(step) {
    if (step.update) {
      const message = await this.session.nextUpdate();
      this.updates += 1;
      this.#compare(step.update, message.update);
      const stop = step.update.state === "idle";
      this.#compare(stop ? "stop" : "session_update", message.kind);
      // The agent now waits for this client, so nothing newer has arrived.
      return stop && this.#compare(step.update.background ?? null, this.session.background ?? null);
    }
    if (step.request) {
      const { params, answer } = await this.#asked.shift();
      this.#compare(step.params, params);
      return this.#open.set(step.as ?? step.request, answer);
    }
    let result = await this.#take(step.answer);
    if (result instanceof acp.ActiveSession) [this.session, result] = [result, result.newSessionResponse];
    this.#compare(step.result, result);
    if (step.answer === "session/set_config_option") this.#compare(step.result.configOptions, this.session.configOptions);
  }

  #compare(expected, found) {
    const different = difference(fill(expected, this.vars), found);
    if (different !== undefined) throw new Error(different);
  }
}

async function main() {
  const play = new Play(load(values.script));
  const file = values.trace === undefined ? undefined : openSync(values.trace, "w");
  const [sent, received] = [new Tap(">", file), new Tap("<", file)];
  const child = spawn(positionals[0], positionals.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const written = sent.readable.pipeTo(Writable.toWeb(child.stdin));
  const stream = acp.ndJsonStream(sent.writable, Readable.toWeb(child.stdout).pipeThrough(received));
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error("no answer in time")), play.script.deadlineMs).unref());
  try {
    await Promise.race([play.app.connectWith(stream, (agent) => play.run(agent)), late]);
    play.at = "the end";
    child.stdin.end();
    await Promise.race([written.catch(() => {}), late]);
    const [code, signal] = await Promise.race([exit, late]);
    if (code !== 0) throw new Error(`the agent ended with ${signal ?? code}`);
  } catch (error) {
    throw new Error(`${play.at}${/^[/:]/.test(error.message) ? "" : ": "}${error.message}`);
  } finally {
    child.kill();
  }
  const bytes = { bytes_sent: sent.bytes, bytes_received: received.bytes };
  return { messages_sent: sent.lines, messages_received: received.lines, ...bytes, updates: play.updates };
}

const report = await main().then((sums) => ({ ok: true, ...sums }), ({ message }) => ({ ok: false, error: message }));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(report.ok ? 0 : 1));
