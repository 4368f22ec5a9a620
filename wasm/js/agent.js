// An agent: handlers for what clients ask, and a place to serve them. Read next: turn.js, peer.js.
import { ErrorCode } from "./codes.js";
import { whenLoaded } from "./connection.js";
import { RequestError } from "./errors.js";
import { Host, merged, randomId } from "./host.js";
import { Peer, notServed } from "./peer.js";
import { Permission, Terminal, ToolCall, Turn } from "./turn.js";

// How long handlers may take to end when the client is gone.
const GRACE = 5000;
// The capability that says so, for each method that an agent may have a handler for.
const ADVERTISED = {
  "session/load": { loadSession: true },
  "session/resume": { sessionCapabilities: { resume: {} } },
  "session/list": { sessionCapabilities: { list: {} } },
  "session/delete": { sessionCapabilities: { delete: {} } },
  "session/close": { sessionCapabilities: { close: {} } },
  "session/fork": { sessionCapabilities: { fork: {} } },
  logout: { auth: { logout: {} } },
};

export class Agent extends Host {
  constructor(name, version = "0", settings = {}) {
    super(name, version, settings, ["authMethods"]);
    this.capabilities = settings.capabilities ?? {};
    this.authMethods = settings.authMethods ?? [];
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

  async serve(transport, { signal } = {}) {
    await whenLoaded();
    signal?.throwIfAborted();
    await new ClientPeer(this, transport)._run(signal);
  }
}

export class AgentSession {
  data = undefined;
  _turns = new Set();

  constructor(client, id, { cwd = "", additionalDirectories, mcpServers }) {
    this.client = client;
    this.id = id;
    this.cwd = cwd;
    this.roots = [cwd, ...(additionalDirectories ?? [])];
    this.mcpServers = mcpServers ?? [];
  }

  update(update) {
    return this.notify("session/update", { update });
  }

  request(method, params, options) {
    return this.client.request(method, { sessionId: this.id, ...params }, options);
  }

  notify(method, params, options) {
    return this.client.notify(method, { sessionId: this.id, ...params }, options);
  }
}

export class ClientPeer extends Peer {
  sessions = new Map();
  #builtIn = {
    initialize: (params) => this.#initialize(params),
    "session/new": (params, job) => this.#open(params, job, randomId()),
    "session/fork": (params, job) => this.#open(params, job, randomId()),
    "session/load": (params, job) => this.#open(params, job, params.sessionId),
    "session/resume": (params, job) => this.#open(params, job, params.sessionId),
    "session/close": (params, job) => this.#close(params, job),
    "session/prompt": (params, job) => this.#prompt(params, job),
  };

  constructor(agent, transport) {
    super("agent", agent, transport);
  }

  get info() {
    return this.connection.peerInfo.clientInfo ?? {};
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
    }
    signal?.throwIfAborted();
  }

  async _perform(job) {
    const { method, params, session } = job.request;
    const builtIn = Object.hasOwn(this.#builtIn, method) && this.#builtIn[method];
    return builtIn ? builtIn(params, job) : this.#handle(job, this.#subject(session));
  }

  _notified({ method, session, params }) {
    if (method === "session/cancel") this.#cancel(session);
    const handler = this._host.handlers.get(method);
    if (handler) this._call(handler, this.#subject(session), params);
  }

  /** What a handler is about. */
  #subject(session) {
    return this.sessions.get(session) ?? this;
  }

  #handle(job, subject, otherwise = notServed) {
    const handler = this._host.handlers.get(job.request.method);
    if (!handler) {
      const error = otherwise();
      if (error) throw error;
      return undefined;
    }
    return handler(subject, job.request.params, job.how);
  }

  async #initialize(params) {
    const agent = this._host;
    const shown = [...agent.handlers.keys()].map((method) => ADVERTISED[method] ?? {});
    const agentCapabilities = [{ sessionCapabilities: { close: {} } }, ...shown, agent.capabilities].reduce(merged);
    const result = { agentInfo: agent.info, agentCapabilities };
    if (agent.authMethods.length > 0) result.authMethods = agent.authMethods;
    const more = await agent.handlers.get("initialize")?.(this, params);
    return merged(result, more ?? {});
  }

  /** All ways to open a session: they differ in who names it. */
  async #open(params, job, id) {
    const session = new AgentSession(this, id, params);
    this.sessions.set(id, session);
    try {
      const isNew = job.request.method === "session/new";
      const result = { ...(await this.#handle(job, session, isNew ? () => undefined : undefined)) };
      if (id === params.sessionId && !("sessionId" in result)) return result;
      session.id = result.sessionId ??= id;
      this.sessions.delete(id);
      this.sessions.set(session.id, session);
      return result;
    } catch (error) {
      this.sessions.delete(id);
      throw error;
    }
  }

  async #close({ sessionId }, job) {
    const session = this.sessions.get(sessionId);
    if (!session) return {};
    this.#cancel(sessionId);
    await Promise.allSettled([...session._turns]);
    this.sessions.delete(sessionId);
    return this.#handle(job, session, () => undefined);
  }

  async #prompt({ sessionId, prompt }, job) {
    const session = this.sessions.get(sessionId);
    const handler = this._host.handlers.get("session/prompt");
    if (!session || !handler) throw new RequestError(ErrorCode.INTERNAL_ERROR, "This agent takes no prompts");
    const turn = new Turn(session, prompt, job.signal);
    const work = this.#take(handler, turn);
    session._turns.add(work);
    try {
      return await work;
    } finally {
      session._turns.delete(work);
    }
  }

  async #take(handler, turn) {
    let result;
    try {
      result = await handler(turn);
    } catch (error) {
      if (!turn.cancelled) throw error;
      // However a cancelled handler ends, the answer is the same; what is no consequence of that is worth a line.
      if (error?.name !== "AbortError") turn.client._log.failed("the handler of a cancelled prompt failed", error);
    } finally {
      await turn._over();
    }
    const members = typeof result === "string" ? { stopReason: result } : { stopReason: "end_turn", ...result };
    return turn.cancelled ? { ...members, stopReason: "cancelled" } : members;
  }

  /** Cancels what runs in a session, and the prompts that have not begun. */
  #cancel(session) {
    for (const job of this._jobs.values()) {
      const { method, session: about } = job.request;
      if (about === session && method === "session/prompt") job.stop("the turn was cancelled");
    }
  }
}

export { Permission, Terminal, ToolCall, Turn };
export * from "./shared.js";
