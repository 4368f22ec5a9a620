// A remote agent as a transport: requests and streams by `fetch`, or a WebSocket. The state machine says what to do, and
// what was lost; here are the platform's ways to do it. Read next: http.js.
import { HttpClient } from "./httpcore.js";
import { NoResult } from "./errors.js";
import { misuse } from "./mistakes.js";
import { randomId } from "./host.js";
import { deferred, within } from "./wire.js";

// Characters of messages that nobody has read; then streams are not read on.
const UNREAD = 1 << 20;
// Bytes of a body that nobody wants and that is read all the same, so that its connection can be used again.
const SMALL = 64 << 10;
// A socket is full with so many bytes, and is asked again after so many milliseconds.
const BUFFERED = 1 << 20;
const ROUND = 10;
// Requests that a browser makes at once to a host over HTTP/1.1, less one for messages.
const BROWSER_STREAMS = 5;
// How often in a row other headers are asked for.
const ASKED = 3;
// Origins whose way is remembered.
const ORIGINS = 100;
// What says that nothing was sent: the names of Node's errors.
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

const inNode = typeof process === "object" && process?.versions?.node !== undefined;
const inBrowser = !inNode && typeof navigator === "object" && typeof self === "object";

/** What has worked with an origin. */
const ways = new Map();

function remember(origin, way) {
  ways.delete(origin);
  ways.set(origin, way);
  if (ways.size > ORIGINS) ways.delete(ways.keys().next().value);
}

/** The conversation with a remote agent has ended, and why. */
export class RemoteError extends Error {
  constructor(why, status, cause) {
    super(TEXTS[why]?.(status) ?? `the connection is over: ${why}`, cause ? { cause } : undefined);
    this.why = why;
    this.status = status;
  }
}
RemoteError.prototype.name = "RemoteError";

const TEXTS = {
  "not-initialized": () => "the agent refused to initialize the connection",
  "not-served": (status) => `nothing serves this transport there (${status})`,
  refused: (status) => `the server refused the connection (${status})`,
  unreachable: () => "the server cannot be reached",
  protocol: () => "the server broke the protocol",
};

/** Opens a WebSocket with headers, where the platform can send them. */
function open(WebSocket, url, headers) {
  const all = Object.fromEntries(headers);
  // The package `ws` takes headers in a third argument, Node's own class in the second.
  if (typeof WebSocket.prototype?.ping === "function") return new WebSocket(url, [], { headers: all, perMessageDeflate: false });
  if (inNode && headers.length > 0) return new WebSocket(url, { headers: all });
  return new WebSocket(url);
}

const canSendHeaders = (WebSocket) => inNode || typeof WebSocket?.prototype?.ping === "function";

export class Remote {
  framing = "messages";
  isRemote = true;
  /** What carries messages: `http` or `websocket`. */
  carrier;
  #core;
  #url;
  #options;
  #tell;
  /** What can still be tried for the first connection. */
  #ways;
  #first;
  #isOpen = false;
  /** How often other headers were asked for since they were good. */
  #asked = 0;
  #isOver = false;
  #problem;
  /** What stops each exchange. */
  #exchanges = new Map();
  #socket;
  #waiting = [];
  #poured;
  #pouring;
  #messages = [];
  #size = 0;
  #more;
  #read;
  #room;
  #timer;
  #due;
  #turning = false;
  #again = false;
  #ended = deferred();
  #decoder = new TextDecoder();
  /** Marks answers that were made here. */
  #mark = randomId();
  /** Questions of the agent that were lost: their answers go nowhere. */
  #dead = new Set();
  /** Sessions that are being opened again. */
  #reopening = new Set();
  #headers = [];

  /** `tell` hears what happens. */
  constructor(address, options, tell) {
    this.#url = new URL(address);
    this.#options = options;
    this.#tell = tell;
    this.#ways = this.#plan();
    this.readable = this.#reading();
    for (const [name, value] of new Headers(options.headers ?? {})) this.#headers.push([name, value]);
    this.#begin();
  }

  /** The ways to carry messages, the first one first. */
  #plan() {
    const { transport = "auto", WebSocket = globalThis.WebSocket, headers } = this.#options;
    const { protocol, origin } = this.#url;
    const known = ["http:", "https:", "ws:", "wss:"];
    if (!known.includes(protocol)) throw new TypeError(`connect: expected an address of http, https, ws or wss, found ${protocol}`);
    if (!["auto", "http", "websocket"].includes(transport)) {
      throw new TypeError(`transport: expected auto, http or websocket, found ${transport}`);
    }
    const isSocket = protocol.startsWith("ws");
    if (isSocket && transport === "http") throw new TypeError("transport: an address of ws or wss is that of a WebSocket");
    if (isSocket || transport === "websocket") {
      if (!WebSocket) throw new TypeError("WebSocket: this platform has none; give one, such as that of the package ws");
      return ["websocket"];
    }
    if (transport === "http") return ["http"];
    const hasHeaders = headers !== undefined && [...new Headers(headers)].length > 0;
    const fits = WebSocket && (!hasHeaders || canSendHeaders(WebSocket));
    // Who gives a `fetch` of his own means it.
    const first = fits && !this.#options.fetch ? ["websocket", "http"] : ["http"];
    const before = ways.get(origin);
    // What did not work before is tried last.
    return first.includes(before) ? [before, ...first.filter((way) => way !== before)] : first;
  }

  #begin() {
    const { limits = {}, reconnect, resumable, strict, tolerates, times } = this.#options;
    const { pathname, search, hostname, protocol } = this.#url;
    this.carrier = this.#ways.shift();
    const isHttp = this.carrier === "http";
    // Over TLS a browser speaks HTTP/2, unless it says otherwise in `limits`.
    const streams = isHttp && inBrowser && protocol === "http:" ? { streams: BROWSER_STREAMS } : {};
    this.#core = new HttpClient({
      target: pathname + search,
      // A browser keeps cookies by itself, and shows none.
      host: inBrowser ? "" : hostname,
      secure: protocol === "https:" || protocol === "wss:",
      websocket: !isHttp,
      reconnect,
      resumable,
      strict,
      tolerates,
      limits: { ...streams, ...limits },
      times,
    });
    for (const [name, value] of this.#headers) this.#set(name, value);
    this.#tick();
    if (this.#first !== undefined) this.#core.send(this.#first);
  }

  #set(name, value) {
    if (!this.#core.setHeader(name, value)) throw new TypeError(`headers: ${name} and its value cannot be a header`);
  }

  /** Sets a header of all requests from now on. */
  setHeader(name, value) {
    this.#set(name, value);
    this.#headers = [...this.#headers.filter(([known]) => known !== name.toLowerCase()), [name.toLowerCase(), value]];
  }

  get connectionId() {
    const id = this.#core.connectionId;
    return id === HIDDEN || id === "" ? undefined : id;
  }

  // What a transport has.

  write(bytes) {
    const json = this.#decoder.decode(bytes);
    if (!this.#send(json)) return this.#later(json);
    // What a socket has not taken yet.
    return this.#waiting.length > 0 ? (this.#poured ??= deferred()).promise : undefined;
  }

  async #later(json) {
    do await (this.#room ??= deferred()).promise;
    while (!this.#isOver && !this.#send(json));
  }

  #send(json) {
    if (this.#first === undefined) {
      this.#first = json;
      this.#say({ type: "connecting", carrier: this.carrier });
    }
    this.#tick();
    let outcome;
    try {
      outcome = this.#core.send(json);
    } catch (mistake) {
      this.#refuse(json, mistake);
    }
    this.#turn();
    return outcome !== "full";
  }

  /** What cannot be sent ends here: a call with an error, and an answer to nobody without a word. */
  #refuse(json, mistake) {
    const { id, method } = JSON.parse(json);
    if (method === undefined) {
      if (!this.#dead.delete(JSON.stringify(id))) this.#say({ type: "violation", rule: mistake.rule, message: mistake.message });
      return;
    }
    if (id === undefined) return this.#say({ type: "violation", rule: mistake.rule, message: mistake.message });
    this.#answer(id, { kind: mistake.kind, rule: mistake.rule, text: mistake.message.slice(mistake.rule.length + 2) });
  }

  /** Answers a call of the host in place of the agent. */
  #answer(id, data) {
    this.#push(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "no answer", data: { ...data, mark: this.#mark } } }));
  }

  /** The error that an answer made here stands for. */
  ownError({ method, data }) {
    if (data?.mark !== this.#mark) return undefined;
    return data.kind ? misuse(data.kind, data.rule, "", data.text) : new NoResult(method, "unknown");
  }

  close() {
    if (this.#isOver) return;
    this.#tick();
    this.#core.close();
    this.#turn();
  }

  /** Waits until the server knows that the connection is over. */
  async exit(grace) {
    await within(this.#ended.promise, grace);
    for (const { stop } of this.#exchanges.values()) stop();
    clearTimeout(this.#timer);
  }

  async *#reading() {
    for (;;) {
      while (this.#messages.length > 0) {
        const json = this.#messages.shift();
        this.#size -= json.length;
        if (this.#size <= UNREAD / 2) this.#resume();
        yield json;
      }
      if (this.#isOver) {
        if (this.#problem) throw this.#problem;
        return;
      }
      await (this.#more = deferred()).promise;
    }
  }

  #push(json) {
    this.#messages.push(json);
    this.#size += json.length;
    if (this.#size > UNREAD) this.#socket?.pause?.();
    this.#more?.resolve();
  }

  #resume() {
    this.#read?.resolve();
    this.#read = undefined;
    if (this.#socket?.isPaused) this.#socket.resume();
  }

  // What the machine says.

  #turn() {
    this.#again = true;
    if (this.#turning) return;
    this.#turning = true;
    try {
      while (this.#again) {
        this.#again = false;
        const all = [];
        for (let action; (action = this.#core.pollAction()); ) all.push(action);
        if (!this.#isOpen && this.#fellThrough(all)) continue;
        for (const action of all) this.#do(action);
      }
    } finally {
      this.#turning = false;
    }
    if (this.#room && (this.#isOver || this.#core.isHungry)) {
      this.#room.resolve();
      this.#room = undefined;
    }
    this.#schedule();
  }

  /** The first connection does not open: another way is tried, if there is one, and otherwise that is the end. */
  #fellThrough(actions) {
    if (actions.some(({ event }) => event === "connected")) {
      this.#isOpen = true;
      return false;
    }
    const failed = actions.some(({ event, why }) => event === "retrying" || (event === "closed" && why !== "host" && why !== "not-initialized"));
    if (!failed) return false;
    if (this.#ways.length === 0) {
      if (this.#options.patient || actions.some(({ event }) => event === "closed")) return false;
      this.#core.close();
      this.#say({ type: "closed", why: "unreachable" });
      this.#over(new RemoteError("unreachable", undefined, this.#problem));
      return true;
    }
    for (const { stop } of this.#exchanges.values()) stop();
    this.#exchanges.clear();
    this.#core.free();
    this.#begin();
    this.#say({ type: "connecting", carrier: this.carrier });
    this.#again = true;
    return true;
  }

  #do(action) {
    const { event: type, ...news } = action;
    switch (type) {
      case "request":
        this.#request(action);
        break;
      case "connect":
        this.#connect(action);
        break;
      case "frame":
        this.#frame(action.frame);
        break;
      case "abort":
        this.#exchanges.get(action.exchange)?.stop();
        this.#exchanges.delete(action.exchange);
        break;
      case "message":
        this.#message(action);
        break;
      case "connected":
        this.#asked = 0;
        if ((this.#options.transport ?? "auto") === "auto") remember(this.#url.origin, this.carrier);
        this.#say({ type, carrier: this.carrier, ...(this.connectionId ? { id: this.connectionId } : {}) });
        break;
      case "lost":
        this.#lost(action);
        break;
      case "retrying":
        this.#say({ type, wait: Math.max(0, action.at - Math.floor(performance.now())) });
        break;
      case "attached":
      case "detached":
        this.#reopening.delete(action.session);
        this.#say({ type, ...news });
        break;
      case "unauthorized":
        this.#say({ type, ...news });
        void this.#authorize(news);
        break;
      case "closed":
        this.#say({ type, ...news });
        this.#over(action.why === "host" ? undefined : new RemoteError(action.why, action.status ?? undefined, this.#problem));
        break;
      default:
        this.#say({ type, ...news });
    }
  }

  #say(event) {
    this.#tell(event);
  }

  #message({ json, replayed }) {
    if (replayed && this.#reopening.size > 0) {
      const { method, params } = JSON.parse(json);
      if (this.#reopening.has(params?.sessionId)) {
        // The host has seen most of it: it is not told as if it were new.
        if (method === "session/update") return this.#say({ type: "replayed", session: params.sessionId, params });
      }
    }
    this.#push(json);
  }

  #lost({ calls, questions, sessions }) {
    for (const session of sessions) this.#reopening.add(session);
    this.#say({ type: "lost", calls, questions, sessions });
    // Before there was a connection, its end says more.
    if (this.#isOpen) for (const id of calls) this.#answer(id, { outcome: "unknown" });
    for (const id of questions) {
      this.#dead.add(JSON.stringify(id));
      this.#push(JSON.stringify({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } }));
    }
  }

  async #authorize(asked) {
    const { authorize } = this.#options;
    let headers;
    try {
      // Whoever gives the same wrong answer again and again is not asked for ever.
      this.#asked += 1;
      if (this.#asked <= ASKED) headers = await authorize?.(asked);
    } catch (error) {
      this.#problem = error;
    }
    if (this.#isOver) return;
    if (!headers) {
      this.#over(new RemoteError("refused", asked.status, this.#problem));
      this.#tick();
      this.#core.close();
      this.#turn();
      return;
    }
    for (const [name, value] of new Headers(headers)) this.setHeader(name, value);
    this.#tick();
    this.#core.retry();
    this.#turn();
  }

  #over(problem) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#problem = problem;
    this.#more?.resolve();
    this.#resume();
    // What ends the connection at the server may still be on its way.
    if (this.#exchanges.size === 0) this.#ended.resolve();
  }

  #done(exchange) {
    this.#exchanges.delete(exchange);
    if (this.#isOver && this.#exchanges.size === 0) this.#ended.resolve();
  }

  // Requests.

  async #request({ exchange, method, target, headers, body }) {
    const { fetch = globalThis.fetch, credentials } = this.#options;
    const controller = new AbortController();
    let stopped = false;
    const stop = () => {
      stopped = true;
      controller.abort();
    };
    this.#exchanges.set(exchange, { stop });
    const how = { method, headers, signal: controller.signal, redirect: "manual", cache: "no-store" };
    if (body !== "") how.body = body;
    if (credentials) how.credentials = credentials;
    // A page that is left may still say goodbye.
    if (method === "DELETE" && inBrowser) how.keepalive = true;
    const url = new URL(target, this.#url);
    let begun = false;
    try {
      const response = await fetch(url.href, how);
      if (stopped) return;
      begun = true;
      // A browser does not tell where it was sent.
      const status = response.type === "opaqueredirect" ? 307 : response.status;
      this.#heard(() => this.#core.response(exchange, status, listOf(response.headers)));
      await this.#body(exchange, response.body, method === "GET" || status === 200, () => stopped);
      if (!stopped) this.#heard(() => this.#core.end(exchange));
    } catch (error) {
      if (stopped) return;
      this.#problem ??= error;
      const sent = begun || !UNSENT.has(error?.cause?.code ?? error?.code);
      this.#heard(() => (begun ? this.#core.end(exchange) : this.#core.failed(exchange, sent)));
    } finally {
      this.#done(exchange);
    }
  }

  async #body(exchange, body, isWanted, isStopped) {
    if (!body) return;
    const reader = body.getReader();
    let size = 0;
    for (;;) {
      while (this.#size > UNREAD && !this.#isOver) await (this.#read ??= deferred()).promise;
      const { done, value } = await reader.read();
      if (done || isStopped()) return;
      size += value.length;
      if (isWanted) this.#heard(() => this.#core.data(exchange, value));
      else if (size > SMALL) return reader.cancel();
    }
  }

  #heard(pass) {
    this.#tick();
    pass();
    this.#turn();
  }

  // The socket.

  #connect({ exchange, headers }) {
    const { WebSocket = globalThis.WebSocket } = this.#options;
    const url = new URL(this.#url);
    url.protocol = url.protocol.replace("http", "ws");
    let socket;
    let opened = false;
    let over = false;
    const end = (error) => {
      if (over) return;
      over = true;
      if (error) this.#problem ??= error;
      if (this.#socket === socket) this.#socket = undefined;
      this.#waiting = [];
      this.#pour();
      this.#heard(() => (opened ? this.#core.end(exchange) : this.#core.failed(exchange, false)));
      this.#done(exchange);
    };
    const stop = () => {
      over = true;
      socket?.close();
      this.#done(exchange);
    };
    this.#exchanges.set(exchange, { stop });
    try {
      socket = open(WebSocket, url.href, headers);
    } catch (error) {
      queueMicrotask(() => end(error));
      return;
    }
    socket.binaryType = "arraybuffer";
    let received;
    // Only the package `ws` shows the response.
    socket.on?.("upgrade", ({ rawHeaders }) => (received = pairs(rawHeaders)));
    socket.on?.("unexpected-response", (request, response) => {
      over = true;
      request.destroy();
      this.#heard(() => this.#core.response(exchange, response.statusCode, pairs(response.rawHeaders)));
      this.#done(exchange);
    });
    socket.addEventListener("open", () => {
      if (over) return;
      opened = true;
      this.#socket = socket;
      // Where nobody shows the headers, none is missing.
      this.#heard(() => this.#core.response(exchange, 101, received ?? [["acp-connection-id", HIDDEN]]));
    });
    socket.addEventListener("message", ({ data }) => {
      if (over) return;
      if (typeof data === "string") this.#heard(() => this.#core.text(exchange, data));
      else this.#heard(() => this.#core.binary(exchange));
    });
    socket.addEventListener("error", (event) => end(event.error ?? new Error(event.message || "the WebSocket failed")));
    socket.addEventListener("close", () => end());
  }

  #frame(frame) {
    if (this.#socket) this.#waiting.push(frame);
    this.#pour();
  }

  #pour() {
    const socket = this.#socket;
    while (this.#waiting.length > 0 && socket?.readyState === 1) {
      if (socket.bufferedAmount > BUFFERED) {
        this.#pouring ??= setTimeout(() => {
          this.#pouring = undefined;
          this.#pour();
        }, ROUND);
        return;
      }
      const frame = this.#waiting.shift();
      if (frame.frame === "text") socket.send(frame.text);
      else if (frame.frame === "close") socket.close(frame.code, frame.reason);
      else socket.ping?.();
    }
    this.#poured?.resolve();
    this.#poured = undefined;
  }

  // Time.

  #tick() {
    this.#core.handleTimeout(Math.floor(performance.now()));
  }

  #schedule() {
    if (this.#isOver) return clearTimeout(this.#timer);
    const wanted = this.#core.pollTimeout();
    if (this.#timer !== undefined && wanted >= this.#due) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (wanted === undefined) return;
    this.#due = wanted;
    const come = () => {
      this.#timer = undefined;
      if (!this.#isOver) this.#heard(() => {});
    };
    this.#timer = setTimeout(come, Math.min(Math.max(Math.ceil(wanted - performance.now()), 0), 0x7fffffff));
  }
}

// In place of an id that the platform does not show.
const HIDDEN = "hidden";

/** The headers of a response, each cookie on its own. */
function listOf(headers) {
  const cookies = headers.getSetCookie?.() ?? [];
  return [...[...headers].filter(([name]) => name !== "set-cookie"), ...cookies.map((cookie) => ["set-cookie", cookie])];
}

const pairs = (raw) => Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at], raw[2 * at + 1]]);
