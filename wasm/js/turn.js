// A prompt turn on the agent's side: what the agent says in it, and what it asks the client for.
import { content, disposable, given, isObject, metaOf } from "./host.js";
import { Permission, ToolCall, askPermission, quiet } from "./toolcall.js";

export class Turn {
  cancelled = false;
  #terminals = new Set();

  constructor(session, { prompt, _meta }, { request, signal }) {
    this.session = session;
    this.id = request.id;
    this.blocks = prompt;
    this.meta = _meta;
    this.signal = signal;
    signal.addEventListener("abort", () => (this.cancelled = true), { once: true });
  }

  get client() {
    return this.session.client;
  }

  get text() {
    return this.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  message(what, { messageId } = {}) {
    return this.#say("agent_message_chunk", what, messageId);
  }

  thought(what, { messageId } = {}) {
    return this.#say("agent_thought_chunk", what, messageId);
  }

  plan(entries) {
    if (!Array.isArray(entries)) throw new TypeError(`plan: expected a list of entries, found ${typeof entries}`);
    const step = (entry) => (typeof entry === "string" ? { content: entry, priority: "medium", status: "pending" } : entry);
    return this.update({ sessionUpdate: "plan", entries: entries.map(step) });
  }

  update(update, { meta } = {}) {
    return this.session.notify("session/update", { update, ...metaOf(meta) }, { signal: this.signal });
  }

  async toolCall(title, options = {}, run) {
    const call = new ToolCall(this, title, options);
    await call._begin();
    if (run === undefined) return call;
    let result;
    try {
      result = await run(call);
    } catch (error) {
      await call.close();
      throw error;
    }
    await call._end("completed");
    return result;
  }

  askPermission(call, options) {
    return call instanceof ToolCall ? call.askPermission(options) : askPermission(this, call, options);
  }

  async readTextFile(path, { line, limit } = {}) {
    const { content } = await this.#request("fs/read_text_file", { path, ...given({ line, limit }) });
    return content;
  }

  async writeTextFile(path, content) {
    await this.#request("fs/write_text_file", { path, content });
  }

  async terminal(command, args = [], { env = {}, cwd, outputByteLimit } = {}, run) {
    if (!Array.isArray(args)) {
      throw new TypeError(`terminal: expected a list as the arguments, found ${typeof args}; as terminal("${command}", ["…"])`);
    }
    if (!isObject(env)) throw new TypeError("terminal: expected an object as env, from names to values");
    const list = Object.entries(env).map(([name, value]) => ({ name, value }));
    const params = { command, args, env: list, ...given({ cwd, outputByteLimit }) };
    const settle = ({ outcome, result }) => {
      if (outcome === "result") terminal._open(result.terminalId);
    };
    const terminal = new Terminal(this, () => this.#terminals.delete(terminal));
    this.#terminals.add(terminal);
    try {
      await this.#request("terminal/create", params, { settle, patient: true });
      // It is there, although nobody wants it any more.
      this.signal.throwIfAborted();
    } catch (error) {
      await terminal.close();
      throw this.signal.aborted ? this.signal.reason : error;
    }
    if (run === undefined) return terminal;
    try {
      return await run(terminal);
    } finally {
      await terminal.close();
    }
  }

  /** The handler has ended: what it has left open is released. */
  async _over() {
    await Promise.allSettled([...this.#terminals].map((terminal) => terminal.close()));
  }

  #request(method, params, how) {
    const all = { sessionId: this.session.id, ...params };
    return this.client._wire.request(method, all, { signal: this.signal, ...how });
  }

  #say(kind, what, messageId) {
    const update = { sessionUpdate: kind, content: content(what) };
    if (messageId !== undefined && messageId !== null) update.messageId = messageId;
    return this.update(update);
  }
}

export class Terminal {
  #turn;
  #id;
  #closed;
  #gone;

  constructor(turn, gone) {
    this.#turn = turn;
    this.#gone = gone;
  }

  get id() {
    return this.#id;
  }

  wait() {
    return this.#request("terminal/wait_for_exit");
  }

  output() {
    return this.#request("terminal/output");
  }

  async kill() {
    await this.#request("terminal/kill");
  }

  /** Releases it, once; also when the turn has been cancelled. */
  close() {
    return (this.#closed ??= this.#release());
  }

  get _signal() {
    return this.#turn.signal;
  }

  _open(id) {
    this.#id = id;
  }

  async #release() {
    this.#gone();
    const { client, session } = this.#turn;
    if (this.#id === undefined || client.connection.phase === "closed") return;
    const params = { sessionId: session.id, terminalId: this.#id };
    await client._wire.request("terminal/release", params, { urgent: true });
  }

  #request(method) {
    if (this.#closed) throw new TypeError(`this terminal has been released; ${method} comes too late`);
    const { client, session, signal } = this.#turn;
    return client._wire.request(method, { sessionId: session.id, terminalId: this.#id }, { signal });
  }
}
disposable(Terminal, "close");

const SAYS = ["message", "thought", "plan", "update"];
const ASKS = ["toolCall", "askPermission", "readTextFile", "writeTextFile", "terminal"];
quiet(Turn, [...SAYS, ...ASKS], (turn) => turn.signal);
quiet(Terminal, ["wait", "output", "kill"], (terminal) => terminal._signal);

export { Permission, ToolCall };
