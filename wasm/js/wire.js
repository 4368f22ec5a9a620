// A connection on a transport: reading, writing, time, waiting for answers. Nothing here knows a method.
//
// What comes in is delivered at once and in order; delivering stops while the connection says so. Then reading stops too,
// and the peer feels it. What is sent while the transport is busy gathers and goes out together, up to a bound. Beyond it a send
// waits before it is made, so one that is aborted there has not happened. What waits in memory is at most what the
// transport has taken, that bound, and one message for each sender.
import { NoResult, PeerError } from "./errors.js";
import { Inbox } from "./inbox.js";

// What the transport is given at once.
const PIECE = 256 << 10;
// A peer that reads no more is as good as gone, but what it has said is still worth hearing.
const DEAF = 1000;

/** A promise and what settles it. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** What is to be done when a signal of this package's own aborts: listeners would cost more than many a request. */
const stops = new WeakMap();

/** A signal, and what aborts it. */
export function stopper() {
  const controller = new AbortController();
  const { signal } = controller;
  const hooks = new Set();
  stops.set(signal, hooks);
  const abort = (reason) => {
    if (signal.aborted) return;
    controller.abort(reason);
    for (const hook of hooks) hook();
  };
  return { signal, abort };
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
  if (!signal) return nothing;
  const hooks = stops.get(signal);
  const heard = () => stop(signal.reason);
  if (signal.aborted) {
    heard();
    return nothing;
  }
  if (hooks) {
    hooks.add(heard);
    return () => hooks.delete(heard);
  }
  signal.addEventListener("abort", heard, { once: true });
  return () => signal.removeEventListener("abort", heard);
}

const nothing = () => {};

/** The promise, which may reject without anybody listening where `isQuiet` says so then. */
export function quietIf(promise, isQuiet) {
  const told = promise.then(undefined, (error) => {
    if (isQuiet()) told.catch(nothing);
    throw error;
  });
  return told;
}

/** The promise; once the signal has aborted it rejects, if need be with the reason, and nobody has to listen. */
export function quietAfter(promise, signal) {
  const told = promise.then(
    (value) => {
      if (!signal.aborted) return value;
      told.catch(nothing);
      throw signal.reason;
    },
    (error) => {
      if (!signal.aborted) throw error;
      told.catch(nothing);
      // Where the peer is gone, that is why there is no answer.
      throw error instanceof NoResult ? signal.reason : error;
    },
  );
  return told;
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
  #hooks;
  #calls = new Map();
  #dispatching = false;
  #closing = false;
  #writing;
  /** Something was told meanwhile. */
  #told = false;
  /** Bytes that the transport was given, and has taken, so far. */
  #given = 0;
  #taken = 0;
  #deaf = false;
  #ended = false;
  #timer;
  #due;
  #resumed;
  /** Why the transport failed, if it did. */
  problem;

  /**
   * `deliver` takes events; `written` hears that the transport has taken something, and `ended`, once, that nothing comes
   * any more. `whole` says that messages must not be split.
   */
  constructor(connection, transport, hooks) {
    this.connection = connection;
    this.#transport = transport;
    this.#hooks = hooks;
  }

  start() {
    this.#read().catch((problem) => {
      this.problem ??= problem;
      this.#end();
    });
  }

  /**
   * Asks the peer. `sent` hears the serial number, and `settle` sees the answer in its place among the events, and whether
   * somebody still waits for it; with `patient`, an abort waits for the answer nevertheless.
   */
  async request(method, params, { signal, timeout, sent, settle, urgent, patient } = {}) {
    if (!urgent && this.#crowded) await this.#room(signal);
    signal?.throwIfAborted();
    this.#tick();
    const id = this.connection.request(method, params, { timeout });
    const { promise, resolve, reject } = deferred();
    const call = { settle, resolve, reject, isWanted: true };
    this.#calls.set(id, call);
    const serial = sent && this.connection.pendingById(id).serial;
    sent?.(serial);
    this.dispatch();
    const forget = onAbort(signal, (reason) => {
      if (this.#calls.get(id) !== call) return;
      this.#abandon(serial ?? this.connection.pendingById(id)?.serial);
      if (patient) return;
      call.isWanted = false;
      call.reject(reason);
    });
    let response;
    try {
      response = await promise;
    } finally {
      forget();
    }
    // Errors are made here, where their stack shows who waits.
    const { outcome, result, error } = response;
    if (outcome === "result") return result;
    throw outcome === "error" ? new PeerError(method, error) : new NoResult(method, outcome);
  }

  /** Tells the peer something; with `session`, of a session, whose id may not be known before its opening is answered. */
  async notify(method, params, { signal, session } = {}) {
    if (this.#crowded) await this.#room(signal);
    signal?.throwIfAborted();
    this.notifyNow(method, params, session);
  }

  /** Sends a notification without waiting for the transport: for what is small, and rare. */
  notifyNow(method, params, session) {
    if (!session) this.connection.notify(method, params);
    else if (session._opening) this.connection.notifyOpened(session._opening, method, params);
    else this.connection.notify(method, { sessionId: session.id, ...params });
    if (this.#writing) this.#told = true;
    else this.dispatch();
  }

  /** Nobody wants the answer to a call any more. */
  #abandon(serial) {
    if (serial === undefined) return;
    this.#tick();
    this.connection.abandon(serial);
    this.dispatch();
  }

  /** Waits until the transport has taken what has been sent. */
  async drain() {
    const all = this.#given + this.connection.unsent;
    while (this.#writing && this.#taken < all) await this.#writing;
  }

  /** Bytes that the transport has not taken yet. */
  get unwritten() {
    return this.connection.unsent + this.#given - this.#taken;
  }

  get #crowded() {
    return this.#writing !== undefined && !this.connection.hasRoom;
  }

  /** Waits until there is room for one more message. */
  async #room(signal) {
    while (this.#crowded) await unlessAborted(this.#writing, signal);
  }

  /** Delivers the events that there are, as long as there is room for them, and writes what is to be written. */
  dispatch() {
    if (this.#dispatching) return;
    this.#dispatching = true;
    this.#told = false;
    try {
      for (let event; (event = this.connection.pollEvent()); ) {
        if (event.type === "response") this.#settle(event);
        else this.#hooks.deliver(event);
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
    const { readable } = this.#transport;
    if (readable instanceof Inbox) {
      while (await readable.more()) {
        for (let chunk; (chunk = readable.take()) !== undefined; ) if (this.#isFull(chunk)) await this.#hungry();
      }
    } else {
      for await (const chunk of readable) if (this.#isFull(chunk)) await this.#hungry();
    }
    this.#end();
  }

  /** Passes in what has come; whether the connection wants no more for now. */
  #isFull(chunk) {
    // Its last words are of no interest, but must not keep it from ending.
    if (this.connection.phase === "closed") return false;
    this.#tick();
    this.connection.receive(chunk);
    this.dispatch();
    return !this.#closing && this.connection.isPaused;
  }

  async #hungry() {
    while (!this.#closing && this.connection.isPaused) await this.moved();
  }

  /** Waits until something has come, or is due, and more may come. */
  moved() {
    return (this.#resumed ??= deferred()).promise;
  }

  #wake() {
    if (!this.#resumed || (!this.#closing && this.connection.isPaused)) return;
    this.#resumed.resolve();
    this.#resumed = undefined;
  }

  #end() {
    if (!this.#ended) this.#hooks.ended();
    this.#ended = true;
    if (this.connection.phase === "closed") return;
    this.connection.receiveEof();
    this.dispatch();
  }

  #settle(response) {
    const call = this.#calls.get(response.id);
    this.#calls.delete(response.id);
    if (!call) return;
    call.settle?.(response, call.isWanted);
    call.resolve(response);
  }

  #flush() {
    while (!this.#writing) {
      if (this.connection.unsent === 0) return;
      const bytes = this.connection.transmit(this.#hooks.whole ? undefined : PIECE);
      this.connection.consume(bytes.length);
      this.#given += bytes.length;
      if (this.#deaf) {
        this.#taken = this.#given;
        continue;
      }
      let taken;
      try {
        taken = this.#transport.write(bytes);
      } catch (problem) {
        this.#deafen(problem);
      }
      if (!taken) {
        this.#taken = this.#given;
        continue;
      }
      const done = () => {
        this.#taken = this.#given;
        this.#writing = undefined;
        // Answers that were not written may have held up events.
        if (this.#told || this.#resumed) this.dispatch();
        else this.#flush();
        this.#hooks.written();
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

  /** Comes back when the connection wants to hear the time again, or earlier: a timer that is there is not set anew. */
  #schedule() {
    const wanted = this.connection.pollTimeout();
    if (this.#timer && wanted >= this.#due) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (wanted === undefined) return;
    this.#due = wanted;
    const wait = Math.ceil(wanted - performance.now());
    const come = () => {
      this.#timer = undefined;
      this.#tick();
      this.dispatch();
    };
    this.#timer = setTimeout(come, Math.min(Math.max(wait, 0), 0x7fffffff));
  }
}
