// What an agent and a client have in common before there is a connection: a name, options, handlers.

import { Log } from "./log.js";
import { DRAFTS, nearest, whyNever, whyPromised } from "./methods.js";

// What a connection takes.
const OPTIONS = [
  "framing", "policy", "policies", "limits", "versions", "drafts", "timeout", "cancelGrace", "reminder", "promptQueueing",
  "foreignMethods",
];
const HOOKS = ["onViolation", "onAdvice", "onError", "onLateResponse", "onSessionEnd"];
const COMMON = ["title", "capabilities", "maxRequests", "exposeErrors", "log", "trace", ...HOOKS, ...OPTIONS];
const GENERATORS = new Set(["GeneratorFunction", "AsyncGeneratorFunction"]);

/** Refuses names that are not among those that are known. */
export function mustKnow(given, known, what) {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    throw new TypeError(`${name}: no such ${what}, there are ${known.join(", ")}${nearest(name, known)}`);
  }
}

function mustBe(value, type, name) {
  if (value !== undefined && typeof value !== type) throw new TypeError(`${name}: expected a ${type}, found ${typeof value}`);
}

/** Refuses what can be no handler. */
export function mustHandle(method, handler) {
  if (typeof handler !== "function") throw new TypeError(`${method}: expected a function as its handler, found ${typeof handler}`);
  if (!GENERATORS.has(handler.constructor?.name)) return;
  throw new TypeError(`${method}: its handler is a generator; make it an async function that sends updates with await, not yield`);
}

export class Host {
  /** The handlers by method. */
  handlers = new Map();

  constructor(role, name, version, settings, more) {
    for (const [what, value] of Object.entries({ name, version })) {
      if (typeof value !== "string") throw new TypeError(`${what}: expected a string`);
    }
    mustKnow(settings, [...COMMON, ...more], "option");
    for (const hook of HOOKS) mustBe(settings[hook], "function", hook);
    mustBe(settings.exposeErrors, "boolean", "exposeErrors");
    for (const draft of settings.drafts ?? []) {
      if (!DRAFTS.includes(draft)) throw new TypeError(`drafts: there is no ${draft}${nearest(String(draft), DRAFTS)}`);
    }
    const { maxRequests = Infinity, log } = settings;
    if (!(maxRequests >= 1)) throw new TypeError("maxRequests: expected a number from 1");
    this.role = role;
    this.info = { name, version, ...(settings.title === undefined ? {} : { title: settings.title }) };
    this.given = settings;
    this.maxRequests = maxRequests;
    this.exposeErrors = settings.exposeErrors ?? false;
    this.trace = settings.trace;
    for (const hook of HOOKS) this[hook] = settings[hook];
    this.options = Object.fromEntries(OPTIONS.map((option) => [option, settings[option]]));
    this.log = new Log(log);
  }

  on(method, handler) {
    const why = whyNever(this.role, method, this.given);
    if (why) throw new TypeError(why);
    mustHandle(method, handler);
    if (this.handlers.has(method)) throw new TypeError(`${method} has a handler already; a second one would never be called`);
    this.handlers.set(method, handler);
    return this;
  }

  /** The methods that have handlers. */
  methods() {
    return [...this.handlers.keys()];
  }

  /** Refuses capabilities that nothing stands behind, once all handlers have been given. */
  mustKeep(serves) {
    const why = whyPromised(this.role, this.given, serves);
    if (why) throw new TypeError(why);
  }
}

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Objects put together member by member; where both have a value that is no object, the second wins. */
export function merged(base, over) {
  const result = { ...base };
  for (const [name, value] of Object.entries(over)) {
    result[name] = isObject(value) && isObject(result[name]) ? merged(result[name], value) : value;
  }
  return result;
}

/** A name that nobody guesses, also where a page has no `randomUUID`. */
export const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The members that have a value. */
export function given(members) {
  const result = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined && value !== null) result[name] = value;
  return result;
}

/** The member that a host wants to add to a message. */
export function metaOf(meta) {
  if (meta === undefined || meta === null) return {};
  if (!isObject(meta)) throw new TypeError("meta: expected an object");
  return { _meta: meta };
}

/** A content block; a string stands for a block of text. */
export const content = (what) => (typeof what === "string" ? { type: "text", text: what } : what);

/** Gives a class a way to end its objects with `await using`, where the language has it. */
export function disposable(type, method) {
  if (!Symbol.asyncDispose) return;
  Object.defineProperty(type.prototype, Symbol.asyncDispose, { value: type.prototype[method], configurable: true });
}
