// An agent as its client sees it. Read next: exchange.js.
import { ErrorCode } from "./codes.js";
import { AgentEnded, NoResult, RequestError } from "./errors.js";
import { ClientSession, LoadingSession } from "./exchange.js";
import { disposable } from "./host.js";
import { Peer, notServed } from "./peer.js";
import { within } from "./wire.js";

// What may wait in iterators before reading stops: updates, and characters of them.
const UPDATES = 256;
const SIZE = 1 << 20;
// So many times more while the client waits for an answer, which may be behind them.
const PATIENCE = 8;
// Requests whose answer ends a session.
const CLOSES = new Set(["session/close", "session/delete"]);
// The output of a process ends a little before it does.
const EXIT = 1000;

export const noSession = () => new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such session");

export class AgentPeer extends Peer {
  sessions = new Map();
  /** Those that are being loaded, and replayed meanwhile. */
  _loading = new Map();
  /** Those that the host has opened with `request`: they have no roots here. */
  #others = new Map();
  #grace;
  #updates = 0;
  #size = 0;
  #asked = 0;
  #closing;
  #isOver = false;
  /** The ends of terminals that sessions have left, by the sessions' ids. */
  #endings = new Map();

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
    const session = this.#begun(new ClientSession(this, id, cwd, additionalDirectories));
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
    await Promise.all([this._finish(this.#grace), this.#endAll()]);
    for (const sessions of [this.sessions, this.#others]) sessions.clear();
    await this._transport.exit?.(this.#grace);
  }

  async _run({ timeout, signal }) {
    this._wire.start();
    const { info: clientInfo, capabilities: clientCapabilities } = this._host;
    await this._ask("initialize", { clientInfo, clientCapabilities }, { timeout, signal });
  }

  async _ask(method, params, how) {
    const closing = CLOSES.has(method) ? { ...how, settle: (response) => this.#closed(params.sessionId, response) } : how;
    try {
      const result = await super._ask(method, params, closing);
      if (closing !== how) await this.#endings.get(params.sessionId);
      return result;
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
    this.#begun(session);
    const settle = (response) => this._opened(session, response);
    await this.#waited(this._ask(method, setup(session, mcpServers), { settle, signal }));
    if (session.id === "") throw new NoResult(method, "invalid", "the agent has named a session that is open already");
    return session;
  }

  /** Whoever opens files takes the session's directories for what they are now. */
  #begun(session) {
    this._host.files?.begin?.(session);
    return session;
  }

  /** A session is open from the place of the answer on; what follows it may be about it already. */
  _opened(session, { method, outcome, result }) {
    if (outcome !== "result") return;
    const id = result.sessionId ?? session.id;
    const there = this.sessions.get(id) ?? this.#others.get(id);
    if (there && session.id === "") {
      // What belongs to the first session stays its own.
      this._log.write("warn", "SESS-03", `SESS-03: ${method}/sessionId: it names a session that is open already (refused)`);
      return;
    }
    if (there) this.#forget(there);
    session.result = result;
    session.id = id;
    this.sessions.set(id, session);
    if (this.#isOver) this.#end(session);
  }

  /** A session is over, from the place of the answer on. */
  #closed(id, { outcome }) {
    const session = this.sessions.get(id) ?? this.#others.get(id);
    if (outcome !== "result" || !session) return;
    const ending = this.#forget(session).finally(() => {
      if (this.#endings.get(id) === ending) this.#endings.delete(id);
    });
    this.#endings.set(id, ending);
  }

  #forget(session) {
    for (const sessions of [this.sessions, this.#others]) {
      if (sessions.get(session.id) === session) sessions.delete(session.id);
    }
    return this.#end(session);
  }

  /** Ends what a session has left: it starts nothing any more. */
  #end(session) {
    session._isOver = true;
    return (session._ending ??= (async () => {
      try {
        await this._host.terminals?.end?.(session);
      } catch (error) {
        this._log.failed("terminals that a session has left cannot be ended", error);
      }
    })());
  }

  /** The same for all of them: nobody asks for anything any more. */
  #endAll() {
    this.#isOver = true;
    const all = [this.sessions, this.#others, this._loading].flatMap((sessions) => [...sessions.values()]);
    return Promise.all(all.map((session) => this.#end(session)));
  }

  /** A session that was to be loaded is not open. */
  _lost(session) {
    if (this.sessions.get(session.id) !== session) this.#end(session);
  }

  _gone() {
    super._gone();
    this.#endAll();
  }

  _knows(id) {
    return this.sessions.has(id) || this.#others.has(id);
  }

  async _perform(job) {
    const { method, params, session } = job.request;
    const handler = this._host.handlers.get(method);
    if (!handler) throw notServed();
    const subject = this.#subject(session) ?? this.#other(session);
    if (!subject) throw noSession();
    return handler(subject, params, job.how);
  }

  #subject(id) {
    return id === undefined ? this : (this._loading.get(id) ?? this.sessions.get(id) ?? this.#others.get(id));
  }

  /** A session that the host has opened with `request`, if the connection knows it. */
  #other(id) {
    if (this.#isOver || !this.connection.session(id)) return undefined;
    const session = new ClientSession(this, id);
    this.#others.set(id, session);
    return session;
  }

  _notified({ method, params, session }, size) {
    // Updates may come before the answer that names their session.
    const subject = this.#subject(session) ?? new ClientSession(this, session);
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
