// The other side of one connection, whichever it is: what both roles can ask, and how requests of the peer are served.
// Read next: wire.js below it; agent.js and client.js above.
import { Budget } from "./budget.js";
import { ErrorCode } from "./codes.js";
import { Connection } from "./connection.js";
import { NoResult, RequestError } from "./errors.js";
import { isObject } from "./host.js";
import { Job } from "./job.js";
import { Misuse } from "./mistakes.js";
import { Gate } from "./queue.js";
import { traced } from "./trace.js";
import { Wire, deferred, quietIf, unlessAborted, within } from "./wire.js";

// What the client does not take was left out.
const LEFT_OUT = new Set(["AUTH-08", "CONF-08"]);
const MESSAGES = {
  [ErrorCode.METHOD_NOT_FOUND]: "Method not found",
  [ErrorCode.REQUEST_CANCELLED]: "Request cancelled",
};

export const notServed = (method) => {
  const code = ErrorCode.METHOD_NOT_FOUND;
  return new RequestError(code, MESSAGES[code], { method });
};

/** An error as the peer is told of it. */
const told = ({ code = ErrorCode.INTERNAL_ERROR, message = MESSAGES[code] ?? "Internal error", data }) => ({ code, message, data });

/** What a handler has returned, where that can be the result of a request. */
export function resultOf(method, result, more = "") {
  // That of an extension may be anything.
  if (result === undefined || result === null || isObject(result) || method.startsWith("_")) return result;
  const found = Array.isArray(result) ? "a list" : `${typeof result === "object" ? "an" : "a"} ${typeof result}`;
  throw new TypeError(`the handler of ${method} has returned ${found}; expected the result as an object, ${more}or nothing`);
}

export class Peer {
  /** The connection underneath: its state can be looked at. */
  connection;
  _jobs = new Map();
  _ended = deferred();
  /** What the peer has said in `initialize`, in the words of version 1. */
  greeting = undefined;
  /** The host has closed the connection, or is about to. */
  _closing = false;
  #role;
  #closed = deferred();
  #notices = [];
  #noticing;
  #budget = new Budget(() => this._wire.unwritten);
  #gate;

  constructor(role, host, transport) {
    if (typeof transport?.write !== "function" || !transport.readable) {
      throw new TypeError("transport: expected what webSocket, streams, messagePort or childProcess make");
    }
    const { framing = host.options.framing } = transport;
    this.#role = role === "agent" ? "client" : "agent";
    this._host = host;
    this._log = host.log;
    this.#gate = new Gate(host.maxRequests);
    this.connection = new Connection({ ...host.options, role, framing, handlers: host.methods() });
    this.connection.pace();
    this._wire = new Wire(this.connection, traced(transport, host.trace), {
      deliver: (event) => this.#deliver(event),
      written: () => this.#budget.go(),
      ended: () => this._gone(),
      whole: framing === "messages",
    });
  }

  get version() {
    return this.connection.version;
  }

  get info() {
    return this.greeting?.[`${this.#role}Info`] ?? {};
  }

  get capabilities() {
    return this.greeting?.[`${this.#role}Capabilities`] ?? {};
  }

  /** Whether something can still be said. */
  get open() {
    return !this._closing && this.connection.phase !== "closed";
  }

  get closed() {
    return this.#closed.promise;
  }

  extension(name) {
    return this.connection.peerExtension(name);
  }

  can(method) {
    return this.connection.can(method);
  }

  whyNot(method) {
    return this.connection.whyNot(method);
  }

  request(method, params = {}, { signal, timeout } = {}) {
    return this._ask(method, params, { signal, timeout });
  }

  notify(method, params = {}, { signal } = {}) {
    return this._quietly(this._notify(method, params, { signal }));
  }

  /** Whoever tells something of a connection that is over need not listen to hear that. */
  _quietly(told) {
    return quietIf(told, () => !this.open);
  }

  // What the roles add: `_perform(job)` does what a request asks for, `_notified(notification)` takes what is told.

  _ask(method, params, how) {
    return this.open ? this._wire.request(method, params, how) : this.#over(method);
  }

  _notify(method, params, how) {
    return this.open ? this._wire.notify(method, params, how) : this.#over(method);
  }

  /** What comes after the end ends as what was open then. */
  #over(method) {
    const error = new NoResult(method, "closed");
    if (this._wire.problem) error.cause = this._wire.problem;
    return Promise.reject(error);
  }

  #deliver(event) {
    switch (event.type) {
      case "request":
        this.#serve(event);
        break;
      case "notification":
        this._notified(event);
        break;
      case "cancel":
        this._jobs.get(event.serial)?.stop("the peer no longer wants an answer");
        break;
      case "answered": {
        // The connection has answered by itself, as the rule says.
        const job = this._jobs.get(event.serial);
        if (!job) break;
        job.answered = true;
        job.stop("the turn was cancelled");
        break;
      }
      case "late_response":
        this._late(event);
        // The connection gives back what it has opened.
        if (this._host.onLateResponse) this._call("onLateResponse", this._host.onLateResponse, event);
        break;
      case "advice":
        this._log.write(LEFT_OUT.has(event.rule) ? "warn" : "debug", event.rule, `advice: ${event.rule}: ${event.method}${event.pointer}: ${event.message}`);
        if (this._host.onAdvice) this._call("onAdvice", this._host.onAdvice, event);
        break;
      case "violation":
        this.#violated(event);
        break;
      case "closed":
        for (const job of this._jobs.values()) job.stop("the connection is over");
        this._closed();
        this._ended.resolve();
        this.#closed.resolve();
        break;
    }
  }

  /** Nothing more comes from the peer, and nothing reaches it. */
  _gone() {
    this.#budget.end();
  }

  /** An answer has come that nobody waits for any more. */
  _late() {}

  /** The connection is over, and all that came before has been delivered. */
  _closed() {}

  /** The result of a request that was cancelled, where it has one. */
  _cancelled() {
    return undefined;
  }

  #violated(violation) {
    // Not its excerpt: what a peer sends may hold secrets.
    const { rule, severity, method = "message", pointer, message, consequence } = violation;
    this._log.write(severity === "note" ? "debug" : "warn", rule, `${rule}: ${method}${pointer}: ${message} (${consequence})`);
    if (this._host.onViolation) this._call("onViolation", this._host.onViolation, violation);
  }

  /** Calls a handler whose result nobody waits for; one after the other. */
  _call(name, handler, ...args) {
    this.connection.keep(0);
    this.#notices.push({ name, handler, args });
    if (this.#notices.length === 1) this.#noticing = this.#notice();
  }

  async #notice() {
    while (this.#notices.length > 0) {
      const { name, handler, args, begun } = this.#notices[0];
      begun?.resolve();
      if (this.connection.take(0, this.#notices.length === 1)) this._wire.dispatch();
      try {
        const done = handler(...args);
        // What is done already makes nobody wait, so that it happens in its place among the events.
        if (typeof done?.then === "function") await done;
      } catch (error) {
        this._failed(name, error);
      }
      this.#notices.shift();
    }
  }

  /** Waits until all that was told so far has begun to be handled. */
  async _noticed() {
    const last = this.#notices.at(-1);
    if (last && this.#notices.length > 1) await (last.begun ??= deferred()).promise;
  }

  /** A session is over, or its connection. */
  _sessionEnded(session) {
    if (this._host.onSessionEnd) this._call("onSessionEnd", this._host.onSessionEnd, session);
  }

  /** Something of the host's has failed, and nobody is there to catch it. */
  _failed(method, error) {
    const { onError } = this._host;
    if (!onError || method === "onError") {
      this._log.failed(`${method}: its handler has failed`, error);
      return;
    }
    try {
      Promise.resolve(onError(error, { method })).catch((another) => this._failed("onError", another));
    } catch (another) {
      this._failed("onError", another);
    }
  }

  #serve(request) {
    const job = new Job(request, this.#budget);
    this._jobs.set(request.serial, job);
    // What was thrown may throw once more when it is looked at.
    job.done = this.#work(job).catch(() => this.#refuse(job, {}));
  }

  async #work(job) {
    const place = this.#gate.enter();
    try {
      if (place) await unlessAborted(place, job.signal);
      if (job.begun) {
        await job.begun;
        job.signal.throwIfAborted();
      }
      const result = resultOf(job.request.method, await this._perform(job)) ?? {};
      const turn = this.#budget.answer();
      if (turn) await turn;
      this.#answer(job, result);
    } catch (error) {
      if (error instanceof RequestError) {
        this.#refuse(job, error);
      } else if (job.signal.aborted && error?.name === "AbortError") {
        const result = this._cancelled(job);
        if (result) this.#answer(job, result);
        else this.#refuse(job, { code: ErrorCode.REQUEST_CANCELLED });
      } else {
        this._failed(job.request.method, error);
        this.#refuse(job, this._internal(error));
      }
    } finally {
      // Who has given up waiting gives the place on when it comes.
      if (place) place.then(() => this.#gate.leave());
      else this.#gate.leave();
      // Its places are kept until the answer has gone out.
      await this._wire.drain();
      this._jobs.delete(job.request.serial);
      this.#budget.release(job.request);
      if (this.connection.served(job.request)) this._wire.dispatch();
    }
  }

  #answer(job, result) {
    if (job.answered) return;
    try {
      this.connection.respond(job.request, result);
    } catch (error) {
      if (this.connection.phase === "closed") return;
      this._failed(job.request.method, error);
      this.#refuse(job, this._internal(error));
      return;
    }
    job.answered = true;
    job.whenTaken?.();
    this._wire.dispatch();
  }

  /** What the peer is told of an error that no handler has meant for it. */
  _internal(error) {
    if (error instanceof Misuse) return { data: { rule: error.rule } };
    return this._host.exposeErrors ? { data: { details: String(error?.message ?? error) } } : {};
  }

  #refuse(job, error) {
    if (job.answered) return;
    job.answered = true;
    this._tell(job.request.method, error, (error) => this.connection.respondError(job.request, error));
  }

  /** Tells the peer of an error. */
  _tell(method, error, tell) {
    try {
      tell(told(error));
    } catch (problem) {
      if (this.connection.phase === "closed") return;
      this._failed(method, problem);
      // It was no code, or no JSON.
      tell(told({}));
    }
    this._wire.dispatch();
  }

  /** Closes the connection, and gives the handlers that still run some time to end. */
  async _finish(grace) {
    this._closing = true;
    const running = [...this._jobs.values()];
    for (const job of running) job.stop("the connection is over");
    this.#budget.end();
    const all = Promise.allSettled([...running.map(({ done }) => done), this.#noticing]);
    if (!(await within(all, grace))) this._log.write("warn", "end", "a handler does not end, and is given up");
    await this._wire.close(grace);
  }
}
