// What an agent and a client have in common before there is a connection: a name, options, handlers.

const OPTIONS = [
  "framing",
  "policy",
  "policies",
  "limits",
  "drafts",
  "cancelGrace",
  "reminder",
  "promptQueueing",
  "foreignMethods",
];
const COMMON = ["title", "capabilities", "onViolation", "onLateResponse", ...OPTIONS];

export class Host {
  /** The handlers by method. */
  handlers = new Map();

  constructor(name, version, settings, more) {
    for (const [what, value] of Object.entries({ name, version })) {
      if (typeof value !== "string") throw new TypeError(`${what}: expected a string`);
    }
    const known = [...COMMON, ...more];
    const stranger = Object.keys(settings).find((given) => !known.includes(given));
    if (stranger !== undefined) throw new TypeError(`${stranger}: no such option, there are ${known.join(", ")}`);
    this.info = { name, version, ...(settings.title === undefined ? {} : { title: settings.title }) };
    this.onViolation = settings.onViolation;
    this.onLateResponse = settings.onLateResponse;
    this.options = Object.fromEntries(OPTIONS.map((option) => [option, settings[option]]));
  }

  on(method, handler) {
    if (typeof handler !== "function") throw new TypeError(`${method}: expected a function as its handler`);
    this.handlers.set(method, handler);
    return this;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

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

/** A content block; a string stands for a block of text. */
export const content = (what) => (typeof what === "string" ? { type: "text", text: what } : what);

/** Gives a class a way to end its objects with `await using`, where the language has it. */
export function disposable(type, method) {
  if (!Symbol.asyncDispose) return;
  Object.defineProperty(type.prototype, Symbol.asyncDispose, { value: type.prototype[method], configurable: true });
}
