// What an agent and a client have in common before there is a connection: a name, options, handlers.

import { isLoaded, offered } from "./connection.js";
import { Log } from "./log.js";

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

/** The known word that was probably meant, as a question; nothing where none is near. */
function nearest(word, known) {
  const [best] = known.map((each) => [distance(word.toLowerCase(), each.toLowerCase()), each]).sort(([a], [b]) => a - b);
  return best && best[0] <= Math.max(2, word.length / 3) ? `; did you mean ${best[1]}?` : "";
}

/** How many letters must change for one word to become the other. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
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
    const { maxRequests = Infinity, log } = settings;
    if (!(maxRequests >= 1)) throw new TypeError("maxRequests: expected a number from 1");
    this.role = role;
    this.info = { name, version, ...(settings.title === undefined ? {} : { title: settings.title }) };
    this.capabilities = settings.capabilities ?? {};
    this.maxRequests = maxRequests;
    this.exposeErrors = settings.exposeErrors ?? false;
    this.trace = settings.trace;
    for (const hook of HOOKS) this[hook] = settings[hook];
    this.options = Object.fromEntries(OPTIONS.map((option) => [option, settings[option]]));
    this.log = new Log(log);
    // Where the module is still to be loaded, what is wrong is said once it is needed.
    if (isLoaded()) offered({ role, ...this.options }, {});
  }

  on(method, handler) {
    if (typeof method !== "string" || method === "") throw new TypeError(`expected the name of a method, found ${typeof method}`);
    if (isLoaded()) offered({ role: this.role, ...this.options }, this.capabilities, method);
    mustHandle(method, handler);
    if (this.handlers.has(method)) throw new TypeError(`${method} has a handler already; a second one would never be called`);
    this.handlers.set(method, handler);
    return this;
  }

  /** The methods that have handlers. */
  methods() {
    return [...this.handlers.keys()];
  }

  /** The capabilities that the peer is told; handlers and capabilities that cannot work are refused. */
  offered() {
    return offered({ role: this.role, ...this.options, handlers: this.methods() }, this.capabilities);
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
