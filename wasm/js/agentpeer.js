// An agent as its client sees it. Read next: exchange.js.
import { AgentEnded, NoResult } from "./errors.js";
import { ClientSession, LoadingSession } from "./exchange.js";
import { disposable } from "./host.js";
import { Peer, notServed } from "./peer.js";
import { within } from "./wire.js";

// What may wait in iterators before reading stops: updates, and characters of them.
const UPDATES = 256;
const SIZE = 1 << 20;
// So many times more while the client waits for an answer, which may be behind them.
const PATIENCE = 8;
// The output of a process ends a little before it does.
const EXIT = 1000;

export class AgentPeer extends Peer {
  sessions = new Map();
  /** Those that are being loaded, and replayed meanwhile. */
  _loading = new Map();
  #grace;
  #updates = 0;
  #size = 0;
  #asked = 0;
  #closing;

  constructor(client, transport, grace) {
    super("client", client, transport);
    this.#grace = grace;
    this.process = transport.process;
    this._transport = transport;
  }

  get info() {
    return this.connection.peerInfo.agentInfo ?? {};
  }

  get authMethods() {
    return this.connection.peerInfo.authMethods ?? [];
  }

  request(method, params = {}, { signal, timeout } = {}) {
    return this.#waited(this._ask(method, params, { signal, timeout }));
  }

  async newSession(cwd, { mcpServers, additionalDirectories, signal } = {}) {
    return this.#enter("session/new", new ClientSession(this, "", cwd, additionalDirectories), mcpServers, signal);
  }

  async resumeSession(id, cwd, { mcpServers, additionalDirectories, signal } = {}) {
    return this.#enter("session/resume", new ClientSession(this, id, cwd, additionalDirectories), mcpServers, signal);
  }

  loadSession(id, cwd, { mcpServers, additionalDirectories, signal } = {}) {
    const session = new ClientSession(this, id, cwd, additionalDirectories);
    return new LoadingSession(session, "session/load", setup(session, mcpServers), signal);
  }

  async *listSessions(cwd) {
    for (let params = cwd === undefined ? {} : { cwd }; ; ) {
      const { sessions, nextCursor } = await this.request("session/list", params);
      yield* sessions;
      if (nextCursor == null) return;
      params = { ...params, cursor: nextCursor };
    }
  }

  async deleteSession(id) {
    await this.request("session/delete", { sessionId: id });
  }

  async authenticate(methodId) {
    await this.request("authenticate", { methodId });
  }

  async logout() {
    await this.request("logout");
  }

  /** Ends the connection, and the process where there is one. */
  close() {
    return (this.#closing ??= this.#close());
  }

  async #close() {
    await this._finish(this.#grace);
    for (const session of [...this.sessions.values()]) await this._forget(session);
    await this._transport.exit?.(this.#grace);
  }

  async _run({ timeout, signal }) {
    this._wire.start();
    const { info: clientInfo, capabilities: clientCapabilities } = this._host;
    await this._ask("initialize", { clientInfo, clientCapabilities }, { timeout, signal });
  }

  async _ask(method, params, how) {
    try {
      return await super._ask(method, params, how);
    } catch (error) {
      if (!(error instanceof NoResult) || error.outcome !== "closed") throw error;
      if (this._wire.problem) error.cause = this._wire.problem;
      if (!this.process) throw error;
      await within(this._transport.ended, EXIT);
      const ended = new AgentEnded(method, this.process.exitCode, this.process.signalCode);
      ended.cause = error.cause;
      throw ended;
    }
  }

  async #waited(call) {
    this.#asked += 1;
    try {
      // What waits in iterators may be in front of the answer.
      this._wire.dispatch();
      return await call;
    } finally {
      this.#asked -= 1;
    }
  }

  async #enter(method, session, mcpServers, signal) {
    const settle = (response) => this._opened(session, response);
    await this.#waited(this._ask(method, setup(session, mcpServers), { settle, signal }));
    return session;
  }

  /** A session is open from the place of the answer on; what follows it may be about it already. */
  _opened(session, { outcome, result }) {
    if (outcome !== "result") return;
    session.result = result;
    session.id = result.sessionId ?? session.id;
    this.sessions.set(session.id, session);
  }

  async _forget(session) {
    if (this.sessions.get(session.id) === session) this.sessions.delete(session.id);
    await this._host.terminals?.end?.(session);
  }

  async _perform(job) {
    const { method, params, session } = job.request;
    const handler = this._host.handlers.get(method);
    if (!handler) throw notServed();
    return handler(this.#subject(session), params, job.how);
  }

  #subject(id) {
    if (id === undefined) return this;
    // One that somebody else has opened with `request` has no roots here.
    return this._loading.get(id) ?? this.sessions.get(id) ?? new ClientSession(this, id);
  }

  _notified({ method, params, session }, size) {
    const subject = this.#subject(session);
    const handler = this._host.handlers.get(method);
    if (handler) this._call(handler, subject, params);
    if (method !== "session/update") return;
    if (subject._take(params.update, size)) {
      this.#updates += 1;
      this.#size += size;
    } else if (this._host.onUpdate) {
      this._call(this._host.onUpdate, subject, params.update);
    }
  }

  /** An iterator has handed on an update. */
  _taken(size) {
    const full = this._full();
    this.#updates -= 1;
    this.#size -= size;
    if (full) this._wire.dispatch();
  }

  _full() {
    const most = this.#asked > 0 ? PATIENCE : 1;
    return this.#updates >= UPDATES * most || this.#size >= SIZE * most || super._full();
  }
}
disposable(AgentPeer, "close");

function setup({ id, cwd, roots }, mcpServers = []) {
  const params = { cwd, mcpServers };
  if (id !== "") params.sessionId = id;
  if (roots.length > 1) params.additionalDirectories = roots.slice(1);
  return params;
}
