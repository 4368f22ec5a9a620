// An agent: handlers for what clients ask, and a place to serve them. Read next: turn.js, peer.js.
import { whenLoaded } from "./connection.js";
import { Host, isObject, merged, metaOf, randomId } from "./host.js";
import { SHOWN } from "./methods.js";
import { Peer, notServed, resultOf } from "./peer.js";
import { Permission, Terminal, ToolCall, Turn } from "./turn.js";
import { onAbort, stopper } from "./wire.js";

// How long handlers may take to end when the client is gone.
const GRACE = 5000;
// Requests that end with the turn that they are asked in.
const QUESTIONS = new Set(["session/request_permission", "elicitation/create"]);

export class Agent extends Host {
  constructor(name, version = "0", settings = {}) {
    super("agent", name, version, settings, ["authMethods", "mergeChunks"]);
    this.capabilities = settings.capabilities ?? {};
    this.authMethods = settings.authMethods ?? [];
    this.mergeChunks = settings.mergeChunks ?? false;
    if (typeof this.mergeChunks !== "boolean") throw new TypeError("mergeChunks: expected a boolean");
  }

  prompt(handler) {
    return this.on("session/prompt", handler);
  }

  newSession(handler) {
    return this.on("session/new", handler);
  }

  loadSession(handler) {
    return this.on("session/load", handler);
  }

  resumeSession(handler) {
    return this.on("session/resume", handler);
  }

  async serve(transport, { signal } = {}) {
    this.mustKeep((method) => this.handlers.has(method) || method === "session/close");
    await whenLoaded();
    signal?.throwIfAborted();
    await new ClientPeer(this, transport)._run(signal);
  }
}

export class AgentSession {
  data = undefined;
  /** Its prompts that are being served. */
  _turns = new Set();
  /** The request that opens it, until its answer has been taken. */
  _opening = undefined;

  constructor(client, id, { cwd = "", additionalDirectories, mcpServers, _meta } = {}) {
    this.client = client;
    this.id = id;
    this.cwd = cwd;
    this.roots = cwd === "" ? [] : [cwd, ...(additionalDirectories ?? [])];
    this.mcpServers = mcpServers ?? [];
    this.meta = _meta;
  }

  get open() {
    return this.client.sessions.get(this.id) === this;
  }

  get snapshot() {
    return this.client.connection.sessionSnapshot(this.id);
  }

  update(update, { meta, signal } = {}) {
    return this.notify("session/update", { update, ...metaOf(meta) }, { signal });
  }

  async request(method, params, { signal, timeout } = {}) {
    const all = { sessionId: this.id, ...params };
    if (!QUESTIONS.has(method)) return this.client.request(method, all, { signal, timeout });
    const { signal: stop, abort } = stopper();
    const forget = [signal, ...[...this._turns].map((turn) => turn.signal)].map((each) => onAbort(each, abort));
    try {
      return await this.client.request(method, all, { signal: stop, timeout });
    } finally {
      for (const each of forget) each();
    }
  }

  notify(method, params, { signal } = {}) {
    return this.client._quietly(this.client._notify(method, params, { signal, session: this }));
  }
}

export class ClientPeer extends Peer {
  sessions = new Map();
  #builtIn = {
    initialize: (params, job) => this.#initialize(params, job),
    "session/new": (params, job) => this.#open(params, job, randomId()),
    "session/fork": (params, job) => this.#open(params, job, randomId()),
    "session/load": (params, job) => this.#open(params, job, params.sessionId),
    "session/resume": (params, job) => this.#open(params, job, params.sessionId),
    "session/close": (params, job) => this.#close(params, job),
    "session/prompt": (params, job) => this.#prompt(params, job),
  };

  constructor(agent, transport) {
    super("agent", agent, transport);
    this.connection.mergeChunks(agent.mergeChunks);
  }

  /** Serves until the client closes its side. */
  async _run(signal) {
    const stop = () => this._ended.resolve();
    signal?.addEventListener("abort", stop, { once: true });
    this._wire.start();
    try {
      await this._ended.promise;
    } finally {
      signal?.removeEventListener("abort", stop);
      await this._finish(GRACE);
      const left = [...this.sessions.values()];
      this.sessions.clear();
      for (const session of left) this._sessionEnded(session);
    }
    signal?.throwIfAborted();
  }

  async _perform(job) {
    const { method, params, session } = job.request;
    const builtIn = Object.hasOwn(this.#builtIn, method) && this.#builtIn[method];
    return builtIn ? builtIn(params, job) : this.#handle(job, this.#subject(session));
  }

  _notified({ method, session, params }) {
    const handler = this._host.handlers.get(method);
    if (handler) this._call(method, handler, this.#subject(session), params);
  }

  _cancelled({ request }) {
    return request.method === "session/prompt" ? { stopReason: "cancelled" } : undefined;
  }

  /** What a handler is about: the client, or a session, which need not be open. */
  #subject(session) {
    return session === undefined ? this : (this.sessions.get(session) ?? new AgentSession(this, session));
  }

  #handle(job, subject, isOptional = false) {
    const { method, params } = job.request;
    const handler = this._host.handlers.get(method);
    if (handler) return handler(subject, params, job.how);
    if (isOptional) return undefined;
    throw notServed(method);
  }

  async #initialize(params, job) {
    const agent = this._host;
    this.greeting = params;
    const shown = [...agent.handlers.keys()].map((method) => SHOWN[method] ?? {});
    const agentCapabilities = [{ sessionCapabilities: { close: {} } }, ...shown, agent.capabilities].reduce(merged);
    const made = { agentInfo: agent.info, agentCapabilities };
    if (agent.authMethods.length > 0) made.authMethods = agent.authMethods;
    const more = resultOf("initialize", await this.#handle(job, this, true));
    return merged(made, more ?? {});
  }

  /** All ways to open a session: they differ in who names it. What is there stays until the answer has been taken. */
  async #open(params, job, id) {
    const { method } = job.request;
    const session = new AgentSession(this, id, params);
    session._opening = job.request;
    const result = { ...resultOf(method, await this.#handle(job, session, method === "session/new")) };
    const isNamed = id !== params.sessionId;
    if (isNamed && (result.sessionId === undefined || result.sessionId === "")) result.sessionId = id;
    job.whenTaken = () => {
      const name = isNamed ? result.sessionId : id;
      const before = this.sessions.get(name);
      this.sessions.set(name, session);
      Object.assign(session, { id: name, _opening: undefined });
      if (before) this._sessionEnded(before);
    };
    return result;
  }

  async #close({ sessionId }, job) {
    const session = this.sessions.get(sessionId);
    if (session) await Promise.allSettled([...session._turns].map((turn) => turn._work));
    job.whenTaken = () => {
      if (!session || this.sessions.get(sessionId) !== session) return;
      this.sessions.delete(sessionId);
      this._sessionEnded(session);
    };
    return this.#handle(job, this.#subject(sessionId), true);
  }

  async #prompt(params, job) {
    const session = this.#subject(params.sessionId);
    const handler = this._host.handlers.get("session/prompt");
    if (!handler) throw notServed("session/prompt");
    const turn = new Turn(session, params, job);
    turn._work = this.#take(handler, turn);
    session._turns.add(turn);
    try {
      return await turn._work;
    } finally {
      session._turns.delete(turn);
    }
  }

  async #take(handler, turn) {
    let result;
    try {
      result = await handler(turn);
    } catch (error) {
      if (!turn.cancelled) throw error;
      // However a cancelled handler ends, the answer is the same; what is no consequence of that is worth a word.
      if (error?.name !== "AbortError") this._failed("session/prompt", error);
    } finally {
      await turn._over();
    }
    if (turn.cancelled) return { ...(isObject(result) ? result : {}), stopReason: "cancelled" };
    if (typeof result === "string") return { stopReason: result };
    return { stopReason: "end_turn", ...resultOf("session/prompt", result, "a stop reason as text, ") };
  }
}

export { Permission, Terminal, ToolCall, Turn };
export * from "./shared.js";
