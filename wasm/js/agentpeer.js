// An agent as its client sees it. Read next: exchange.js.
import { ErrorCode } from "./codes.js";
import { AgentEnded, NoResult, PeerError, RequestError } from "./errors.js";
import { ClientSession, LoadingSession } from "./exchange.js";
import { disposable, given, metaOf } from "./host.js";
import { Peer, notServed } from "./peer.js";
import { unlessAborted, within } from "./wire.js";

// Requests whose answer may end a session, and those whose answer opens one.
const CLOSES = new Set(["session/close", "session/delete", "session/archive"]);
const OPENS = new Set(["session/new", "session/fork", "session/load", "session/resume"]);
const NAMED_BY_AGENT = new Set(["session/new", "session/fork"]);
// Requests whose handler begins when the updates before them have been handed over.
const AFTER_UPDATES = new Set(["session/request_permission", "elicitation/create"]);
// Outcomes of requests that an agent was there to answer, and did not.
const SILENT = new Set(["timeout", "cancelled"]);
// The output of a process ends a little before it does.
const EXIT = 1000;

export const noSession = () => new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such session");

export class AgentPeer extends Peer {
  sessions = new Map();
  /** Those that are being loaded, and replayed meanwhile. */
  _loading = new Map();
  /** Calls that updates belong to, by their serial numbers. */
  _exchanges = new Map();
  /** Those that the agent has opened below others. */
  #adopted = new Set();
  /** The ids of those that were opened when nobody waited for it any more: they are given back. */
  #givenUp = new Set();
  #grace;
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

  get authMethods() {
    return this.greeting?.authMethods ?? [];
  }

  request(method, params = {}, { signal, timeout } = {}) {
    if (OPENS.has(method)) return this.#openByHand(method, params, { signal, timeout });
    return this._ask(method, params, { signal, timeout });
  }

  async newSession(cwd, how = {}) {
    return this.#enter("session/new", new ClientSession(this, "", cwd, how.additionalDirectories), how);
  }

  async resumeSession(id, cwd, how = {}) {
    return this.#enter("session/resume", new ClientSession(this, id, cwd, how.additionalDirectories), how);
  }

  loadSession(id, cwd, how = {}) {
    const made = this.#begun(new ClientSession(this, id, cwd, how.additionalDirectories));
    return new LoadingSession(this.sessions.get(id) ?? made, made, setup(made, how), how);
  }

  async *listSessions(cwd, { meta, ...how } = {}) {
    for (let params = { ...given({ cwd }), ...metaOf(meta) }; ; ) {
      const { sessions, nextCursor } = await this.request("session/list", params, how);
      yield* sessions;
      if (nextCursor == null) return;
      params = { ...params, cursor: nextCursor };
    }
  }

  deleteSession(id, { meta, ...how } = {}) {
    return this.request("session/delete", { sessionId: id, ...metaOf(meta) }, how);
  }

  authenticate(methodId, { meta, ...how } = {}) {
    return this.request("authenticate", { methodId, ...metaOf(meta) }, how);
  }

  logout({ meta, ...how } = {}) {
    return this.request("logout", metaOf(meta), how);
  }

  /** Ends the connection, and the process where there is one. */
  close() {
    return (this.#closing ??= this.#close());
  }

  async #close() {
    await Promise.all([this._finish(this.#grace), this.#endAll()]);
    await this._transport.exit?.(this.#grace);
  }

  async _run({ timeout, signal, meta }) {
    const { info: clientInfo } = this._host;
    const clientCapabilities = this._host.offered();
    this._wire.start();
    const settle = ({ result }) => (this.greeting = result);
    await this._ask("initialize", { clientInfo, clientCapabilities, ...metaOf(meta) }, { timeout, signal, settle });
  }

  async _ask(method, params, how) {
    const closing = CLOSES.has(method) ? { ...how, settle: (response) => this.#left(params.sessionId, response) } : how;
    try {
      const result = await super._ask(method, params, closing);
      if (closing !== how) await this.#endings.get(params.sessionId);
      return result;
    } catch (error) {
      // A transport that has answered in the agent's place knows better why.
      const own = error instanceof PeerError && this._transport.ownError?.(error);
      if (own) throw own;
      if (!(error instanceof NoResult)) throw error;
      const { lastLines = [], ended } = this._transport;
      if (SILENT.has(error.outcome) && lastLines.length > 0) throw NoResult.ofAgent(error, lastLines);
      if (error.outcome !== "closed") throw error;
      if (this._wire.problem) error.cause = this._wire.problem;
      if (!this.process) throw error;
      await within(ended, EXIT);
      const death = new AgentEnded(method, this.process.exitCode, this.process.signalCode, lastLines);
      death.cause = error.cause;
      throw death;
    }
  }

  async #enter(method, made, how) {
    const { signal, timeout } = how;
    const { session } = await this.#open(method, made, setup(made, how), { signal, timeout });
    if (!session) throw new NoResult(method, "invalid", "the agent has named a session that is open already");
    return session;
  }

  /** Asks for what opens a session; the answer, and the session. */
  async #open(method, made, params, how) {
    const { id } = this.#begun(made);
    // What is asked in its name before the answer is asked of this one.
    if (id !== "" && !this.sessions.has(id) && !this._loading.has(id)) this._loading.set(id, made);
    let session;
    const settle = (response, isWanted) => (session = this._opened(made, response, isWanted));
    try {
      const result = await this._ask(method, params, { ...how, settle });
      return { result, session };
    } finally {
      if (this._loading.get(id) === made) this._loading.delete(id);
    }
  }

  /** The same as a plain request of the host's: what it opens is a session like others. */
  async #openByHand(method, params, how) {
    const { cwd, additionalDirectories, sessionId = "" } = params;
    const id = NAMED_BY_AGENT.has(method) ? "" : sessionId;
    const made = new ClientSession(this, id, cwd, additionalDirectories ?? []);
    try {
      return (await this.#open(method, made, params, how)).result;
    } finally {
      this._lost(made);
    }
  }

  /** Whoever opens files takes the session's directories for what they are now. */
  #begun(session) {
    this._host.files?.begin?.(session);
    return session;
  }

  /**
   * A session is open from the place of the answer on; what follows it may be about it already. What was open before stays
   * the same object.
   */
  _opened(made, { method, outcome, result }, isWanted = true) {
    if (outcome !== "result") return undefined;
    // Others were named by the client, whatever their answers have besides.
    const id = NAMED_BY_AGENT.has(method) ? result.sessionId : made.id;
    const there = this.sessions.get(id);
    if (!there && !isWanted && NAMED_BY_AGENT.has(method)) {
      this.#givenUp.add(id);
      if (this.connection.can("session/close")) this.connection.request("session/close", { sessionId: id });
      this.#end(made);
      return undefined;
    }
    if (there && NAMED_BY_AGENT.has(method)) {
      // What belongs to the first session stays its own.
      this._log.write("warn", "SESS-03", `SESS-03: ${method}/sessionId: it names a session that is open already (refused)`);
      return undefined;
    }
    made.id = id;
    made.result = result;
    this.#givenUp.delete(id);
    if (there) {
      there._reopened(made, result);
      this._host.files?.adopt?.(there, made);
    } else {
      this.sessions.set(id, made);
    }
    const session = there ?? made;
    if (this.#isOver) this.#end(session);
    return session;
  }

  /** What was opened too late is given back; what was closed too late is over all the same. */
  _late(response) {
    const { method, outcome, session } = response;
    if (CLOSES.has(method)) this.#left(session, response);
    if (outcome !== "result" || !NAMED_BY_AGENT.has(method)) return;
    const id = response.result.sessionId;
    if (!this.sessions.has(id)) this.#givenUp.add(id);
  }

  /** A session is over, from the place of the answer on, and with it those that the agent has opened below it. */
  #left(id, { method, outcome }) {
    if (outcome !== "result") return;
    if (method !== "session/archive" || !this.connection.session(id)) this.#over(id);
    for (const below of this.#adopted) if (!this.connection.session(below)) this.#over(below);
  }

  #over(id) {
    const session = this.sessions.get(id);
    if (!session) return;
    const ending = this.#forget(session).finally(() => {
      if (this.#endings.get(id) === ending) this.#endings.delete(id);
    });
    this.#endings.set(id, ending);
  }

  /** The transport has lost a session for good. */
  _detached(id) {
    const session = this.sessions.get(id);
    if (session) this.#forget(session);
  }

  #forget(session) {
    const ending = this.#end(session);
    const wasOpen = session.open;
    if (wasOpen) this.sessions.delete(session.id);
    this.#adopted.delete(session.id);
    session._endView();
    if (wasOpen) this._sessionEnded(session);
    return ending;
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
    const all = [this.sessions, this._loading].flatMap((sessions) => [...sessions.values()]);
    return Promise.all(all.map((session) => this.#end(session)));
  }

  /** A session that was to be opened is not open. */
  _lost(session) {
    if (this.sessions.get(session.id) === session) return;
    this.#end(session);
    session._endView();
  }

  _gone() {
    super._gone();
    this.#endAll();
  }

  /** What came before the end has been delivered: no session is open any more. */
  _closed() {
    for (const session of [...this.sessions.values()]) this.#forget(session);
  }

  async _perform(job) {
    const { method, params, session } = job.request;
    const handler = this._host.serves(method);
    if (!handler) throw notServed(method);
    const subject = this.#subject(session) ?? this.#adopt(session);
    if (!subject) throw noSession();
    if (session !== undefined && AFTER_UPDATES.has(method)) {
      // An update that shows what is asked about says more where it comes first.
      await unlessAborted(Promise.all([subject._handedOver(), this._noticed()]), job.signal);
    }
    return handler(subject, params, job.how);
  }

  #subject(id) {
    return id === undefined ? this : (this._loading.get(id) ?? this.sessions.get(id));
  }

  /** A session that the agent has opened below another. */
  #adopt(id) {
    const known = this.#isOver || this.#givenUp.has(id) ? undefined : this.connection.sessionSnapshot(id);
    if (!known) return undefined;
    const session = this.#begun(new ClientSession(this, id, known.cwd ?? "", known.roots.slice(1)));
    this.sessions.set(id, session);
    this.#adopted.add(id);
    return session;
  }

  _notified({ method, params, paramsText, session, exchange }) {
    // Updates may come before the answer that names their session.
    const subject = this.#subject(session) ?? this.#adopt(session) ?? new ClientSession(this, session);
    const handler = this._host.handlers.get(method);
    if (handler) this._call(method, handler, subject, params);
    if (method !== "session/update") return;
    subject._titled(params.update);
    const size = paramsText.length;
    if (this._exchanges.get(exchange)?._take(params, size)) {
      this.connection.keep(size);
    } else {
      this._updated(subject, params.update);
    }
  }

  /** Nobody iterates over an update. */
  _updated(session, update) {
    if (this._host.onUpdate) this._call("onUpdate", this._host.onUpdate, session, update);
  }

  /** An iterator has handed on an update; `isLast` says that it has no other. */
  _taken(size, isLast) {
    if (this.connection.take(size, isLast)) this._wire.dispatch();
  }
}
disposable(AgentPeer, "close");

function setup({ id, cwd, roots }, { mcpServers = [], meta }) {
  const params = { cwd, mcpServers, ...metaOf(meta) };
  if (id !== "") params.sessionId = id;
  if (roots.length > 1) params.additionalDirectories = roots.slice(1);
  return params;
}
