// A session on the client's side, and its exchanges: requests with a stream of updates before the answer.
import { content } from "./host.js";
import { deferred, onAbort, unlessAborted } from "./wire.js";

export class ClientSession {
  result = {};
  data = undefined;
  _isClosing = false;
  /** It is no more, or never was. */
  _isOver = false;
  _ending = undefined;
  #exchange;

  constructor(agent, id, cwd = "", further = []) {
    this.agent = agent;
    this.id = id;
    this.cwd = cwd;
    this.roots = cwd === "" ? [] : [cwd, ...further];
  }

  prompt(what, { signal } = {}) {
    const several = Array.isArray(what) ? what : [what];
    return new PromptTurn(this, "session/prompt", { sessionId: this.id, prompt: several.map(content) }, signal);
  }

  cancel() {
    return this.notify("session/cancel");
  }

  async setMode(modeId) {
    await this.request("session/set_mode", { modeId });
  }

  async setConfigOption(configId, value) {
    const type = typeof value === "boolean" ? { type: "boolean" } : {};
    const { configOptions } = await this.request("session/set_config_option", { configId, value, ...type });
    return configOptions;
  }

  async close() {
    // What the agent asks for meanwhile starts nothing.
    this._isClosing = true;
    try {
      await this.request("session/close");
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

  _cancelNow() {
    const { connection, _wire } = this.agent;
    if (connection.phase !== "closed") _wire.notifyNow("session/cancel", { sessionId: this.id });
  }

  /** Waits for a turn that was cancelled; one that was not is for the connection to refuse. */
  async _free(exchange, signal) {
    for (;;) {
      const current = this.#exchange;
      const turn = this.agent.connection.session(this.id)?.turn;
      if (!current || !(current._left || turn === "cancelling")) break;
      await unlessAborted(current._over.promise, signal);
    }
    this.#exchange ??= exchange;
  }

  _done(exchange) {
    if (this.#exchange === exchange) this.#exchange = undefined;
  }

  _take(update, size) {
    return this.#exchange?._take(update, size) ?? false;
  }
}

/** A request with updates before its answer: iterate over them, or await the answer. Sent at the first step. */
class Exchange {
  _over = deferred();
  /** Nobody wants its answer any more. */
  _left = false;
  #method;
  #params;
  #signal;
  #asking;
  #open = false;
  #ended = false;
  #givenUp = false;
  #stop = new AbortController();
  #items = [];
  #more;

  constructor(session, method, params, signal) {
    this.session = session;
    this.#method = method;
    this.#params = params;
    this.#signal = signal;
  }

  [Symbol.asyncIterator]() {
    if (this.#asking) throw new TypeError(`${this.#method}: it has been iterated over, or awaited, before`);
    return this.#iterate();
  }

  then(resolved, rejected) {
    return this.#answer().then(resolved, rejected);
  }

  async *#iterate() {
    this.#open = true;
    this.#begin();
    try {
      for (;;) {
        while (this.#items.length > 0 && !this.#signal?.aborted) {
          const { update, size } = this.#items.shift();
          this.session.agent._taken(size);
          yield update;
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
    if (this.#asking) throw new TypeError(`${this.#method}: it has been iterated over, or awaited, before`);
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
      const cancel = (id) => {
        this.#givenUp = true;
        this._giveUp(id);
      };
      const how = { settle, cancel, signal: this.#stop.signal };
      return await this.session.agent._ask(this.#method, this.#params, how);
    } catch (error) {
      // What has been sent ends with its answer, and not before.
      if (!this.#givenUp) this.#end();
      throw this.#signal?.aborted ? this.#signal.reason : error;
    } finally {
      forget();
    }
  }

  #end() {
    this.#ended = true;
    this._over.resolve();
    this.#more?.resolve();
    this._finished();
    this.session._done(this);
  }

  /** Takes an update, if somebody iterates. */
  _take(update, size) {
    if (!this.#open) return false;
    this.#items.push({ update, size });
    this.#more?.resolve();
    return true;
  }

  /** Nobody iterates any more, or waits. */
  #leave() {
    this.#open = false;
    while (this.#items.length > 0) this.session.agent._taken(this.#items.shift().size);
    this.#more?.resolve();
    if (this.#ended) return;
    this._left = true;
    this.#stop.abort(new DOMException("the exchange was left", "AbortError"));
  }

  // What the kinds of exchanges add; each has a `_giveUp(id)` for when nobody wants the answer any more.

  _begun() {}

  _settle() {}

  _finished() {}
}

export class PromptTurn extends Exchange {
  result = undefined;

  get stopReason() {
    return this.result?.stopReason;
  }

  async cancel() {
    if (this.result === undefined) await this.session.cancel();
  }

  _made(result) {
    return result;
  }

  _giveUp() {
    this.session._cancelNow();
  }

  _settle({ outcome, result }) {
    if (outcome === "result") this.result = result;
  }
}

export class LoadingSession extends Exchange {
  _made() {
    return this.session;
  }

  _giveUp(id) {
    this.session.agent._wire.cancel(id);
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
    this.session.agent._opened(this.session, response);
  }
}
