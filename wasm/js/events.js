// What the core makes on this side of the border: events. Errors are in mistakes.js.
import { parse } from "./json.js";

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

/** `call` is the serial number of the host's call that it belongs to, plus one; 0 where there is none. */
export function notification(method, session, update, timing, paramsText, call) {
  const type = "notification";
  if (session !== undefined && update !== undefined && isAhead()) {
    const params = parse(paramsText);
    if (call === 0) return { type, method, session, update, timing, params, paramsText };
    return { type, method, session, update, timing, exchange: call - 1, params, paramsText };
  }
  const event = { type, method };
  if (session !== undefined) event.session = session;
  if (update !== undefined) event.update = update;
  event.timing = timing;
  if (call !== 0) event.exchange = call - 1;
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
