// The connection as JavaScript has it: values instead of JSON text, AbortSignal, disposal. What each member does is said
// in index.d.ts; what it means, in the core.
import { Core, cutOutput as cut } from "./libacp_core.js";
import { Misuse } from "./events.js";
import { parse, stringify } from "./json.js";

const encoder = new TextEncoder();

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const COUNT = [isCount, "a whole number from 0"];
const TEXT = [(value) => typeof value === "string", "a string"];
const OPTIONS = {
  role: TEXT,
  framing: TEXT,
  policy: TEXT,
  policies: [(value) => typeof value === "object" && value !== null, "an object"],
  version2: [(value) => typeof value === "boolean", "a boolean"],
  drafts: [(value) => Array.isArray(value) && value.every((name) => typeof name === "string"), "a list of names"],
  timeout: COUNT,
  reminder: COUNT,
  limits: [(value) => typeof value === "object" && value !== null, "an object"],
};
const POLICIES = { note: TEXT, warning: TEXT, error: TEXT };
const LIMITS = { frame: COUNT, depth: COUNT, pending: COUNT, sessions: COUNT, terminals: COUNT, remembered: COUNT };
const CALL = {
  id: [() => true],
  timeout: [(value) => value === null || isCount(value), "a whole number from 0, or null"],
  signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
};

/** The options that were given, all of them known and of the right type. */
function checked(options, table, path = "") {
  if (typeof options !== "object" || options === null) throw new TypeError(`${path || "options"}: expected an object`);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (!Object.hasOwn(table, name)) {
      throw new TypeError(`${path}${name}: no such option, there are ${Object.keys(table).join(", ")}`);
    }
    const [fits, expected] = table[name];
    if (!fits(value)) throw new TypeError(`${path}${name}: expected ${expected}`);
  }
  return Object.fromEntries(given);
}

/** An id as JSON text. */
function idText(id) {
  const exact = typeof id === "number" ? Number.isSafeInteger(id) : typeof id === "bigint" || typeof id === "string";
  if (!exact && id !== null) throw new TypeError("id: expected a string, null, a bigint or a safe integer");
  return stringify(id);
}

/** Params, a result or data as JSON text. */
function valueText(value, name) {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`${name}: JSON has no word for ${typeof value}`);
  return text;
}

/** A text; the module would take anything else for memory. */
function textOf(value, name) {
  if (typeof value !== "string") throw new TypeError(`${name}: expected a string, found ${typeof value}`);
  return value;
}

/** Which request an answer is for: its event, or its id. */
function target(request) {
  return typeof request === "object" && request !== null ? [idText(request.id), request.serial] : [idText(request)];
}

const asSession = (session) => ({ ...session, terminals: new Map(Object.entries(session.terminals)) });

let ready = false;
let load;

/** Said by the entries once the module is there. */
export function loaded() {
  ready = true;
}

/** Said by an entry that has to be waited for. */
export function loadsWith(init) {
  load = init;
}

/** Waits for the module, where an entry can load it. */
export async function whenLoaded() {
  if (!ready) await load?.();
  mustBeReady();
}

function mustBeReady() {
  if (!ready) throw new Error("libacp is not loaded yet: await init() first");
}

export function cutOutput(output, byteLimit) {
  mustBeReady();
  if (!isCount(byteLimit)) throw new TypeError("byteLimit: expected a whole number from 0");
  const rest = cut(textOf(output, "output"), byteLimit);
  return { output: rest ?? output, truncated: rest !== undefined };
}

export class Connection {
  #core;
  /** What to undo when the request with this id (as text) has ended. */
  #signals = new Map();

  constructor(options) {
    mustBeReady();
    const given = checked(options, OPTIONS);
    if (given.limits) given.limits = checked(given.limits, LIMITS, "limits/");
    if (given.policies) given.policies = checked(given.policies, POLICIES, "policies/");
    this.#core = new Core(JSON.stringify(given));
  }

  get #live() {
    if (!this.#core) throw new TypeError("this connection has been freed");
    return this.#core;
  }

  receive(data) {
    // What a subclass makes of its length would be more than there is, or less than is copied into the module.
    if (typeof data !== "string" && !(data instanceof Uint8Array && data.length === data.byteLength)) {
      throw new TypeError("receive: expected a Uint8Array or a string");
    }
    this.#live.receive(typeof data === "string" ? encoder.encode(data) : data);
  }

  receiveEof() {
    this.#live.receiveEof();
  }

  handleTimeout(now) {
    if (!(now >= 0)) throw new TypeError("handleTimeout: expected milliseconds");
    this.#live.handleTimeout(now);
  }

  pollEvent() {
    const event = this.#live.pollEvent();
    if (this.#signals.size > 0 && event?.type === "response") this.#forget(idText(event.id));
    return event;
  }

  *events() {
    for (let event; (event = this.pollEvent()); ) yield event;
  }

  pollTimeout() {
    return this.#live.pollTimeout();
  }

  transmit() {
    return this.#live.transmit();
  }

  consume(count) {
    if (!isCount(count)) throw new TypeError("consume: expected a number of bytes");
    this.#live.consume(count);
  }

  request(method, params = {}, options = {}) {
    const { id, timeout, signal } = checked(options, CALL);
    signal?.throwIfAborted();
    const wanted = id === undefined ? undefined : idText(id);
    const text = this.#live.request(textOf(method, "method"), valueText(params, "params"), wanted, timeout ?? undefined, timeout === null);
    if (signal) this.#watch(signal, text);
    return parse(text);
  }

  notify(method, params = {}) {
    this.#live.notify(textOf(method, "method"), valueText(params, "params"));
  }

  respond(request, result = {}) {
    const [id, serial] = target(request);
    this.#live.respond(id, serial, valueText(result, "result"));
  }

  respondError(request, { code, message, data }) {
    const [id, serial] = target(request);
    if (!Number.isInteger(code) || code !== (code | 0)) throw new TypeError("code: expected a whole number of 32 bits");
    textOf(message, "message");
    const text = data === undefined ? undefined : valueText(data, "data");
    this.#live.respondError(id, serial, code, message, text);
  }

  cancel(id) {
    this.#live.cancel(idText(id));
  }

  close() {
    this.#live.close();
  }

  get role() {
    return this.config.role;
  }

  get config() {
    return parse(this.#live.config());
  }

  get phase() {
    return this.#live.phase();
  }

  get version() {
    return this.#live.version();
  }

  get capabilities() {
    return parse(this.#live.capabilities());
  }

  get ownCapabilities() {
    return parse(this.#live.ownCapabilities());
  }

  get peerInfo() {
    return parse(this.#live.peerInfo());
  }

  get buffered() {
    return this.#live.buffered();
  }

  get unsent() {
    return this.#live.unsent();
  }

  peerExtension(name) {
    const text = this.#live.peerExtension(textOf(name, "name"));
    return text === undefined ? undefined : parse(text);
  }

  snapshot() {
    return parse(this.#live.snapshot());
  }

  sessions() {
    const sessions = Object.entries(parse(this.#live.sessions()));
    return new Map(sessions.map(([id, session]) => [id, asSession(session)]));
  }

  session(id) {
    const text = this.#live.session(textOf(id, "id"));
    return text === undefined ? undefined : asSession(parse(text));
  }

  sessionSnapshot(id) {
    const text = this.#live.sessionSnapshot(textOf(id, "id"));
    return text === undefined ? undefined : asSession(parse(text));
  }

  commandText(session, name, input = "") {
    return this.#live.commandText(textOf(session, "session"), textOf(name, "name"), textOf(input, "input"));
  }

  inRoots(session, path) {
    return this.#live.inRoots(textOf(session, "session"), textOf(path, "path"));
  }

  pending() {
    return parse(this.#live.pending());
  }

  unanswered() {
    return parse(this.#live.unanswered());
  }

  openTerminals() {
    return parse(this.#live.openTerminals());
  }

  can(method) {
    return this.#live.can(textOf(method, "method"));
  }

  whyNot(method) {
    return this.#live.whyNot(textOf(method, "method"));
  }

  free() {
    for (const id of this.#signals.keys()) this.#forget(id);
    this.#core?.free();
    this.#core = undefined;
  }

  static {
    if (Symbol.dispose) this.prototype[Symbol.dispose] = this.prototype.free;
  }

  #watch(signal, id) {
    const abort = () => {
      this.#signals.delete(id);
      try {
        this.#live.cancel(id);
      } catch (error) {
        // It has ended, with an event that nobody has polled yet: there is nothing left to cancel.
        if (!(error instanceof Misuse)) throw error;
      }
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#signals.set(id, () => signal.removeEventListener("abort", abort));
  }

  #forget(id) {
    this.#signals.get(id)?.();
    this.#signals.delete(id);
  }
}

