// What the core makes on this side of the border: events, errors, copies of bytes.
import { parse } from "./json.js";

/**
 * Makes `instanceof` true also for the objects of another copy of this package: a program may well have two, and an
 * error does not say which one it came from.
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

export const misuse = (kind, rule, pointer, message) => new (KINDS[kind] ?? Misuse)(kind, rule, pointer, message);

export const typeError = (message) => new TypeError(message);

export const bytes = (view) => view.slice();

export function event(head, text) {
  const event = parse(head);
  if (text === undefined) return event;
  if (event.error) lazy(event.error, "data", text);
  else lazy(event, event.type === "response" ? "result" : "params", text);
  return event;
}

/** A member that is read from its text when it is first asked for. */
function lazy(object, name, text) {
  let read = false;
  let value;
  const get = () => {
    if (!read) value = parse(text);
    read = true;
    return value;
  };
  Object.defineProperty(object, name, { configurable: true, enumerable: true, get });
  object[`${name}Text`] = text;
}
