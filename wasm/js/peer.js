// The other side of one connection, whichever it is: what both roles can ask, and how requests of the peer are served.
// Read next: wire.js below it; agent.js and client.js above.
import { ErrorCode } from "./codes.js";
import { Connection } from "./connection.js";
import { RequestError } from "./errors.js";
import { Wire, deferred, stopper, within } from "./wire.js";

// Notifications that wait for their handler, before reading stops.
const NOTICES = 256;
const MESSAGES = {
  [ErrorCode.METHOD_NOT_FOUND]: "Method not found",
  [ErrorCode.REQUEST_CANCELLED]: "Request cancelled",
};

export const notServed = () => new RequestError(ErrorCode.METHOD_NOT_FOUND, MESSAGES[ErrorCode.METHOD_NOT_FOUND]);

/** Says what a handler has thrown. Not everything that can be thrown can be printed. */
function report(what, error) {
  try {
    console.error(`libacp: ${what}:`, error);
  } catch {
    console.error(`libacp: ${what}`);
  }
}

/** What a handler is told beside its params: a signal, which is made where somebody asks for it. */
class How {
  #job;

  constructor(job) {
    this.#job = job;
    Object.defineProperty(this, "signal", How.#signal);
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

  constructor(request) {
    this.request = request;
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
  #notices = [];
  #noticing;

  constructor(role, host, transport) {
    if (typeof transport?.write !== "function" || !transport.readable) {
      throw new TypeError("transport: expected what webSocket, streams, messagePort or childProcess make");
    }
    const { framing = host.options.framing } = transport;
    this._host = host;
    this.connection = new Connection({ ...host.options, role, framing });
    this._wire = new Wire(this.connection, transport, (event, size) => this.#deliver(event, size), () => this._full());
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
    return this.#notices.length >= NOTICES;
  }

  #deliver(event, size) {
    switch (event.type) {
      case "request":
        this.#serve(event);
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
        console.debug(`libacp: advice: ${event.rule}: ${event.method}${event.pointer}: ${event.message}`);
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

  /** Nobody waits for this answer any more: gives back what it has opened. */
  #late(response) {
    const { method, session: sessionId, outcome, result } = response;
    if (outcome === "result" && method === "terminal/create") {
      this.#giveBack("terminal/release", { sessionId, terminalId: result.terminalId });
    } else if (outcome === "result" && (method === "session/new" || method === "session/fork")) {
      this.#giveBack("session/close", { sessionId: result.sessionId });
    }
    if (this._host.onLateResponse) this._call(this._host.onLateResponse, response);
  }

  #giveBack(method, params) {
    try {
      this.connection.request(method, params);
    } catch (misuse) {
      // The agent cannot close sessions, or the session or the connection is over.
      console.debug(`libacp: ${method} after a late answer:`, misuse.message);
    }
  }

  #violated(violation) {
    // Not its excerpt: what a peer sends may hold secrets.
    const { rule, severity, method = "message", pointer, message, consequence } = violation;
    console[severity === "note" ? "debug" : "warn"](`libacp: ${rule}: ${method}${pointer}: ${message} (${consequence})`);
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
        report("a hook or a handler of notifications failed", error);
      }
      this.#notices.shift();
      if (this.#notices.length === NOTICES - 1) this._wire.dispatch();
    }
  }

  #serve(request) {
    const job = new Job(request);
    this._jobs.set(request.serial, job);
    // What was thrown may throw once more when it is looked at.
    job.done = this.#work(job).catch(() => this.#refuse(job, {}));
  }

  async #work(job) {
    try {
      this.#answer(job, (await this._perform(job)) ?? {});
    } catch (error) {
      if (error instanceof RequestError) {
        this.#refuse(job, error);
      } else if (job.signal.aborted && error?.name === "AbortError") {
        this.#refuse(job, { code: ErrorCode.REQUEST_CANCELLED });
      } else {
        report(`the handler of ${job.request.method} failed`, error);
        this.#refuse(job, {});
      }
    } finally {
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
      report(`the result of the handler of ${job.request.method} cannot be sent`, error);
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
      report(`the error of the handler of ${job.request.method} cannot be sent`, error);
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
    const all = Promise.allSettled([...running.map(({ done }) => done), this.#noticing]);
    if (!(await within(all, grace))) console.warn("libacp: a handler does not end, and is given up");
    await this._wire.close(grace);
  }
}
