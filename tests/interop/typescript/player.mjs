// Plays one role of the script: sends its steps, waits for the other role's and compares them.
// Everything that arrives (requests, notifications, results) passes through one queue in the order in which the SDK
// hands it over, and must be what the script has next. Read next: client.mjs, agent.mjs.
import { Checksum, brief, difference, exactDifference, expand, fill } from "./script.mjs";

export class Player {
  vars = {};
  updates = 0;
  messages = new Checksum();
  at = "";
  #queue = [];
  #wake = () => {};
  #open = new Map();

  /** `io` has request(method, params), notify(method, params), perform(method, params, expected), bind(method, params). */
  constructor(script, role, io) {
    Object.assign(this, { script, role, io });
  }

  push(item) {
    this.#queue.push(item);
    this.#wake();
  }

  /** A handler's promise: settled when the script comes to the answer. */
  receive(method, params) {
    return new Promise((reply) => this.push({ kind: "request", name: method, params, reply }));
  }

  async run() {
    await this.#play(this.script.steps, "/steps");
    this.at = "end";
    this.expectEmpty();
    const { updates, messageBytes, messageFnv1a32 } = this.script.totals;
    this.#check({ updates, messageBytes, messageFnv1a32 }, {
      updates: this.updates,
      messageBytes: this.messages.bytes,
      messageFnv1a32: this.messages.fnv1a32,
    });
  }

  expectEmpty() {
    const left = this.#queue.find((item) => item.kind !== "eof");
    if (left) throw new Error(`${this.at}: unexpected ${left.kind} ${left.name}`);
  }

  async #take(kind, name) {
    while (this.#queue.length === 0) await new Promise((wake) => (this.#wake = wake));
    const item = this.#queue.shift();
    if (item.kind === kind && item.name === name) return item;
    throw new Error(`${this.at}: expected ${kind} ${name}, got ${item.kind} ${item.name}`);
  }

  #check(expected, actual, name = "") {
    const found = name.startsWith("_") ? exactDifference(expected, actual) : difference(expected, actual);
    if (found !== undefined) throw new Error(`${this.at}${found}`);
  }

  async #play(steps, path) {
    for (const [index, step] of steps.entries()) {
      const at = `${path}/${index}`;
      this.at = at;
      if (step.chunks) await this.#chunks(step);
      else if (step.notify) await this.#notify(step.by, step.notify, step.params);
      else if (step.answer) await this.#answer(step);
      else await this.#request(step, at);
    }
  }

  async #chunks(step) {
    const sum = new Checksum();
    const texts = step.chunks.flatMap(expand);
    const sessionId = this.script.steps[1].result.sessionId;
    for (const text of texts) {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
      const params = await this.#notify(step.by, "session/update", { sessionId, update });
      sum.add(params.update.content.text);
      this.messages.add(params.update.content.text);
    }
    this.#check(
      { count: step.count, bytes: step.bytes, fnv1a32: step.fnv1a32 },
      { count: texts.length, bytes: sum.bytes, fnv1a32: sum.fnv1a32 },
    );
  }

  async #notify(by, method, template) {
    if (method === "session/update") this.updates += 1;
    const params = fill(template, this.vars);
    if (by === this.role) {
      await this.io.notify(method, params);
      return params;
    }
    const item = await this.#take("notification", method);
    this.#check(params, item.params, method);
    return item.params;
  }

  async #answer(step) {
    const { at, item, request } = this.#open.get(step.answer);
    if (step.by === this.role) item.reply(request.result);
    else await this.#result(request, at);
  }

  async #request(step, at) {
    const method = step.request;
    if (step.by === this.role) {
      this.io.request(method, fill(step.params, this.vars)).then(
        (value) => this.push({ kind: "result", name: at, value }),
        (error) => this.push({ kind: "result", name: at, error }),
      );
      if (step.open) {
        this.#open.set(step.open, { at, request: step });
        return;
      }
      await this.#play(step.during ?? [], `${at}/during`);
      this.at = at;
      await this.#result(step, at);
    } else {
      const item = await this.#take("request", method);
      this.io.bind?.(method, item.params);
      this.#check(fill(step.params, this.vars), item.params, method);
      if (step.open) {
        this.#open.set(step.open, { at, item, request: step });
        return;
      }
      await this.#play(step.during ?? [], `${at}/during`);
      this.at = at;
      const result = await this.io.perform(method, item.params, step.result);
      this.#check(step.result, result, method);
      item.reply(result);
    }
  }

  async #result(step, at) {
    const item = await this.#take("result", at);
    if (item.error) throw new Error(`${at}: ${step.request} failed: ${item.error.message} ${brief(item.error.data)}`);
    if (step.request === "initialize") this.requireName("agentInfo", item.value.agentInfo);
    this.#check(step.result, item.value, step.request);
  }

  requireName(member, info) {
    if (!info?.name || !info?.version) throw new Error(`${this.at}: ${member} lacks a name or a version`);
  }
}
