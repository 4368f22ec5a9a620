// An agent: handlers for what clients ask, and a place to serve them. Read next: turn.js, peer.js.
import { whenLoaded } from "./connection.js";
import { Plan } from "./display.js";
import { NoResult, RequestError } from "./errors.js";
import { Host, isObject, merged, metaOf, mustHandle, randomId } from "./host.js";
import { Task } from "./job.js";
import { Peer, notServed, resultOf } from "./peer.js";
import { DisplayTerminal, Permission, Terminal, ToolCall, Turn, Work } from "./turn.js";
import { onAbort, stopper } from "./wire.js";

// How long handlers may take to end when the client is gone.
const GRACE = 5000;
// Requests that end with the turn that they are asked in.
const QUESTIONS = new Set(["session/request_permission", "elicitation/create"]);

export class Agent extends Host {
  constructor(name, version = "0", settings = {}) {
    super("agent", name, version, settings, ["authMethods", "mergeChunks"]);
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

  onCancelTool(handler) {
    return this.on("tool_call/cancel", handler);
  }

  onCancelTerminal(handler) {
    return this.on("terminal/cancel", handler);
  }

  async serve(transport, { signal } = {}) {
    await whenLoaded();
    const offered = this.offered();
    signal?.throwIfAborted();
    await new ClientPeer(this, transport, offered)._run(signal);
  }
}

export class AgentSession {
  data = undefined;
  /** Its prompts that are being served, and the agent's own work. */
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

  work(run) {
    return this.client._work(this, run);
  }

  async background(what) {
    const isOwn = what instanceof ToolCall || what instanceof DisplayTerminal;
    this.client.connection.background(this.id, isOwn ? what._item : what);
    if (isOwn) what._detach();
    this.client._wire.dispatch();
  }

  plan(id) {
    return new Plan(this, id);
  }

  async request(method, params, { signal, timeout } = {}) {
    const all = { sessionId: this.id, ...params };
    if (!QUESTIONS.has(method)) return this.client.request(method, all, { signal, timeout });
    const { signal: stop, abort } = stopper();
    const forget = [signal, ...[...this._turns].map((turn) => turn.signal)].map((each) => onAbort(each, abort));
    try {
      return await this.client.request(method, all, { signal: stop, timeout });
    } catch (error) {
      // Where the client is gone, that is why there is no answer.
      throw stop.aborted && error instanceof NoResult ? stop.reason : error;
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
  /** The agent's capabilities. */
  #offered;
  #builtIn = {
    initialize: (params, job) => this.#initialize(params, job),
    "session/new": (params, job) => this.#open(params, job, randomId()),
    "session/fork": (params, job) => this.#open(params, job, randomId()),
    "session/load": (params, job) => this.#open(params, job, params.sessionId),
    "session/resume": (params, job) => this.#open(params, job, params.sessionId),
    "session/close": (params, job) => this.#close(params, job),
    "session/prompt": (params, job) => this.#prompt(params, job),
  };

  constructor(agent, transport, offered) {
    super("agent", agent, transport);
    this.connection.mergeChunks(agent.mergeChunks);
    this.#offered = offered;
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
    const made = { agentInfo: agent.info, agentCapabilities: this.#offered };
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
    // What the handler asks in its first step ends with the turn as well.
    session._turns.add(turn);
    turn._work = this.#take(handler, turn, "session/prompt");
    try {
      // The handler has made its first step: unless it holds the prompt, that is a message now.
      if (this.connection.phase !== "closed") this.connection.stepped(job.request.serial);
      this._wire.dispatch();
      return await turn._work;
    } finally {
      session._turns.delete(turn);
    }
  }

  /** Work that the agent begins by itself; how it has ended. */
  async _work(session, run) {
    mustHandle("work", run);
    const serial = this.connection.beginWork(session.id);
    const task = new Task();
    this._jobs.set(serial, task);
    const work = new Work(session, task.signal);
    session._turns.add(work);
    this._wire.dispatch();
    work._work = task.done = this.#workOn(serial, run, work);
    try {
      return await task.done;
    } finally {
      this._jobs.delete(serial);
      session._turns.delete(work);
    }
  }

  async #workOn(serial, run, work) {
    try {
      const result = await this.#take(run, work, "work");
      if (this.connection.phase !== "closed") this.connection.endWork(serial, result);
      // Whoever has begun the work goes on before the prompts that have waited for its end.
      setTimeout(() => this._wire.dispatch());
      return result;
    } catch (error) {
      const said = error instanceof RequestError ? error : this._internal(error);
      this._tell("work", said, (told) => this.connection.failWork(serial, told));
      throw error;
    }
  }

  async #take(handler, turn, method) {
    let result;
    try {
      result = await handler(turn);
    } catch (error) {
      if (!turn.cancelled) throw error;
      // However a cancelled handler ends, the answer is the same; what is no consequence of that is worth a word.
      if (error?.name !== "AbortError" && !(error instanceof RequestError)) this._failed(method, error);
    } finally {
      await turn._over();
    }
    if (turn.cancelled) return { ...(isObject(result) ? result : {}), stopReason: "cancelled" };
    if (typeof result === "string") return { stopReason: result };
    return { stopReason: "end_turn", ...resultOf(method, result, "a stop reason as text, ") };
  }
}

export { DisplayTerminal, Permission, Plan, Terminal, ToolCall, Turn, Work };
export * from "./shared.js";
