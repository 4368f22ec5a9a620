// A client or an agent on libacp that plays its side of a script of version 2. It stands beside the example hosts.
// node version-2.mjs client --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...
// node version-2.mjs agent --script FILE [--trace FILE]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { Wire } from "./wire.mjs";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** One side of a script that is being played. */
class Play {
  updates = 0;
  at = "";
  // What has no answer yet, by its name in the script: the id of an own request, or the peer's.
  #open = new Map();

  constructor(script, wire, cwd) {
    Object.assign(this, { script, wire, cwd, connection: wire.connection, events: wire.events() });
  }

  async play() {
    for (const [index, step] of this.script.steps.entries()) {
      this.at = `/steps/${index}`;
      await (step.from === this.connection.role ? this.#act(step) : this.#wait(step));
    }
    this.at = "the end";
    if (this.#open.size > 0) this.#fail(`: ${this.#open.size} requests have no answer`);
  }

  /** After the last step only the end may come. */
  async end() {
    const { unanswered } = await this.#event("closed");
    if (unanswered.length > 0) this.#fail(`: ${unanswered.length} requests were never answered`);
  }

  /** A step of this side. */
  async #act(step) {
    const params = this.#filled(step.params);
    if (step.request) this.#open.set(step.as ?? step.request, this.connection.request(step.request, params));
    else if (step.update) this.connection.notify("session/update", this.#filled(this.#update(step)));
    else if (step.notify) this.connection.notify(step.notify, params);
    else if (step.core) {
      // libacp has answered it by itself, and says so.
      const { serial } = await this.#event("answered");
      if (serial !== this.#take(step.answer).serial) this.#fail(`: the answer to something else than ${step.answer}`);
    } else this.connection.respond(this.#take(step.answer), this.#filled(step.result));
    this.wire.flush();
  }

  /** A step of the other side, which must be what comes next. */
  async #wait(step) {
    if (step.answer) {
      const event = await this.#event("response");
      if (event.id !== this.#take(step.answer)) this.#fail(`: expected the answer to ${step.answer}`);
      if (event.outcome !== "result") this.#fail(`: ended with ${event.error?.message ?? event.outcome}`);
      return this.#compare(step.result, event.result);
    }
    const method = step.request ?? step.notify ?? "session/update";
    const event = await this.#event(step.request ? "request" : "notification");
    if (event.method !== method) this.#fail(`: expected ${method}, got ${event.method}`);
    if (step.request) this.#open.set(step.as ?? method, event);
    if (step.update) this.updates += 1;
    return this.#compare(step.update ? this.#update(step) : step.params, event.params);
  }

  #take(name) {
    const open = this.#open.get(name);
    this.#open.delete(name);
    return open;
  }

  #update({ update }) {
    return { sessionId: this.script.session, update };
  }

  /** The next event, which must be of this type; rules that the peer breaks are told, and the play goes on. */
  async #event(type) {
    for (;;) {
      const { value: event } = await this.events.next();
      if (event?.type === type) return event;
      if (event?.type !== "violation") this.#fail(`: expected ${type}, got ${event?.type} ${event?.method ?? event?.rule}`);
      const { rule, method = "", pointer, message } = event;
      process.stderr.write(`${JSON.stringify({ violation: rule, method, pointer, message })}\n`);
    }
  }

  /** A copy with the folder in the place of its name. */
  #filled(value) {
    if (typeof value === "string") return this.cwd === undefined ? value : value.replaceAll("{cwd}", this.cwd);
    if (Array.isArray(value)) return value.map((item) => this.#filled(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#filled(member)]));
  }

  /** Fails at the first place where what was found is not what is expected; further members are let be. */
  #compare(expected, found, pointer = "") {
    const within = (name) => this.#compare(expected[name], found[name], `${pointer}/${name}`);
    if (isObject(expected) && isObject(found)) return Object.keys(expected).forEach(within);
    if (Array.isArray(expected) && expected.length === found?.length) return expected.forEach((_, index) => within(index));
    if (expected === "{cwd}") this.cwd ??= found;
    const filled = this.#filled(expected);
    if (!isDeepStrictEqual(filled, found)) {
      this.#fail(`${pointer}: expected ${JSON.stringify(filled)}, got ${JSON.stringify(found)}`);
    }
  }

  #fail(difference) {
    throw new Error(`${this.at}${difference}`);
  }
}

async function agent(script, file) {
  const wire = new Wire({ role: "agent", versions: script.protocol === 2 ? [1, 2] : [1] }, process.stdin, process.stdout, file);
  const play = new Play(script, wire);
  await play.play();
  await play.end();
}

async function client(script, file, cwd, [command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(child, "exit");
  child.stdin.on("error", () => {});
  const wire = new Wire({ role: "client", versions: script.protocol === 2 ? [1, 2] : [1] }, child.stdout, child.stdin, file);
  const play = new Play(script, wire, cwd);
  const late = new Promise((_, fail) =>
    setTimeout(() => fail(new Error(`${play.at}: no end within ${script.deadlineMs} ms`)), script.deadlineMs).unref(),
  );
  const converse = async () => {
    await play.play();
    child.stdin.end();
    await play.end();
    const [code, signal] = await exit;
    if (code !== 0) throw new Error(`the end: the agent has ended with ${signal ?? code}`);
  };
  try {
    await Promise.race([converse(), late]);
  } finally {
    child.kill();
  }
  const { sent, received } = wire;
  const bytes = { bytes_sent: sent.bytes, bytes_received: received.bytes };
  return { messages_sent: sent.lines, messages_received: received.lines, ...bytes, updates: play.updates };
}

const option = { type: "string" };
const options = { script: option, work: option, cwd: option, trace: option };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [role, ...command] = positionals;

function finish(report) {
  if (role === "client") process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(report.ok ? 0 : 1));
  else if (!report.ok) process.stderr.write(`node agent: ${report.error}\n`, () => process.exit(1));
}

try {
  const script = JSON.parse(readFileSync(values.script, "utf8"));
  const file = values.trace === undefined ? undefined : openSync(values.trace, "w");
  const sums = role === "client" ? await client(script, file, values.cwd ?? process.cwd(), command) : await agent(script, file);
  finish({ ok: true, ...sums });
} catch (error) {
  finish({ ok: false, error: error.message });
}
