// One scenario while it is played: its streams, its peer's end of the transport, what handlers do. The roles are in
// agent.mjs and client.mjs.
import assert from "node:assert/strict";
import { Labels, Stream, filled, later, match, show } from "./stream.mjs";

const decoder = new TextDecoder();

/** What the end of a call is, in the words of the format. */
export function described(error, { PeerError, NoResult, Misuse }) {
  // Work that an agent has begun by itself is no call.
  if (error?.kind === "failed") return { kind: "failed" };
  if (error?.name === "AbortError") return { kind: "dropped" };
  if (error instanceof Misuse) return { kind: "misuse", rule: error.rule };
  if (error instanceof NoResult) return { kind: error.outcome };
  if (error instanceof PeerError) {
    const { code, message, data } = error.error;
    return { kind: "peer", code, message, ...(data === undefined ? {} : { data }) };
  }
  throw error;
}

/** What the peer says of itself in `initialize`, which the runner plays in the newest version that the host speaks. */
export function greeting({ host = {}, peer = {} }, role) {
  const version = Math.max(...(host.versions ?? [1]));
  const capabilities = role === "agent" ? { session: {} } : {};
  if (version > 1) return { protocolVersion: version, info: { name: "peer", version: "1" }, capabilities, ...peer };
  return { protocolVersion: 1, [`${role}Capabilities`]: {}, ...peer };
}

export class Scene {
  names = new Map();
  labels = new Labels();
  frames = new Stream("frame");
  events = new Stream("event");
  calls = new Map();
  #coming = [];
  #more = later();
  #over = false;
  #failed = later();

  constructor(scenario, side) {
    this.scenario = scenario;
    this.side = side;
    this.#failed.promise.catch(() => {});
  }

  /** The host's end. */
  transport() {
    return {
      framing: "messages",
      readable: this.#readable(),
      write: (bytes) => this.frames.push(JSON.parse(decoder.decode(bytes))),
      close: () => this.end(),
    };
  }

  async *#readable() {
    for (;;) {
      while (this.#coming.length > 0) yield this.#coming.shift();
      if (this.#over) return;
      await this.#more.promise;
      this.#more = later();
    }
  }

  send(frame) {
    this.#coming.push(JSON.stringify({ jsonrpc: "2.0", ...frame }));
    this.#more.resolve();
  }

  end() {
    this.#over = true;
    this.#more.resolve();
  }

  /** The peer is gone, and the host has heard of it. */
  async #end() {
    this.end();
    while (this.peer && this.peer.connection.phase !== "closed") await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Something went wrong that no step waits for. */
  fail(error) {
    this.#failed.reject(error);
  }

  async #next(stream, wanted, where) {
    const found = await Promise.race([stream.next(wanted), this.#failed.promise]);
    if (stream === this.frames) delete found.jsonrpc;
    const actual = { ...found };
    // What is not stated is not compared.
    for (const name of ["params", "meta"]) if (stream === this.events && !(name in wanted)) delete actual[name];
    for (const name of ["message", "data"]) {
      if (actual.error?.kind === "peer" && !(name in (wanted.error ?? {}))) {
        actual.error = { ...actual.error };
        delete actual.error[name];
      }
    }
    if (actual.hook && !("is" in wanted)) delete actual.is;
    match(wanted, actual, this.names, where);
  }

  out(frame, where) {
    return this.#next(this.frames, frame, where);
  }

  see(event, where) {
    return this.#next(this.events, event, where);
  }

  /** A handler that does what the scenario says. */
  handler(method, runs) {
    let count = 0;
    return async (context) => {
      const actions = runs[Math.min(count, runs.length - 1)];
      count += 1;
      const { session, id, params } = context;
      this.peer ??= context.peer;
      this.events.push({
        handler: method,
        ...(session === undefined ? {} : { session: session.id }),
        ...(id === undefined ? {} : { id }),
        params,
      });
      return this.act(actions, { ...context, method });
    };
  }

  async act(actions, context) {
    for (const action of actions) {
      const [[kind, value]] = Object.entries(action);
      if (kind === "return") return filled(value, this.names);
      await this.#do[kind](value, context, action);
    }
    return undefined;
  }

  #do = {
    update: (update, { session }) => session.update(filled(update, this.names)),
    do: (what, context, { with: given = {}, as }) => {
      const { then, ...plain } = given;
      const done = (async () => this.side.does(this, what, { ...filled(plain, this.names), ...(then ? { then } : {}) }, context))();
      return as === undefined ? done : this.told(as, done.then((result) => (result === undefined ? {} : result)));
    },
    request: (method, { session, peer }, { with: params, as }) => {
      const asked = (session ?? peer).request(method, filled(params ?? {}, this.names));
      return as === undefined ? asked : this.told(as, asked);
    },
    notify: (method, { session, peer }, { with: params }) => (session ?? peer).notify(method, filled(params ?? {}, this.names)),
    wait: async (label, { signal, method }) => {
      const stopped = later();
      const stop = () => stopped.reject(signal.reason);
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop);
      try {
        await Promise.race([label === "cancelled" ? new Promise(() => {}) : this.labels.at(label).promise, stopped.promise]);
      } catch (error) {
        this.events.push({ cancelled: method });
        throw error;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    },
    data: (value, { session }) => void (session.data = value),
    see: (_, { session }) => this.events.push({ data: session.data ?? null }),
    fail: ({ code, message, data }) => {
      throw new this.side.RequestError(code, message, data);
    },
    raise: (text) => {
      throw new Error(text);
    },
  };

  /** Tells how a call ends. */
  async told(name, promise) {
    try {
      this.events.push({ done: name, result: await promise });
    } catch (error) {
      try {
        this.events.push({ done: name, error: described(error, this.side) });
      } catch (surprise) {
        this.fail(surprise);
      }
    }
  }

  async play(host) {
    for (const [index, step] of this.scenario.steps.entries()) {
      const [[kind, value]] = Object.entries(step);
      const where = `steps/${index}`;
      const times = step.times ?? 1;
      if (kind === "send") for (let count = 0; count < times; count += 1) this.send(filled(value, this.names));
      else if (kind === "out") await this.out(value, where);
      else if (kind === "see") for (let count = 0; count < times; count += 1) await this.see(value, where);
      else if (kind === "go") this.labels.at(value).resolve();
      else if (kind === "wait") await new Promise((resolve) => setTimeout(resolve, value));
      else if (kind === "eof") await this.#end();
      else await host[kind](value, { ...step, with: filled(step.with ?? {}, this.names), session: filled(step.session, this.names) });
    }
    this.end();
    await Promise.race([host.ended(), this.#failed.promise]);
    for (const { what, items } of [this.frames, this.events]) {
      assert.equal(items.length, 0, `a ${what} is left over: ${show(items[0])}`);
    }
  }
}
