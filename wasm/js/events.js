// What the core makes on this side of the border: events, errors, copies of bytes.
import { parse } from "./json.js";

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

export const misuse = (kind, rule, pointer, message) => new Misuse(kind, rule, pointer, message);

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
