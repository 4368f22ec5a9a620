// The connection as JavaScript has it: values instead of JSON text, AbortSignal, disposal. What each member does is said
// in index.d.ts; what it means, in the core. What can be asked of it is generated: getters.js.
import { Bell } from "./bell.js";
import { Border } from "./border.js";
import { Misuse } from "./mistakes.js";
import { getters } from "./getters.js";
import { parse, stringify } from "./json.js";
import { CALL, COUNT, checked, isCount, known } from "./options.js";

const encoder = new TextEncoder();

/** An id as JSON text. */
function idText(id) {
  const exact = typeof id === "number" ? Number.isSafeInteger(id) : typeof id === "bigint" || typeof id === "string";
  if (!exact && id !== null) throw new TypeError("id: expected a string, null, a bigint or a safe integer");
  return stringify(id);
}

/** Params, a result or data as JSON text. */
export function valueText(value, name) {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`${name}: JSON has no word for ${typeof value}`);
  return text;
}

/** A text; the module would take anything else for memory. */
export function textOf(value, name) {
  if (typeof value !== "string") throw new TypeError(`${name}: expected a string, found ${typeof value}`);
  return value;
}

/** A whole number as text. */
export function wholeText(value, name) {
  if (!isCount(value)) throw new TypeError(`${name}: expected ${COUNT[1]}`);
  return String(value);
}

function mustBeCode(code) {
  if (!Number.isInteger(code) || code !== (code | 0)) throw new TypeError("code: expected a whole number of 32 bits");
}

/** Which request an answer is for: its event, or its id. */
function target(request) {
  return typeof request === "object" && request !== null ? [idText(request.id), request.serial] : [idText(request)];
}

export const asSession = (session) => session && { ...session, terminals: new Map(Object.entries(session.terminals)) };

// As the core counts it: the kind of event that does not come often.
export const OTHER = 1;

let border;
let load;

/** Said by the entries once the module is there: what its glue exports, what it exports itself, how text is read. */
export function loaded(glue, exports, how) {
  border = new Border(glue, exports, how);
}

/** Said by an entry that has to be waited for. */
export function loadsWith(init) {
  load = init;
}

/** Waits for the module, where an entry can load it. */
export async function whenLoaded() {
  if (!border) await load?.();
  mustBeReady();
}

function mustBeReady() {
  if (!border) throw new Error("libacp is not loaded yet: await init() first");
}

export function cutOutput(output, byteLimit) {
  mustBeReady();
  if (!isCount(byteLimit)) throw new TypeError("byteLimit: expected a whole number from 0");
  border.say(textOf(output, "output"));
  const truncated = border.glue.cutOutput(byteLimit);
  return { output: truncated ? border.told() : output, truncated };
}

/** Says options to what is made next. */
export function begin(...options) {
  mustBeReady();
  const given = known(...options);
  border.say(JSON.stringify(given));
  return given;
}

/** Whether the module is there. */
export const isLoaded = () => border !== undefined;

/** The capabilities of a host with these options, which states some itself; with a method, whether it may have a handler. */
export function offered(options, stated, method) {
  border.say(JSON.stringify(known(options)), valueText(stated, "capabilities"), method);
  border.glue.offers();
  return method === undefined ? parse(border.told()) : undefined;
}

/** The border to the module that is loaded. */
export function theBorder() {
  mustBeReady();
  return border;
}

/** The core of a connection, for what decides by its state. */
export let coreOf;

/** What a host gives as bytes. */
export function bytesOf(data) {
  if (typeof data === "string") return encoder.encode(data);
  // What a subclass makes of its length would be more than there is, or less than is copied into the module.
  if (data instanceof Uint8Array && data.length === data.byteLength) return data;
  throw new TypeError("receive: expected a Uint8Array or a string");
}

export class Connection {
  #border = border;
  #core;
  /** What comes in must stay together. */
  #whole;
  /** There is no event before something happens. */
  #quiet = false;
  /** The session of the last event that had to say one. */
  #session;
  /** What to undo when the request with this id (as text) has ended. */
  #signals = new Map();
  #bell;

  constructor(options) {
    const { framing, view } = begin(options);
    this.#whole = framing === "messages";
    this.#bell = new Bell(this, view);
    this.#core = new border.glue.Core();
  }

  /** The core, to be looked at. */
  get #still() {
    if (!this.#core) throw new TypeError("this connection has been freed");
    return this.#core;
  }

  /** The core, for what may bring events. */
  get #live() {
    this.#quiet = false;
    this.#bell.ring();
    return this.#still;
  }

  /** The core, once it has the texts for a call. */
  #say(...texts) {
    const core = this.#live;
    this.#border.say(...texts);
    return core;
  }

  receive(data) {
    const bytes = bytesOf(data);
    const core = this.#still;
    if (!this.#border.give(core, bytes, this.#whole)) this.#quiet = false;
  }

  receiveEof() {
    this.#live.receiveEof();
  }

  handleTimeout(now) {
    if (!(now >= 0)) throw new TypeError("handleTimeout: expected milliseconds");
    this.#live.handleTimeout(now);
  }

  pollEvent() {
    const core = this.#still;
    if (this.#quiet) return undefined;
    this.#bell.ring();
    const found = core.pollEvent();
    if (found === 0) {
      this.#quiet = true;
      return undefined;
    }
    let event;
    if (found === OTHER) {
      event = core.event();
    } else {
      event = this.#border.event(found, this.#session);
      this.#session = event.session;
    }
    if (this.#signals.size > 0 && event.type === "response") this.#forget(idText(event.id));
    return event;
  }

  *events() {
    for (let event; (event = this.pollEvent()); ) yield event;
  }

  pollTimeout() {
    const when = this.#still.pollTimeout();
    return when < 0 ? undefined : when;
  }

  transmit(most = Infinity) {
    return this.#border.shown(Math.min(this.#still.transmit(), most));
  }

  consume(count) {
    if (!isCount(count)) throw new TypeError("consume: expected a number of bytes");
    this.#live.consume(count);
  }

  request(method, params = {}, options = {}) {
    const { id, timeout, signal } = checked(options, CALL);
    signal?.throwIfAborted();
    const wanted = id === undefined ? undefined : idText(id);
    const core = this.#say(textOf(method, "method"), valueText(params, "params"), wanted);
    const sent = core.request(timeout === null ? -1 : (timeout ?? NaN));
    if (signal) this.#watch(signal, wanted ?? String(sent));
    return id ?? sent;
  }

  notify(method, params = {}) {
    this.#say(textOf(method, "method"), valueText(params, "params")).notify();
  }

  notifyOpened(request, method, params = {}) {
    this.#say(textOf(method, "method"), valueText(params, "params")).notifyOpened(request.serial);
  }

  respond(request, result = {}) {
    const [id, serial] = target(request);
    this.#say(id, valueText(result, "result")).respond(serial);
  }

  respondError(request, { code, message, data }) {
    const [id, serial] = target(request);
    mustBeCode(code);
    this.#say(id, textOf(message, "message"), data === undefined ? undefined : valueText(data, "data")).respondError(serial, code);
  }

  cancel(id) {
    this.#say(idText(id)).cancel();
  }

  abandon(serial) {
    this.#live.abandon(serial);
  }

  hold(serial) {
    this.#live.hold(serial);
  }

  stepped(serial) {
    this.#live.stepped(serial);
  }

  insert(serial) {
    this.#live.insert(serial);
  }

  beginWork(session) {
    return this.#say(textOf(session, "session")).beginWork();
  }

  endWork(work, result) {
    this.#say(valueText(result, "result")).endWork(work);
  }

  failWork(work, { code, message, data }) {
    mustBeCode(code);
    this.#say(textOf(message, "message"), data === undefined ? undefined : valueText(data, "data")).failWork(work, code);
  }

  background(session, item) {
    this.#say(textOf(session, "session"), valueText(item, "item")).background();
  }

  holdsBack(session) {
    const core = this.#still;
    this.#border.say(textOf(session, "session"));
    return core.holdsBack();
  }

  close() {
    this.#live.close();
  }

  can(method) {
    return this.#say(textOf(method, "method")).can();
  }

  whyNot(method) {
    return this.#say(textOf(method, "method")).whyNot();
  }

  free() {
    for (const id of this.#signals.keys()) this.#forget(id);
    this.#bell.end();
    this.#core?.free();
    this.#core = undefined;
  }

  static {
    if (Symbol.dispose) this.prototype[Symbol.dispose] = this.prototype.free;
    coreOf = (connection) => {
      if (!(#core in connection)) throw new TypeError("connection: expected a Connection");
      return connection.#still;
    };
    const said = (connection, texts) => {
      const core = connection.#still;
      connection.#border.say(...texts);
      return core;
    };
    const text = (connection, place, ...texts) =>
      said(connection, texts).text(place) ? connection.#border.told() : undefined;
    const value = (connection, place, ...texts) => {
      const found = text(connection, place, ...texts);
      return found === undefined ? undefined : parse(found);
    };
    const asked = getters({
      number: (connection, place) => connection.#still.number(place),
      numberOf: (connection, place, ...texts) => said(connection, texts).numberOf(place),
      text,
      value,
      session: asSession,
      sessions: (sessions) => new Map(Object.entries(sessions).map(([id, session]) => [id, asSession(session)])),
      textOf,
      idText,
      wholeText,
    });
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(asked))) {
      Object.defineProperty(this.prototype, name, { ...member, enumerable: false });
    }
  }

  #watch(signal, id) {
    const abort = () => {
      this.#signals.delete(id);
      try {
        this.#say(id).cancel();
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

