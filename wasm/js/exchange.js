// A session on the client's side, and its exchanges: requests with a stream of updates before the answer.
import { content, disposable, metaOf } from "./host.js";
import { SessionView } from "./view.js";
import { deferred, onAbort, unlessAborted } from "./wire.js";

// After so many milliseconds, a prompt that nobody has begun was probably meant to be.
const FORGOTTEN = 2000;
// Tool calls of a session whose titles are known at a time.
const TITLES = 1000;
const OVER = new Set(["completed", "failed", "cancelled"]);

export class ClientSession {
  result = {};
  data = undefined;
  _isClosing = false;
  /** It is no more, or never was. */
  _isOver = false;
  _ending = undefined;
  /** Titles of tool calls that have not ended. */
  _titles = new Map();
  #view;
  /** Its exchanges that have not ended. */
  #running = new Set();

  constructor(agent, id, cwd = "", further = []) {
    this.agent = agent;
    this.id = id;
    this.cwd = cwd;
    this.roots = cwd === "" ? [] : [cwd, ...further];
  }

  get open() {
    return this.agent.sessions.get(this.id) === this;
  }

  get snapshot() {
    return this.agent.connection.sessionSnapshot(this.id);
  }

  get view() {
    const { connection, _host } = this.agent;
    if (!_host.options.view) return undefined;
    const onError = (error) => this.agent._failed("view", error);
    return (this.#view ??= new SessionView(connection, this.id, { onError }));
  }

  prompt(what, { signal, timeout, meta } = {}) {
    const several = Array.isArray(what) ? what : [what];
    const params = { sessionId: this.id, prompt: several.map(content), ...metaOf(meta) };
    return new PromptTurn(this, "session/prompt", params, { signal, timeout });
  }

  cancel({ meta } = {}) {
    return this.notify("session/cancel", metaOf(meta));
  }

  setMode(modeId, { meta, ...how } = {}) {
    return this.request("session/set_mode", { modeId, ...metaOf(meta) }, how);
  }

  async setConfigOption(configId, value, { meta, ...how } = {}) {
    const type = typeof value === "boolean" ? { type: "boolean" } : {};
    const params = { configId, value, ...type, ...metaOf(meta) };
    const { configOptions } = await this.request("session/set_config_option", params, how);
    return configOptions;
  }

  async close({ meta, ...how } = {}) {
    // What the agent asks for meanwhile starts nothing.
    this._isClosing = true;
    try {
      return await this.request("session/close", metaOf(meta), how);
    } finally {
      this._isClosing = false;
    }
  }

  request(method, params, options) {
    return this.agent.request(method, { sessionId: this.id, ...params }, options);
  }

  notify(method, params, options) {
    return this.agent.notify(method, { sessionId: this.id, ...params }, options);
  }

  cancelToolCall(toolCallId, { meta, ...how } = {}) {
    return this.request("tool_call/cancel", { toolCallId, ...metaOf(meta) }, how);
  }

  /** Waits for a turn that was cancelled; one that was not is for the connection to refuse. */
  async _free(exchange, signal) {
    const { connection, _wire } = this.agent;
    for (const other of this.#running) {
      if (connection.holdsBack(this.id)) await unlessAborted(other._over.promise, signal);
    }
    // Nobody waits for a turn whose time was up, but it goes on at the agent.
    while (connection.phase !== "closed" && connection.holdsBack(this.id)) await unlessAborted(_wire.moved(), signal);
    this.#running.add(exchange);
  }

  _done(exchange) {
    this.#running.delete(exchange);
  }

  /** Remembers what a tool call is called until it has ended: a request for permission may only give its id. */
  _titled({ sessionUpdate, toolCallId, title, status }) {
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") return;
    if (OVER.has(status)) this._titles.delete(toolCallId);
    else if (typeof title === "string") {
      this._titles.set(toolCallId, title);
      // Not every agent says how each of its tool calls ends.
      if (this._titles.size > TITLES) this._titles.delete(this._titles.keys().next().value);
    }
  }

  /** It is over: what is shown of it stays as it is. */
  _endView() {
    this.#view?._end();
  }

  /** Waits until the updates so far have been handed over. */
  async _handedOver() {
    await Promise.all([...this.#running].map((exchange) => exchange._handedOver()));
  }

  /** It has been opened once more, with other directories it may be. */
  _reopened({ cwd, roots }, result) {
    Object.assign(this, { cwd, roots, result });
  }
}
disposable(ClientSession, "close");

/** A request with updates before its answer: iterate over them, or await the answer. Sent at the first step. */
class Exchange {
  _over = deferred();
  #method;
  #params;
  #signal;
  #timeout;
  #asking;
  #open = false;
  #ended = false;
  /** Its serial number, once it has been sent. */
  #serial;
  #stop = new AbortController();
  #items = [];
  #more;
  /** Whoever waits until all so far has been handed over. */
  #behind = [];
  #forgotten;
  #isWithdrawn = false;

  constructor(session, method, params, { signal, timeout } = {}) {
    this.session = session;
    this.#method = method;
    this.#params = params;
    this.#signal = signal;
    this.#timeout = timeout;
    this.#forgotten = setTimeout(() => this.#remind(), FORGOTTEN);
    this.#forgotten.unref?.();
  }

  #remind() {
    const said = `${this.#method} has been neither awaited nor iterated over, and is not sent before that`;
    this.session.agent._log.write("warn", this.#method, said);
  }

  [Symbol.asyncIterator]() {
    this.#mustBeNew();
    return this.#iterate("update");
  }

  notifications() {
    this.#mustBeNew();
    return this.#iterate();
  }

  #mustBeNew() {
    if (this.#asking) throw new TypeError(`${this.#method}: it has been iterated over, or awaited, before`);
  }

  then(resolved, rejected) {
    return this.#answer().then(resolved, rejected);
  }

  /** Goes through the updates, or through all that came with each of them. */
  async *#iterate(member) {
    this.#open = true;
    this.#begin();
    try {
      for (;;) {
        while (this.#items.length > 0 && !this.#signal?.aborted) {
          const { params, size } = this.#items.shift();
          this.session.agent._taken(size, this.#items.length === 0);
          if (this.#items.length === 0 && this.#behind.length > 0) this.#caughtUp();
          yield member ? params[member] : params;
        }
        if (this.#ended || this.#signal?.aborted) break;
        await (this.#more = deferred()).promise;
      }
    } finally {
      this.#leave();
    }
    await this.#asking;
  }

  async #answer() {
    if (!this.#asking) this.#begin();
    return this._made(await this.#asking);
  }

  #begin() {
    this.#mustBeNew();
    clearTimeout(this.#forgotten);
    this.#asking = this.#ask();
    // Who has left early does not hear of it.
    this.#asking.catch(() => {});
  }

  async #ask() {
    const forget = onAbort(this.#signal, () => this.#leave());
    try {
      this.#signal?.throwIfAborted();
      await this.session._free(this, this.#stop.signal);
      this._begun();
      const settle = (response) => {
        this._settle(response);
        this.#end();
      };
      const { agent } = this.session;
      const sent = (serial) => {
        this.#serial = serial;
        agent._exchanges.set(serial, this);
      };
      // Who has left the loop may still want to know how it ends.
      const how = { sent, settle, signal: this.#stop.signal, timeout: this.#timeout, patient: true };
      return await unlessAborted(agent._ask(this.#method, this.#params, how), this.#signal);
    } catch (error) {
      const reason = this.#signal?.aborted ? this.#signal.reason : error;
      // What has been sent ends with its answer, and not before.
      if (this.#serial !== undefined) throw reason;
      const result = this.#isWithdrawn ? this._skipped() : undefined;
      this.#end();
      if (result === undefined) throw reason;
      return result;
    } finally {
      forget();
    }
  }

  /** Whether it has been sent, and has not ended. */
  get _isSent() {
    return this.#serial !== undefined && !this.#ended;
  }

  async _handedOver() {
    if (this.#items.length === 0) return;
    const behind = deferred();
    this.#behind.push(behind);
    await behind.promise;
  }

  #caughtUp() {
    for (const { resolve } of this.#behind.splice(0)) resolve();
  }

  /** It is not to be sent any more. */
  _withdraw() {
    this.#isWithdrawn = true;
    clearTimeout(this.#forgotten);
    this.#stop.abort(left());
  }

  #end() {
    this.#ended = true;
    this._over.resolve();
    this.#more?.resolve();
    this._finished();
    this.session._done(this);
    this.session.agent._exchanges.delete(this.#serial);
  }

  /** Takes an update, if somebody iterates. */
  _take(params, size) {
    if (!this.#open) return false;
    this.#items.push({ params, size });
    this.#more?.resolve();
    return true;
  }

  /** Nobody iterates any more, or waits. */
  #leave() {
    const { agent } = this.session;
    // What comes meanwhile, as there is room again, comes behind what is here.
    while (this.#items.length > 0) {
      const { params, size } = this.#items.shift();
      agent._updated(this.session, params.update);
      agent._taken(size, this.#items.length === 0);
    }
    this.#open = false;
    this.#caughtUp();
    this.#more?.resolve();
    if (!this.#ended) this.#stop.abort(left());
  }

  // What the kinds of exchanges add.

  /** What takes the place of the answer where it was withdrawn. */
  _skipped() {
    return undefined;
  }

  _begun() {}

  _settle() {}

  _finished() {}
}

export class PromptTurn extends Exchange {
  result = undefined;

  get stopReason() {
    return this.result?.stopReason;
  }

  get messageId() {
    return this.result?.messageId;
  }

  async cancel() {
    if (this._isSent) await this.session.cancel();
    else this._withdraw();
  }

  async readText() {
    const messages = new Map();
    let last;
    for await (const { sessionUpdate, messageId, content } of this) {
      const isPiece = sessionUpdate === "agent_message_chunk";
      // In version 2 a message may also be told as a whole, in which a member that is missing stays as it was.
      if (!isPiece && (sessionUpdate !== "agent_message" || content === undefined)) continue;
      // Pieces without an id that follow each other are one message.
      last = messageId ?? (typeof last === "symbol" ? last : Symbol(sessionUpdate));
      messages.set(last, isPiece ? (messages.get(last) ?? "") + textIn([content]) : textIn(content ?? []));
    }
    return [...messages.values()].join("");
  }

  _skipped() {
    return (this.result = { stopReason: "cancelled" });
  }

  _made(result) {
    return result;
  }

  _settle({ outcome, result }) {
    if (outcome === "result") this.result = result;
  }
}

const left = () => new DOMException("the exchange was left", "AbortError");
const textIn = (blocks) => blocks.map((block) => (block.type === "text" ? block.text : "")).join("");

export class LoadingSession extends Exchange {
  #made;

  /** `made` has what is asked for; `session` is what is there already, or the same. */
  constructor(session, made, params, how) {
    super(session, "session/load", params, how);
    this.#made = made;
  }

  _made() {
    return this.session;
  }

  /** What is replayed comes before the session is open. */
  _begun() {
    this.session.agent._loading.set(this.session.id, this.session);
  }

  _finished() {
    const { agent, id } = this.session;
    if (agent._loading.get(id) === this.session) agent._loading.delete(id);
    agent._lost(this.session);
  }

  _settle(response) {
    this.session = this.session.agent._opened(this.#made, response) ?? this.session;
  }
}
