// The other side of one connection, whichever it is: what both roles can ask, and how requests of the peer are served.
// Read next: wire.js below it; agent.js and client.js above.
import { Budget } from "./budget.js";
import { ErrorCode } from "./codes.js";
import { Connection } from "./connection.js";
import { RequestError } from "./errors.js";
import { Log } from "./log.js";
import { Wire, deferred, stopper, within } from "./wire.js";

// Notifications that wait for their handler, before reading stops.
const NOTICES = 256;
// Characters of requests to write files that are being served, before reading stops.
const WRITES = 16 << 20;
const MESSAGES = {
  [ErrorCode.METHOD_NOT_FOUND]: "Method not found",
  [ErrorCode.REQUEST_CANCELLED]: "Request cancelled",
};

export const notServed = () => new RequestError(ErrorCode.METHOD_NOT_FOUND, MESSAGES[ErrorCode.METHOD_NOT_FOUND]);

/** What a handler is told beside its params: a signal, which is made where somebody asks for it; room for its answer. */
class How {
  #job;

  constructor(job) {
    this.#job = job;
    Object.defineProperty(this, "signal", How.#signal);
  }

  reserve(bytes) {
    return this.#job.budget.reserve(this.#job.share, bytes);
  }

  static #signal = {
    enumerable: true,
    get() {
      return this.#job.signal;
    },
  };
}

/** A request of the peer's that is being served. */
class Job {
  #stopper;
  answered = false;

  constructor(request, size, budget) {
    this.request = request;
    this.size = request.method === "fs/write_text_file" ? size : 0;
    this.budget = budget;
    this.share = budget.share(request.method);
  }

  get how() {
    return new How(this);
  }

  get signal() {
    this.#stopper ??= stopper();
    return this.#stopper.signal;
  }

  stop(why) {
    this.#stopper ??= stopper();
    this.#stopper.abort(new DOMException(why, "AbortError"));
  }
}

export class Peer {
  /** The connection underneath: its state can be looked at. */
  connection;
  _jobs = new Map();
  _ended = deferred();
  _log = new Log();
  #notices = [];
  #noticing;
  #budget = new Budget(() => this._wire.unwritten);
  #writes = 0;

  constructor(role, host, transport) {
    if (typeof transport?.write !== "function" || !transport.readable) {
      throw new TypeError("transport: expected what webSocket, streams, messagePort or childProcess make");
    }
    const { framing = host.options.framing } = transport;
    this._host = host;
    this.connection = new Connection({ ...host.options, role, framing });
    this._wire = new Wire(this.connection, transport, {
      deliver: (event, size) => this.#deliver(event, size),
      full: () => this._full(),
      written: () => this.#budget.go(),
      ended: () => this._gone(),
      whole: framing === "messages",
    });
  }

  get capabilities() {
    return this.connection.capabilities;
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
    return this._wire.notify(method, params, { signal });
  }

  // What the roles add: `_perform(job)` does what a request asks for, `_notified(notification, size)` takes what is told.

  _ask(method, params, how) {
    return this._wire.request(method, params, how);
  }

  /** Whether nothing more is to be delivered for now. */
  _full() {
    return this.#notices.length >= NOTICES || this.#writes > WRITES;
  }

  #deliver(event, size) {
    switch (event.type) {
      case "request":
        this.#serve(event, size);
        break;
      case "notification":
        this._notified(event, size);
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
        this.#late(event);
        break;
      case "advice":
        this._log.write("debug", event.rule, `advice: ${event.rule}: ${event.method}${event.pointer}: ${event.message}`);
        break;
      case "violation":
        this.#violated(event);
        break;
      case "closed":
        for (const job of this._jobs.values()) job.stop("the connection is over");
        this._ended.resolve();
        break;
    }
  }

  /** Nothing more comes from the peer, and nothing reaches it. */
  _gone() {
    this.#budget.end();
  }

  /** Nobody waits for this answer any more: gives back what it has opened. */
  #late(response) {
    const { method, session: sessionId, outcome, result } = response;
    if (outcome === "result" && method === "terminal/create") {
      this.#giveBack("terminal/release", { sessionId, terminalId: result.terminalId });
    } else if (outcome === "result" && (method === "session/new" || method === "session/fork") && !this._knows(result.sessionId)) {
      this.#giveBack("session/close", { sessionId: result.sessionId });
    }
    if (this._host.onLateResponse) this._call(this._host.onLateResponse, response);
  }

  /** Whether a session is open here, whatever a late answer says. */
  _knows() {
    return false;
  }

  #giveBack(method, params) {
    try {
      this.connection.request(method, params);
    } catch (misuse) {
      // The agent cannot close sessions, or the session or the connection is over.
      this._log.write("debug", method, `${method} after a late answer: ${misuse.message}`);
    }
  }

  #violated(violation) {
    // Not its excerpt: what a peer sends may hold secrets.
    const { rule, severity, method = "message", pointer, message, consequence } = violation;
    this._log.write(severity === "note" ? "debug" : "warn", rule, `${rule}: ${method}${pointer}: ${message} (${consequence})`);
    if (this._host.onViolation) this._call(this._host.onViolation, violation);
  }

  /** Calls a handler whose result nobody waits for; one after the other. */
  _call(handler, ...args) {
    this.#notices.push([handler, args]);
    if (this.#notices.length === 1) this.#noticing = this.#notice();
  }

  async #notice() {
    while (this.#notices.length > 0) {
      const [handler, args] = this.#notices[0];
      try {
        const done = handler(...args);
        // What is done already makes nobody wait, so that it happens in its place among the events.
        if (typeof done?.then === "function") await done;
      } catch (error) {
        this._log.failed("a hook or a handler of notifications failed", error);
      }
      this.#notices.shift();
      if (this.#notices.length === NOTICES - 1) this._wire.dispatch();
    }
  }

  #serve(request, size) {
    const job = new Job(request, size, this.#budget);
    this._jobs.set(request.serial, job);
    this.#writes += job.size;
    // What was thrown may throw once more when it is looked at.
    job.done = this.#work(job).catch(() => this.#refuse(job, {}));
  }

  async #work(job) {
    try {
      if (job.share.begun) {
        await job.share.begun;
        job.signal.throwIfAborted();
      }
      const result = (await this._perform(job)) ?? {};
      const turn = this.#budget.answer();
      if (turn) await turn;
      this.#answer(job, result);
    } catch (error) {
      if (error instanceof RequestError) {
        this.#refuse(job, error);
      } else if (job.signal.aborted && error?.name === "AbortError") {
        this.#refuse(job, { code: ErrorCode.REQUEST_CANCELLED });
      } else {
        this._log.failed(`the handler of ${job.request.method} failed`, error);
        this.#refuse(job, {});
      }
    } finally {
      this.#budget.release(job.share);
      const full = this._full();
      this.#writes -= job.size;
      if (full && !this._full()) this._wire.dispatch();
      // The place among the jobs is kept until the answer has gone out.
      await this._wire.drain();
      this._jobs.delete(job.request.serial);
    }
  }

  #answer(job, result) {
    if (job.answered) return;
    try {
      this.connection.respond(job.request, result);
    } catch (error) {
      if (this.connection.phase === "closed") return;
      this._log.failed(`the result of the handler of ${job.request.method} cannot be sent`, error);
      this.#refuse(job, {});
      return;
    }
    job.answered = true;
    this._wire.dispatch();
  }

  #refuse(job, { code = ErrorCode.INTERNAL_ERROR, message = MESSAGES[code] ?? "Internal error", data }) {
    if (job.answered) return;
    job.answered = true;
    try {
      this.connection.respondError(job.request, { code, message, data });
    } catch (error) {
      if (this.connection.phase === "closed") return;
      this._log.failed(`the error of the handler of ${job.request.method} cannot be sent`, error);
      // It was no code, or no JSON.
      const internal = { code: ErrorCode.INTERNAL_ERROR, message: "Internal error" };
      this.connection.respondError(job.request, internal);
    }
    this._wire.dispatch();
  }

  /** Closes the connection, and gives the handlers that still run some time to end. */
  async _finish(grace) {
    const running = [...this._jobs.values()];
    for (const job of running) job.stop("the connection is over");
    this.#budget.end();
    const all = Promise.allSettled([...running.map(({ done }) => done), this.#noticing]);
    if (!(await within(all, grace))) console.warn("libacp: a handler does not end, and is given up");
    await this._wire.close(grace);
  }
}
