// Plays one side of the script over a wire: acts where it is this side's turn, and otherwise takes the next event, which
// must be the one that the script has next. Read next: client.mjs and agent.mjs.
import { Sum, difference, exactDifference, filled, texts } from "./script.mjs";

/**
 * A number that no double holds, in the `_meta` of the hosts' names: the client sends it, an agent that knows the member
 * sends it back.
 */
export const EXACT = { name: "libacp.dev/exact", number: 9007199254740993n };

/** Says what the peer did wrong, as one line of JSON on standard error; nothing of it is lost, so the play goes on. */
function tell({ rule, method = "", pointer, message }) {
  process.stderr.write(`${JSON.stringify({ violation: rule, method, pointer, message })}\n`);
}

export class Player {
  places = {};
  updates = 0;
  #messages = new Sum();
  #at = "/steps";
  #held = new Map();

  /** `perform(method, params, expected)` makes the result of a request; `seen(event)` looks at each request. */
  constructor(script, wire, { perform, seen = () => {} }) {
    Object.assign(this, { script, wire, perform, seen });
    this.connection = wire.connection;
    this.events = wire.events();
  }

  async play() {
    await this.#steps(this.script.steps, "/steps");
    this.#at = "/totals";
    const { bytes: messageBytes, fnv1a32: messageFnv1a32 } = this.#messages;
    this.#compare(this.script.totals, { updates: this.updates, messageBytes, messageFnv1a32 });
  }

  /** After the last step only the end may come. */
  async end() {
    this.#at = "/end";
    const closed = await this.#take("closed");
    if (closed.unanswered.length > 0) this.fail(`: ${closed.unanswered.length} requests were never answered`);
    if (closed.terminals.length > 0) this.fail(`: ${closed.terminals.length} terminals were never released`);
  }

  fail(difference) {
    throw new Error(`${this.#at}${difference}`);
  }

  #compare(expected, found, method = "") {
    const how = method.startsWith("_") ? exactDifference : difference;
    const different = how(expected, found);
    if (different !== undefined) this.fail(different);
  }

  /** The next event, which must be of this type (and about this method). */
  async #take(type, method) {
    let { value: event } = await this.events.next();
    while (event?.type === "violation") {
      tell(event);
      ({ value: event } = await this.events.next());
    }
    if (event?.type === type && event.method === method) return event;
    const detail = event?.type === "advice" ? `: ${event.rule} ${event.pointer} ${event.message}` : "";
    this.fail(`: expected ${type} ${method ?? ""}, got ${event?.type ?? "nothing"} ${event?.method ?? ""}${detail}`);
  }

  async #steps(steps, path) {
    for (const [index, step] of steps.entries()) {
      this.#at = `${path}/${index}`;
      const mine = step.by === this.connection.role;
      if (step.chunks) await this.#chunks(step, mine);
      else if (step.notify) await this.#notification(step.notify, filled(step.params, this.places), mine);
      else if (step.answer) await this.#answer(this.#held.get(step.answer), mine);
      else if (mine) await this.#ask(step, this.#at);
      else await this.#serve(step, this.#at);
    }
  }

  async #notification(method, params, mine) {
    if (method === "session/update") this.updates += 1;
    if (mine) {
      this.connection.notify(method, params);
      this.wire.flush();
      return params;
    }
    const event = await this.#take("notification", method);
    this.#compare(params, event.params, method);
    return event.params;
  }

  async #chunks(step, mine) {
    const sum = new Sum();
    const list = step.chunks.flatMap(texts);
    const { sessionId } = this.script.steps[1].result;
    for (const text of list) {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
      const params = await this.#notification("session/update", { sessionId, update }, mine);
      sum.add(params.update.content.text);
      this.#messages.add(params.update.content.text);
    }
    const { count, bytes, fnv1a32 } = step;
    this.#compare({ count, bytes, fnv1a32 }, { count: list.length, bytes: sum.bytes, fnv1a32: sum.fnv1a32 });
  }

  async #ask(step, at) {
    const id = this.connection.request(step.request, filled(step.params, this.places));
    this.wire.flush();
    if (step.open) {
      this.#held.set(step.open, { step, id });
      return;
    }
    await this.#steps(step.during ?? [], `${at}/during`);
    this.#at = at;
    await this.#result(step, id);
  }

  async #result(step, id) {
    const event = await this.#take("response", step.request);
    if (event.id !== id) this.fail(`: expected the answer to ${id}, got the one to ${event.id}`);
    if (event.outcome !== "result") this.fail(`: ended with ${event.error?.message ?? event.outcome}`);
    if (step.request === "initialize") {
      this.named("agentInfo", event.result);
      const exact = event.result.agentInfo._meta?.[EXACT.name];
      if (exact !== undefined && exact !== EXACT.number) {
        this.fail(`/agentInfo/_meta/libacp.dev~1exact: expected ${EXACT.number}, got ${exact}`);
      }
    }
    this.#compare(step.result, event.result, step.request);
  }

  async #serve(step, at) {
    const event = await this.#take("request", step.request);
    this.seen(event);
    this.#compare(filled(step.params, this.places), event.params, step.request);
    if (step.open) {
      this.#held.set(step.open, { step, event });
      return;
    }
    await this.#steps(step.during ?? [], `${at}/during`);
    this.#at = at;
    const result = await this.perform(step.request, event.params, step.result);
    this.#compare(step.result, result, step.request);
    this.connection.respond(event, result);
    this.wire.flush();
  }

  /** The answer to a request that was held open. Only the core answers such a one: with the client's `session/cancel`. */
  async #answer({ step, id, event }, mine) {
    if (!mine) return this.#result(step, id);
    const answered = await this.#take("answered", step.request);
    if (answered.serial !== event.serial) this.fail(`: expected an answer to ${event.id}, got one to ${answered.id}`);
  }

  named(member, { [member]: info }) {
    if (!info?.name || !info?.version) this.fail(`/${member}: lacks a name or a version`);
  }
}
