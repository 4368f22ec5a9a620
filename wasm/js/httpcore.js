// The state machines of the remote transports as JavaScript has them: objects instead of JSON text. They do no I/O; what
// each member does is said in http.d.ts. `wasm-http` is the other side. Read next: httpserver.js, httpclient.js.
import { parse } from "./json.js";
import { misuse } from "./mistakes.js";

let glue;
let load;

/** Said by the entries once the module is there. */
export function httpLoaded(exports) {
  glue = exports;
}

/** Said by an entry that has to be waited for. */
export function httpLoadsWith(init) {
  load = init;
}

/** Waits for the module, where an entry can load it. */
export async function whenHttpLoaded() {
  if (!glue) await load?.();
  mustBeReady();
}

export const isHttpLoaded = () => glue !== undefined;

function mustBeReady() {
  if (!glue) throw new Error("libacp/http is not loaded yet: await init() first");
}

/** Headers as the module reads them. None of them has a NUL. */
function joined(headers) {
  if (typeof headers === "string") return headers;
  const parts = [];
  for (const [name, value] of headers) parts.push(name, value);
  return parts.join("\0");
}

/** What `send` returns: whether it was sent, or what the host does wrong. */
function sent(outcome) {
  if (outcome === undefined) return "sent";
  if (!outcome.startsWith("{")) return outcome;
  const { rule, message } = JSON.parse(outcome);
  throw misuse(rule === "RPC-10" || rule === "HTTP-11" ? "id" : "limit", rule, "", message);
}

/** Names as the state machines have them: in settings, words are joined by underscores. */
const settings = (options) =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => {
        const nested = (name === "limits" || name === "times") && typeof value === "object" && value !== null;
        return [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), nested ? settings(value) : value];
      }),
  );

// What the module polls; see `wasm-http`.
const [NOTHING, MESSAGE, READY, , REPLAYED, FRAME, REQUEST] = [0, 1, 2, 3, 4, 5, 6];

class Machine {
  _core;
  /** Texts of messages are handed out in UTF-8, as who passes them on has them. */
  _inBytes = false;

  constructor(make) {
    mustBeReady();
    this._core = make();
  }

  handleTimeout(now) {
    this._core.handleTimeout(now);
  }

  pollTimeout() {
    return this._core.pollTimeout();
  }

  text(exchange, text) {
    if (typeof text === "string") this._core.text(exchange, text);
    else this._core.textBytes(exchange, text);
  }

  binary(exchange) {
    this._core.binary(exchange);
  }

  free() {
    this._core.free();
  }

  get _taken() {
    return this._inBytes ? this._core.takenBytes() : this._core.taken();
  }
}
if (Symbol.dispose) Machine.prototype[Symbol.dispose] = Machine.prototype.free;

export class HttpServer extends Machine {
  constructor(options = {}) {
    super(() => new glue.HttpServer(JSON.stringify(settings(options))));
  }

  get connections() {
    return this._core.connections();
  }

  addEntropy(bytes) {
    this._core.addEntropy(bytes);
  }

  wantsEntropy() {
    return this._core.wantsEntropy();
  }

  connectionId(connection) {
    return this._core.connectionId(connection);
  }

  request(exchange, { method, target, headers = [] }) {
    return JSON.parse(this._core.request(exchange, method, target, joined(headers)));
  }

  body(exchange, bytes, end) {
    return JSON.parse(this._core.body(exchange, bytes, end));
  }

  pollEvent() {
    const core = this._core;
    switch (core.pollEvent()) {
      case NOTHING:
        return undefined;
      case MESSAGE:
        return { event: "message", connection: core.number(), json: this._taken };
      case READY:
        return { event: "ready", exchange: core.number() };
      default:
        return JSON.parse(core.taken());
    }
  }

  send(connection, json) {
    const core = this._core;
    return sent(typeof json === "string" ? core.send(connection, json) : core.sendBytes(connection, json));
  }

  close(connection) {
    this._core.close(connection);
  }

  fail(connection, why) {
    this._core.fail(connection, why);
  }

  pause(connection, paused) {
    this._core.pause(connection, paused);
  }

  isHungry(exchange) {
    return this._core.isHungry(exchange);
  }

  transmit(exchange, most = 0xffffffff) {
    return this._core.transmit(exchange, most);
  }

  consume(exchange, count) {
    this._core.consume(exchange, count);
  }

  closed(exchange) {
    this._core.closed(exchange);
  }

  pong(exchange) {
    this._core.pong(exchange);
  }

  frame(exchange) {
    const kind = this._core.frame(exchange);
    if (kind === 0) return undefined;
    if (kind === 1) return { frame: "text", text: this._taken };
    return kind === 2 ? { frame: "ping" } : { frame: "close", code: kind, reason: this._core.taken() };
  }
}

export class HttpClient extends Machine {
  constructor(options = {}, seed = Math.floor(Math.random() * 2 ** 48)) {
    super(() => new glue.HttpClient(JSON.stringify(settings(options)), seed));
  }

  get isHungry() {
    return this._core.isHungry();
  }

  get connectionId() {
    return this._core.connectionId();
  }

  setHeader(name, value) {
    return this._core.setHeader(name, value);
  }

  pollAction() {
    const core = this._core;
    const kind = core.pollAction();
    switch (kind) {
      case NOTHING:
        return undefined;
      case MESSAGE:
      case REPLAYED:
        return { event: "message", json: this._taken, replayed: kind === REPLAYED };
      case FRAME:
        return { event: "frame", exchange: core.number(), frame: { frame: "text", text: this._taken } };
      case REQUEST:
        return { ...JSON.parse(core.taken()), body: core.body() };
    }
    const told = core.taken();
    // Ids of the agent's may be beyond what a number can be.
    return told.startsWith('{"event":"lost"') ? parse(told) : JSON.parse(told);
  }

  send(json) {
    return sent(typeof json === "string" ? this._core.send(json) : this._core.sendBytes(json));
  }

  response(exchange, status, headers = []) {
    this._core.response(exchange, status, joined(headers));
  }

  data(exchange, bytes) {
    this._core.data(exchange, bytes);
  }

  end(exchange) {
    this._core.end(exchange);
  }

  failed(exchange, sent) {
    this._core.failed(exchange, sent);
  }

  closed(exchange, code) {
    this._core.closed(exchange, code);
  }

  close() {
    this._core.close();
  }

  retry() {
    this._core.retry();
  }
}
