// A remote agent as a transport. The state machine says what to do, and what was lost; here is what that means for the host.
// Read next: httprequests.js and httpdial.js, which do it.
import { NoResult } from "./errors.js";
import { randomId } from "./host.js";
import { HttpClient } from "./httpcore.js";
import { Dialled, HIDDEN } from "./httpdial.js";
import { RemoteError } from "./httperror.js";
import { request } from "./httprequests.js";
import { inBrowser, remember, waysTo } from "./httpways.js";
import { Inbox } from "./inbox.js";
import { parse, stringify } from "./json.js";
import { misuse } from "./mistakes.js";
import { deferred, within } from "./wire.js";

// Bytes of messages that nobody has read; then streams are not read on.
const UNREAD = 1 << 20;
// Requests that a browser makes at once to a host over HTTP/1.1, less one for messages.
const BROWSER_STREAMS = 5;
// How often in a row other headers are asked for.
const ASKED = 3;

const decoder = new TextDecoder();

export class Remote {
  framing = "messages";
  isRemote = true;
  /** What carries messages: `http` or `websocket`. */
  carrier;
  #core;
  _url;
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
  /** What the server answered last, if that was no success. */
  #status;
  /** What stops each exchange. */
  #exchanges = new Map();
  #socket;
  #read;
  #room;
  #timer;
  #due;
  #turning = false;
  #again = false;
  #ended = deferred();
  /** Marks answers that were made here. */
  #mark = randomId();
  /** Questions of the agent that were lost: their answers go nowhere. */
  #dead = new Set();
  /** Sessions that are being opened again. */
  #reopening = new Set();
  #headers = [];

  /** `tell` hears what happens. */
  constructor(address, options, tell) {
    this._url = new URL(address);
    this.#options = options;
    this.#tell = tell;
    this.#ways = waysTo(this._url, options);
    this.readable = new Inbox({
      pushed: (size) => size > UNREAD && this.#socket?.pause(),
      taken: (size) => size <= UNREAD / 2 && this.#resume(),
    });
    for (const [name, value] of new Headers(options.headers ?? {})) this.#headers.push([name, value]);
    this.#begin();
  }

  #begin() {
    const { limits = {}, reconnect, resumable, strict, tolerates, times } = this.#options;
    const { pathname, search, hostname, protocol } = this._url;
    this.carrier = this.#ways.shift();
    this.#socket = undefined;
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
    this.#core._inBytes = true;
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
    if (!this.#send(bytes)) return this.#later(bytes);
    // What a socket has not taken yet.
    return this.#socket?.poured;
  }

  async #later(bytes) {
    do await (this.#room ??= deferred()).promise;
    while (!this.#isOver && !this.#send(bytes));
  }

  #send(bytes) {
    if (this.#first === undefined) {
      this.#first = bytes;
      this.#say({ type: "connecting", carrier: this.carrier });
    }
    this.#tick();
    let outcome;
    try {
      outcome = this.#core.send(bytes);
    } catch (mistake) {
      this.#refuse(decoder.decode(bytes), mistake);
    }
    this.#turn();
    return outcome !== "full";
  }

  /** What cannot be sent ends here: a call with an error, and an answer to nobody without a word. */
  #refuse(json, mistake) {
    const { id, method } = parse(json);
    if (method === undefined) {
      if (!this.#dead.delete(stringify(id))) this.#say({ type: "violation", rule: mistake.rule, message: mistake.message });
      return;
    }
    if (id === undefined) return this.#say({ type: "violation", rule: mistake.rule, message: mistake.message });
    this.#answer(id, { kind: mistake.kind, rule: mistake.rule, text: mistake.message.slice(mistake.rule.length + 2) });
  }

  /** Answers a call of the host in place of the agent. */
  #answer(id, data) {
    this.readable.push(stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "no answer", data: { ...data, mark: this.#mark } } }));
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
    for (const stop of [...this.#exchanges.values()]) stop();
    clearTimeout(this.#timer);
  }

  #resume() {
    this.#read?.resolve();
    this.#read = undefined;
    this.#socket?.resume();
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
      this.#over(new RemoteError("unreachable", this.#status, this.#problem));
      return true;
    }
    for (const stop of [...this.#exchanges.values()]) stop();
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
        void request(this, action, this.#options);
        break;
      case "connect":
        this.#socket = new Dialled(this, action, this.#options);
        break;
      case "frame":
        this.#socket?.send(action.frame);
        break;
      case "abort":
        this.#exchanges.get(action.exchange)?.();
        this.#exchanges.delete(action.exchange);
        break;
      case "message":
        this.#message(action);
        break;
      case "connected":
        this.#asked = 0;
        remember(this._url, this.#options, this.carrier);
        this.#say({ type, carrier: this.carrier, ...(this.connectionId ? { id: this.connectionId } : {}) });
        break;
      case "lost":
        this.#lost(news);
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
        this.#over(this.#reason(action));
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
      const { method, params } = JSON.parse(decoder.decode(json));
      if (this.#reopening.has(params?.sessionId)) {
        // The host has seen most of it: it is not told as if it were new.
        if (method === "session/update") return this.#say({ type: "replayed", session: params.sessionId, params });
      }
    }
    this.readable.push(json);
  }

  #lost(lost) {
    const { calls, questions, sessions } = lost;
    for (const session of sessions) this.#reopening.add(session);
    this.#say({ type: "lost", ...lost });
    // Before there was a connection, its end says more.
    if (this.#isOpen) for (const id of calls) this.#answer(id, { outcome: "unknown" });
    for (const id of questions) {
      this.#dead.add(stringify(id));
      this.readable.push(stringify({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: id } }));
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

  #reason({ why, status = why === "unreachable" ? this.#status : undefined }) {
    return why === "host" ? undefined : new RemoteError(why, status, this.#problem);
  }

  #over(problem) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#problem = problem;
    this.readable.end(problem);
    this.#resume();
    // What ends the connection at the server may still be on its way.
    if (this.#exchanges.size === 0) this.#ended.resolve();
  }

  // What requests and sockets pass in.

  _begun(exchange, stop) {
    this.#exchanges.set(exchange, stop);
  }

  _heard(pass) {
    this.#tick();
    pass(this.#core);
    this.#turn();
  }

  _head(exchange, status, headers) {
    this.#status = status < 300 ? undefined : status;
    this._heard((core) => core.response(exchange, status, headers));
  }

  _failed(error) {
    this.#problem ??= error;
    this.#status = undefined;
  }

  _done(exchange) {
    this.#exchanges.delete(exchange);
    if (this.#isOver && this.#exchanges.size === 0) this.#ended.resolve();
  }

  /** Waits until the host has read enough. */
  async _room() {
    while (this.readable.size > UNREAD && !this.#isOver) await (this.#read ??= deferred()).promise;
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
      if (!this.#isOver) this._heard(() => {});
    };
    this.#timer = setTimeout(come, Math.min(Math.max(Math.ceil(wanted - performance.now()), 0), 0x7fffffff));
  }
}
