// Work on the agent's side, of a prompt or without one: what the agent says in it, and what it asks the client for.
import { DisplayTerminal, steps } from "./display.js";
import { content, disposable, given, isObject, metaOf } from "./host.js";
import { Permission, ToolCall, askPermission, quiet } from "./toolcall.js";
import { unlessAborted } from "./wire.js";

// Reads the agent's own files; there are none where there is no disk.
let disk = async () => {
  throw new TypeError("readText: the client offers no files, and there is no disk here; under Node there is one");
};

/** Said by the entry for Node: `read(path, signal)` gives the text of a file. */
export function readsWith(read) {
  disk = read;
}

// By so many characters of what was printed before, the rest is found once the front was cut.
const KNOWN = 256;

export class Work {
  cancelled = false;
  #terminals = new Set();

  constructor(session, signal) {
    this.session = session;
    this.signal = signal;
    signal.addEventListener("abort", () => (this.cancelled = true), { once: true });
  }

  get client() {
    return this.session.client;
  }

  message(what, how) {
    return this.#say("agent_message_chunk", what, how);
  }

  thought(what, how) {
    return this.#say("agent_thought_chunk", what, how);
  }

  plan(entries, { meta } = {}) {
    return this.#tell({ sessionUpdate: "plan", entries: steps(entries), ...metaOf(meta) });
  }

  update(update, { meta } = {}) {
    return this.#tell(update, meta);
  }

  async toolCall(title, options = {}, run) {
    if (!isObject(options)) {
      throw new TypeError(`toolCall: expected an object as options, found a ${typeof options}; as toolCall(title, {}, run)`);
    }
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

  askPermission(call, options, how) {
    return call instanceof ToolCall ? call.askPermission(options, how) : askPermission(this, call, options, how);
  }

  async readTextFile(path, { line, limit, meta } = {}) {
    const { content } = await this.#request("fs/read_text_file", { path, ...given({ line, limit }), ...metaOf(meta) });
    return content;
  }

  async readText(path) {
    return this.client.can("fs/read_text_file") ? this.readTextFile(path) : disk(path, this.signal);
  }

  async writeTextFile(path, content, { meta } = {}) {
    await this.#request("fs/write_text_file", { path, content, ...metaOf(meta) });
  }

  async terminal(command, args = [], { env = {}, cwd, outputByteLimit, meta } = {}, run) {
    if (!Array.isArray(args)) {
      throw new TypeError(`terminal: expected a list as the arguments, found ${typeof args}; as terminal("${command}", ["…"])`);
    }
    if (!isObject(env)) throw new TypeError("terminal: expected an object as env, from names to values");
    const list = Object.entries(env).map(([name, value]) => ({ name, value }));
    const params = { command, args, env: list, ...given({ cwd, outputByteLimit }), ...metaOf(meta) };
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

  async displayTerminal(command, { id, cwd, meta } = {}) {
    const terminal = new DisplayTerminal(this, id);
    await terminal._begin(command, cwd, meta);
    return terminal;
  }

  /** The handler has ended: what it has left open is released. */
  async _over() {
    await Promise.allSettled([...this.#terminals].map((terminal) => terminal.close()));
  }

  #request(method, params, how) {
    const all = { sessionId: this.session.id, ...params };
    return this.client._wire.request(method, all, { signal: this.signal, ...how });
  }

  #say(kind, what, { messageId, meta } = {}) {
    const update = { sessionUpdate: kind, content: content(what) };
    if (messageId !== undefined && messageId !== null) update.messageId = messageId;
    return this.#tell(meta == null ? update : { ...update, ...metaOf(meta) });
  }

  /** What is said most often: each step on this way is taken for every word. */
  #tell(update, meta) {
    const { session, signal } = this;
    const params = { sessionId: session.id, update };
    return session.client._notify("session/update", meta == null ? params : { ...params, ...metaOf(meta) }, { signal });
  }
}

/** The work on a prompt. */
export class Turn extends Work {
  #serial;

  constructor(session, { prompt, _meta }, { request, signal }) {
    super(session, signal);
    this.id = request.id;
    this.blocks = prompt;
    this.meta = _meta;
    this.#serial = request.serial;
  }

  get text() {
    return this.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  hold() {
    this.signal.throwIfAborted();
    this.client.connection.hold(this.#serial);
  }

  insert() {
    this.signal.throwIfAborted();
    this.client.connection.insert(this.#serial);
    this.client._wire.dispatch();
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

  async *follow({ interval = 200 } = {}) {
    for (let seen = ""; ; await later(interval, this._signal)) {
      const { output, exitStatus } = await this.output();
      const added = output.slice(output.startsWith(seen) ? seen.length : overlap(seen, output));
      if (added) yield added;
      if (exitStatus != null) return;
      seen = output;
    }
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

/** How much of the beginning of a text is the end of another, from which the front was cut. */
function overlap(before, after) {
  const end = before.slice(-KNOWN);
  const found = end ? after.indexOf(end) : -1;
  return found < 0 ? 0 : found + end.length;
}

/** Waits, unless the turn is cancelled before. */
const later = (milliseconds, signal) =>
  unlessAborted(new Promise((resolve) => setTimeout(resolve, milliseconds)), signal);

const SAYS = ["message", "thought", "plan", "update"];
const ASKS = ["toolCall", "askPermission", "readTextFile", "readText", "writeTextFile", "terminal", "displayTerminal"];
quiet(Work, [...SAYS, ...ASKS], (work) => work.signal);
quiet(Terminal, ["wait", "output", "kill"], (terminal) => terminal._signal);
quiet(DisplayTerminal, ["write", "exit"], (terminal) => terminal._signal);

export { DisplayTerminal, Permission, ToolCall };
