// What a host does wrong: the classes of misuse, and how the core makes them on this side of the border.

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
const OWN = /\/mistakes\.js$/.test(import.meta.url ?? "") ? import.meta.url.slice(0, -"mistakes.js".length) : undefined;
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
