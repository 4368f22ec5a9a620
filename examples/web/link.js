// The connection to an agent: a libacp Connection whose messages travel by WebSocket. Events go to the handlers, answers
// to the promises of their requests.

import { Connection, init } from "./lib/libacp/browser.js";

/** An error answer, or no answer at all. */
export class CallError extends Error {
  constructor(message, code) {
    super(message);
    this.name = "CallError";
    this.code = code;
  }
}

export class Link {
  #socket;
  #calls = new Map();
  #timer;
  #began = performance.now();

  /** `handlers` has functions by type of event, and `end(reason)`. */
  constructor(handlers) {
    this.handlers = handlers;
  }

  /** Connects; resolves once messages can be sent. */
  async open(address) {
    await init();
    this.connection = new Connection({ role: "client", framing: "messages" });
    this.#socket = new WebSocket(address);
    const opened = Promise.withResolvers ? Promise.withResolvers() : withResolvers();
    this.#socket.onopen = opened.resolve;
    this.#socket.onmessage = ({ data }) => {
      this.connection.receive(data);
      this.#pump();
    };
    this.#socket.onclose = ({ reason }) => {
      opened.reject(new CallError(reason || "no connection"));
      this.connection.receiveEof();
      this.#pump();
      clearTimeout(this.#timer);
      this.handlers.end(reason || "the connection was lost");
    };
    await opened.promise;
  }

  /** Asks the agent, and gives its result. */
  request(method, params) {
    return new Promise((resolve, reject) => {
      // A misuse rejects, too: the promise's function has thrown it.
      this.#calls.set(this.connection.request(method, params), { resolve, reject });
      this.#pump();
    });
  }

  notify(method, params) {
    this.connection.notify(method, params);
    this.#pump();
  }

  respond(request, result) {
    this.connection.respond(request, result);
    this.#pump();
  }

  refuse(request, error) {
    this.connection.respondError(request, error);
    this.#pump();
  }

  close() {
    this.#socket.close();
  }

  #pump() {
    for (const event of this.connection.events()) {
      if (event.type === "response") this.#answered(event);
      else this.handlers[event.type]?.(event);
    }
    // One message at a time is what this framing gives.
    for (let bytes; (bytes = this.connection.transmit()).length > 0; this.connection.consume(bytes.length)) {
      if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(new TextDecoder().decode(bytes));
    }
    clearTimeout(this.#timer);
    const due = this.connection.pollTimeout();
    if (due !== undefined) this.#timer = setTimeout(() => this.#tick(), due - this.#now());
  }

  #now() {
    return Math.ceil(performance.now() - this.#began);
  }

  #tick() {
    this.connection.handleTimeout(this.#now());
    this.#pump();
  }

  #answered(event) {
    const call = this.#calls.get(event.id);
    this.#calls.delete(event.id);
    if (event.outcome === "result") call.resolve(event.result);
    else if (event.outcome === "error") call.reject(new CallError(event.error.message, event.error.code));
    else call.reject(new CallError(`no answer: ${event.outcome}`));
  }
}

function withResolvers() {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}
