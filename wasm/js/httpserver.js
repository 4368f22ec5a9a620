// The server of the remote transports: requests and sockets of any platform in, one agent for each connection. The state
// machine decides; here are waiting and back-pressure. Read next: httpfetch.js, httpsocket.js and httpnode.node.js, which give it exchanges.
import { RequestError } from "./errors.js";
import { isHttpLoaded, whenHttpLoaded, HttpServer } from "./httpcore.js";
import { mustKnow } from "./host.js";
import { Inbox } from "./inbox.js";
import { Log } from "./log.js";
import { deferred, within } from "./wire.js";

const OPTIONS = ["path", "token", "prefix", "hosts", "anyHost", "origins", "strict", "tolerates", "limits", "times"];
const HOOKS = ["onOpen", "onClose", "onViolation", "onAdvice", "onError"];
const OTHERS = ["log", ...HOOKS];
// Bytes of messages for an agent that has not read the last ones.
const UNREAD = 256 << 10;
// What clients are told of an agent that has failed; a `RequestError` has words for them of its own.
const FAILED = "The agent could not be served";
// So long agents may take to end when the server is closed.
const GRACE = 5000;

const decoder = new TextDecoder();

/** One connection of a client, as the transport of its agent. */
class Link {
  framing = "messages";
  #service;
  #key;
  #paused = false;
  #room;

  constructor(service, key) {
    this.#service = service;
    this.#key = key;
    this.id = service._core.connectionId(key);
    this.readable = new Inbox({
      pushed: (size) => size > UNREAD && this.#pause(true),
      taken: (size) => size <= UNREAD / 2 && this.#pause(false),
      // Agents of others are promised text.
      shown: (json) => decoder.decode(json),
    });
  }

  #pause(paused) {
    if (this.#paused === paused) return;
    this.#paused = paused;
    this.#service._core.pause(this.#key, paused);
    if (!paused) this.#service._turn();
  }

  /** There is room again for what the agent says. */
  drained() {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Nothing more comes. What has come is still read. */
  end() {
    this.readable.end();
    this.drained();
  }

  write(bytes) {
    return this.#send(bytes) ? undefined : this.#later(bytes);
  }

  async #later(json) {
    do await (this.#room ??= deferred()).promise;
    while (!this.#send(json));
  }

  #send(json) {
    let outcome;
    try {
      outcome = this.#service._core.send(this.#key, json);
    } catch (misuse) {
      // An answer that nobody waits for any more, after its client was told so.
      this.#service._failed(misuse);
    }
    this.#service._turn();
    if (outcome === "closed") throw new Error("the connection of this client is over");
    return outcome !== "full";
  }

  /** Ends it because its agent has failed: open calls are answered with an error. */
  fail(why) {
    this.#service._core.fail(this.#key, why);
    this.#service._turn();
  }

  close() {
    this.#service._core.close(this.#key);
    this.#service._turn();
    this.end();
  }
}

/** Serves agents to remote clients. Platforms give it exchanges. */
export class Service {
  _core;
  #agent;
  #options;
  #hooks;
  #log;
  #exchanges = new Map();
  #links = new Map();
  /** What agents still do. */
  #serving = new Set();
  #last = 0;
  #timer;
  #due;
  #turning = false;
  #again = false;
  #closed = false;
  /** Bytes of the longest message that is taken. */
  mostBytes;

  constructor(agent, options = {}) {
    mustKnow(options, [...OPTIONS, ...OTHERS], "option");
    if (typeof agent !== "function" && typeof agent?.serve !== "function") {
      throw new TypeError("serve: expected an Agent, or a function that makes one for each connection");
    }
    for (const hook of HOOKS) {
      if (options[hook] !== undefined && typeof options[hook] !== "function") {
        throw new TypeError(`${hook}: expected a function, found ${typeof options[hook]}`);
      }
    }
    this.#agent = agent;
    this.#hooks = options;
    this.#log = new Log(options.log);
    this.#options = Object.fromEntries(Object.entries(options).filter(([name]) => OPTIONS.includes(name)));
    this.mostBytes = options.limits?.body ?? 16 << 20;
    // Where the module is still to be loaded, what is wrong is said once it is needed.
    if (isHttpLoaded()) this.#make();
  }

  #make() {
    this._core = new HttpServer(this.#options);
    this._core._inBytes = true;
    this.#tick();
  }

  /** Waits for the module. */
  async ready() {
    if (this._core) return;
    await whenHttpLoaded();
    if (!this._core) this.#make();
  }

  /** The number of open connections. */
  get connections() {
    return this._core?.connections ?? 0;
  }

  /**
   * Begins an exchange with the head of a request. `sink` gets what becomes of it: `respond(response)`, or `stream(response)`
   * and then `ready()` and `finish()`, or `upgrade(response)` and then `ready()`. Returns its number, and whether its body is
   * wanted.
   */
  begin(head, sink) {
    const exchange = (this.#last += 1);
    if (this.#closed) {
      sink.respond({ status: 503, headers: [], body: "" });
      return { exchange, wantsBody: false };
    }
    this.#exchanges.set(exchange, sink);
    this.#randomize();
    this.#tick();
    const step = this._core.request(exchange, head);
    this.#step(exchange, step);
    return { exchange, wantsBody: step.step === "body" };
  }

  /** Passes a piece of a body in; whether more is wanted. */
  body(exchange, bytes, end) {
    this.#tick();
    const step = this._core.body(exchange, bytes, end);
    this.#step(exchange, step);
    return step.step === "body";
  }

  #step(exchange, step) {
    const sink = this.#exchanges.get(exchange);
    const { step: what, ...response } = step;
    if (what === "respond") this.#exchanges.delete(exchange);
    if (what !== "body" && what !== "wait") sink[what](response);
    this._turn();
  }

  /** Bytes to write on a stream, which are taken as written; `undefined` where there are none. */
  take(exchange, most) {
    const bytes = this._core.transmit(exchange, most);
    if (bytes.length === 0) return undefined;
    this.#tick();
    this._core.consume(exchange, bytes.length);
    this._turn();
    return bytes;
  }

  /** An exchange is over, whoever has ended it. */
  over(exchange) {
    if (!this.#exchanges.delete(exchange)) return;
    this.#tick();
    this._core.closed(exchange);
    this._turn();
  }

  /** What came on a socket. */
  heard(exchange, kind, text) {
    this.#tick();
    this._core[kind](exchange, text);
    this._turn();
    return this._core.isHungry(exchange);
  }

  /** Does what is to be done after something was passed in. */
  _turn() {
    // What happens meanwhile is done in the same turn.
    this.#again = true;
    if (this.#turning) return;
    this.#turning = true;
    try {
      while (this.#again) {
        this.#again = false;
        for (let event; (event = this._core.pollEvent()); ) this.#happened(event);
      }
    } finally {
      this.#turning = false;
    }
    this.#schedule();
  }

  #happened(event) {
    const { connection, exchange } = event;
    const sink = this.#exchanges.get(exchange);
    switch (event.event) {
      case "opened":
        this.#open(connection);
        break;
      case "message":
        this.#links.get(connection)?.readable.push(event.json);
        break;
      case "drained":
        this.#links.get(connection)?.drained();
        break;
      case "closed":
        this.#links.get(connection)?.end();
        this.#links.delete(connection);
        this.#tell("onClose", { connection, why: event.why });
        break;
      case "respond":
        this.#exchanges.delete(exchange);
        sink?.respond(event.response);
        break;
      case "ready":
        sink?.ready();
        break;
      case "finish":
        sink?.finish();
        break;
      case "violation":
        this.#log.write("warn", event.rule, `${event.rule}: ${event.message}${event.status ? ` (${event.status})` : ""}`);
        this.#tell("onViolation", event);
        break;
      case "advice":
        this.#log.write("debug", event.rule, `${event.rule}: ${event.message}`);
        this.#tell("onAdvice", event);
        break;
    }
  }

  #open(key) {
    const link = new Link(this, key);
    this.#links.set(key, link);
    this.#tell("onOpen", { connection: key, id: link.id });
    const served = this.#serve(link).then(
      () => this.#serving.delete(served),
      (error) => {
        this.#serving.delete(served);
        this._failed(error);
      },
    );
    this.#serving.add(served);
  }

  async #serve(link) {
    let agent;
    try {
      agent = typeof this.#agent === "function" ? await this.#agent({ id: link.id }) : this.#agent;
      await agent.serve(link);
    } catch (error) {
      // What a client asks first is answered with the reason. Over a socket, it may not be there yet.
      if (!agent) await link.readable.more();
      link.fail(error instanceof RequestError ? error.message : FAILED);
      throw error;
    } finally {
      link.close();
    }
  }

  #tell(hook, ...args) {
    try {
      this.#hooks[hook]?.(...args);
    } catch (error) {
      this._failed(error);
    }
  }

  _failed(error) {
    const { onError } = this.#hooks;
    if (!onError) return this.#log.failed("the server of the remote transports", error);
    try {
      onError(error);
    } catch (another) {
      this.#log.failed("onError", another);
    }
  }

  #randomize() {
    const wanted = this._core.wantsEntropy();
    if (wanted > 0) this._core.addEntropy(crypto.getRandomValues(new Uint8Array(wanted)));
  }

  #tick() {
    this._core.handleTimeout(Math.floor(performance.now()));
  }

  #schedule() {
    const wanted = this._core.pollTimeout();
    if (this.#timer !== undefined && wanted >= this.#due) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (wanted === undefined) return;
    this.#due = wanted;
    const wait = Math.ceil(wanted - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#tick();
      this._turn();
    }, Math.min(Math.max(wait, 0), 0x7fffffff));
    // What is only to be tidied keeps no program alive: the listening socket does.
    this.#timer.unref?.();
  }

  /** Ends all connections and waits for their agents. */
  async close({ grace = GRACE } = {}) {
    this.#closed = true;
    for (const link of [...this.#links.values()]) link.close();
    await within(Promise.all(this.#serving), grace);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
if (Symbol.asyncDispose) Service.prototype[Symbol.asyncDispose] = Service.prototype.close;
