// A connection on a transport: reading, writing, time, waiting for answers. Nothing here knows a method.
//
// What comes in is delivered at once and in order; delivering stops while `full` says so. Then reading stops too, and the
// peer feels it. A send waits for the transport before it is made, so one that is aborted has not happened, and what
// waits in memory is at most what the transport has taken and one message for each sender.
import { NoResult, PeerError } from "./errors.js";

// What the connection sends by itself waits for nobody; beyond so many bytes, reading waits for it.
const UNSENT = 1 << 20;
// A peer that reads no more is as good as gone, but what it has said is still worth hearing.
const DEAF = 1000;

/** A promise and what settles it. */
export function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Whether a promise settles within so many milliseconds. */
export async function within(promise, milliseconds) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, milliseconds, false)));
  try {
    return await Promise.race([Promise.resolve(promise).then(() => true, () => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `stop` with the reason when a signal aborts; what it returns takes that back. */
export function onAbort(signal, stop) {
  if (!signal) return () => {};
  const heard = () => stop(signal.reason);
  if (signal.aborted) heard();
  else signal.addEventListener("abort", heard, { once: true });
  return () => signal.removeEventListener("abort", heard);
}

/** The promise, or the reason of the signal if that comes first. */
export async function unlessAborted(promise, signal) {
  if (!signal) return promise;
  signal.throwIfAborted();
  const stopped = deferred();
  const forget = onAbort(signal, stopped.reject);
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    forget();
  }
}

export class Wire {
  #transport;
  #deliver;
  #full;
  #calls = new Map();
  #dispatching = false;
  #closing = false;
  #writing;
  #deaf = false;
  #timer;
  #resumed;
  /** Why the transport failed, if it did. */
  problem;

  constructor(connection, transport, deliver, full) {
    this.connection = connection;
    this.#transport = transport;
    this.#deliver = deliver;
    this.#full = full;
  }

  start() {
    this.#read().catch((problem) => {
      this.problem ??= problem;
      this.#end();
    });
  }

  /**
   * Asks the peer. `settle` sees the answer in its place among the events; `cancel` takes the place of asking the peer to
   * cancel the request; with `patient`, an abort waits for the answer nevertheless.
   */
  async request(method, params, { signal, timeout, settle, cancel, urgent, patient } = {}) {
    if (!urgent) await this.drain(signal);
    signal?.throwIfAborted();
    this.#tick();
    const id = this.connection.request(method, params, { timeout });
    const call = { ...deferred(), method, settle };
    this.#calls.set(id, call);
    this.dispatch();
    const forget = onAbort(signal, (reason) => {
      if (this.#calls.get(id) !== call) return;
      if (cancel) cancel(id);
      else this.cancel(id);
      if (!patient) call.reject(reason);
    });
    try {
      return await call.promise;
    } finally {
      forget();
    }
  }

  async notify(method, params, { signal } = {}) {
    await this.drain(signal);
    signal?.throwIfAborted();
    this.notifyNow(method, params);
  }

  /** Sends a notification without waiting for the transport: for what is small, and rare. */
  notifyNow(method, params) {
    this.connection.notify(method, params);
    this.dispatch();
  }

  /** Asks the peer to cancel a request; no mistake when the connection is over. */
  cancel(id) {
    if (this.connection.phase === "closed") return;
    this.connection.cancel(id);
    this.dispatch();
  }

  /** Waits until the transport has taken what was sent. */
  async drain(signal) {
    while (this.#writing) await unlessAborted(this.#writing, signal);
  }

  /** Delivers the events that there are, as long as there is room for them, and writes what is to be written. */
  dispatch() {
    if (this.#dispatching) return;
    this.#dispatching = true;
    this.#tick();
    try {
      while (this.#closing || !this.#full()) {
        const event = this.connection.pollEvent();
        if (!event) break;
        if (event.type === "response") this.#settle(event);
        else this.#deliver(event, event.paramsText?.length ?? 0);
      }
    } finally {
      this.#dispatching = false;
    }
    this.#flush();
    this.#wake();
    this.#schedule();
  }

  /** Ends the connection, and gives what waits so many milliseconds to go out. */
  async close(grace) {
    this.#closing = true;
    this.connection.close();
    this.dispatch();
    await within(this.drain(), grace);
    this.#deafen();
    await within(this.#close(), grace);
  }

  async #close() {
    await this.#transport.close();
  }

  async #read() {
    for await (const chunk of this.#transport.readable) {
      // Its last words are of no interest, but must not keep it from ending.
      if (this.connection.phase === "closed") continue;
      this.connection.receive(chunk);
      this.dispatch();
      while (!this.#closing && this.#stalled) await (this.#resumed = deferred()).promise;
    }
    this.#end();
  }

  get #stalled() {
    return this.#full() || this.connection.unsent > UNSENT;
  }

  #wake() {
    if (!this.#resumed || (!this.#closing && this.#stalled)) return;
    this.#resumed.resolve();
    this.#resumed = undefined;
  }

  #end() {
    if (this.connection.phase === "closed") return;
    this.connection.receiveEof();
    this.dispatch();
  }

  #settle(response) {
    const call = this.#calls.get(response.id);
    this.#calls.delete(response.id);
    if (!call) return;
    call.settle?.(response);
    if (response.outcome === "result") call.resolve(response.result);
    else if (response.outcome === "error") call.reject(new PeerError(call.method, response.error));
    else call.reject(new NoResult(call.method, response.outcome));
  }

  #flush() {
    while (!this.#writing) {
      const bytes = this.connection.transmit();
      if (bytes.length === 0) return;
      this.connection.consume(bytes.length);
      if (this.#deaf) continue;
      let taken;
      try {
        taken = this.#transport.write(bytes);
      } catch (problem) {
        this.#deafen(problem);
      }
      if (!taken) continue;
      const done = () => {
        this.#writing = undefined;
        this.#flush();
        this.#wake();
      };
      this.#writing = taken.then(done, (problem) => {
        this.#deafen(problem);
        done();
      });
    }
  }

  /** Nothing can be written any more. */
  #deafen(problem) {
    if (this.#deaf) return;
    this.#deaf = true;
    this.problem ??= problem;
    if (!this.#closing) setTimeout(() => this.#end(), DEAF);
  }

  /** Tells the connection the time; requests whose time is up become events. */
  #tick() {
    this.connection.handleTimeout(Math.floor(performance.now()));
  }

  /** Comes back when the connection wants to hear the time again. */
  #schedule() {
    clearTimeout(this.#timer);
    const wanted = this.connection.pollTimeout();
    if (wanted === undefined) return;
    const wait = Math.ceil(wanted - performance.now());
    this.#timer = setTimeout(() => this.dispatch(), Math.min(Math.max(wait, 0), 0x7fffffff));
  }
}
