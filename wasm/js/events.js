// What the core makes on this side of the border: events and errors.
import { parse } from "./json.js";

/**
 * Makes `instanceof` true also for the objects of another copy of this package: a program may well have two, and an
 * error does not say which one it came from. Returns the name of the member that tells.
 */
export function branded(type, name) {
  const brand = Symbol.for(`libacp.${name}`);
  Object.defineProperty(type.prototype, brand, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(object) {
      const exact = this === type;
      return exact ? object?.[brand] === true : Function.prototype[Symbol.hasInstance].call(this, object);
    },
  });
  return brand;
}

/** The host asked for something that the specification forbids now. */
export class Misuse extends Error {
  constructor(kind, rule, pointer, message) {
    super(pointer === "" ? `${rule}: ${message}` : `${rule}: ${pointer}: ${message}`);
    this.kind = kind;
    this.rule = rule;
    this.pointer = pointer;
  }
}
Misuse.prototype.name = "Misuse";
branded(Misuse, "Misuse");

const of = (name) => {
  const type = { [name]: class extends Misuse {} }[name];
  type.prototype.name = name;
  branded(type, name);
  return type;
};
export const PhaseMisuse = of("PhaseMisuse");
export const MethodMisuse = of("MethodMisuse");
export const CapabilityMisuse = of("CapabilityMisuse");
export const ParamsMisuse = of("ParamsMisuse");
export const SessionMisuse = of("SessionMisuse");
export const IdMisuse = of("IdMisuse");
export const LimitMisuse = of("LimitMisuse");

const KINDS = {
  phase: PhaseMisuse,
  method: MethodMisuse,
  capability: CapabilityMisuse,
  params: ParamsMisuse,
  session: SessionMisuse,
  id: IdMisuse,
  limit: LimitMisuse,
};

// Where this package is not part of a bundle, its own lines say nothing about the caller's mistake.
const OWN = /\/events\.js$/.test(import.meta.url ?? "") ? import.meta.url.slice(0, -"events.js".length) : undefined;
// So many lines stand between the caller and this one at most.
const DEEP = 40;

export function misuse(kind, rule, pointer, message) {
  const { stackTraceLimit } = Error;
  if (stackTraceLimit > 0) Error.stackTraceLimit = stackTraceLimit + DEEP;
  const error = new (KINDS[kind] ?? Misuse)(kind, rule, pointer, message);
  if (stackTraceLimit > 0) Error.stackTraceLimit = stackTraceLimit;
  if (OWN === undefined || typeof error.stack !== "string") return error;
  const lines = error.stack.split("\n");
  const own = (line) => line.includes(OWN) || line.includes("wasm://");
  // The message may have several lines.
  const from = lines.findIndex((line) => /^\s+at /.test(line) || own(line));
  if (from < 0) return error;
  const callers = lines.slice(from).filter((line) => !own(line)).slice(0, stackTraceLimit);
  if (callers.length > 0) error.stack = [...lines.slice(0, from), ...callers].join("\n");
  return error;
}

export const typeError = (message) => new TypeError(message);

export function event(head, text) {
  const event = parse(head);
  if (text === undefined) return event;
  if (event.error) carry(event.error, "data", text);
  else carry(event, /response$/.test(event.type) ? "result" : "params", text);
  return event;
}

// A member that is made when it is first asked for costs as much as reading a short text. A host that has asked for one
// will ask for more, so the next ones are made ahead.
const AHEAD = 64;
let ahead = 0;

function isAhead() {
  if (ahead === 0) return false;
  ahead -= 1;
  return true;
}

const later = (name, textName) => ({
  configurable: true,
  enumerable: true,
  get() {
    ahead = AHEAD;
    const value = parse(this[textName]);
    // The same object again the next time; one that was frozen reads it anew.
    Reflect.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
    return value;
  },
});
const TEXTS = { params: "paramsText", result: "resultText", data: "dataText" };
const LATER = Object.fromEntries(Object.entries(TEXTS).map(([name, textName]) => [name, later(name, textName)]));

/** Gives an object a text, and the value that is read from it. */
function carry(object, name, text) {
  if (isAhead()) object[name] = parse(text);
  else Object.defineProperty(object, name, LATER[name]);
  object[TEXTS[name]] = text;
  return object;
}

// As the core counts what comes often. Most of it is about a session, and its params are wanted: written as a whole, such
// an event is made at once.
export const NOTIFICATION = 2;
const REQUEST = 3;

export function notification(method, session, update, timing, paramsText) {
  const type = "notification";
  if (session !== undefined && update !== undefined && isAhead()) {
    return { type, method, session, update, timing, params: parse(paramsText), paramsText };
  }
  const event = { type, method };
  if (session !== undefined) event.session = session;
  if (update !== undefined) event.update = update;
  event.timing = timing;
  return carry(event, "params", paramsText);
}

/** A request, or a response with a result. */
export function called(kind, id, serial, method, session, text) {
  if (kind === REQUEST) {
    if (session === undefined) return carry({ type: "request", id, serial, method }, "params", text);
    if (!isAhead()) return carry({ type: "request", id, serial, method, session }, "params", text);
    return { type: "request", id, serial, method, session, params: parse(text), paramsText: text };
  }
  const outcome = "result";
  if (session === undefined) return carry({ type: "response", id, serial, method, outcome }, "result", text);
  if (!isAhead()) return carry({ type: "response", id, serial, method, session, outcome }, "result", text);
  return { type: "response", id, serial, method, session, outcome, result: parse(text), resultText: text };
}
