// Files and commands on the machine where `cargo xtask web --root DIR` runs: the server does what is asked for inside of that
// folder, and the page asks the user first, for each file that is to be written and each command.

import { ErrorCode, RequestError, cutOutput } from "libacp/client/only";

/** Bytes of a command's output that are kept. */
const MOST = 1 << 20;

/** An argument as one would type it. */
const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const refused = () => new RequestError(ErrorCode.INVALID_PARAMS, "The user has refused it");

/** The server's services. `ask(session, about, signal)` asks the user. */
export class Machine {
  #socket;
  #next = 1;
  #calls = new Map();
  #terminals = new Map();

  constructor(address, ask) {
    this.ask = ask;
    this.#socket = new WebSocket(address.href.replace(/^http/, "ws"));
    this.#socket.onmessage = ({ data }) => this.#heard(JSON.parse(data));
    this.#socket.onclose = () => this.#end();
    this.ready = new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = () => reject(new Error("the server does not serve files and commands"));
    });
  }

  close() {
    this.#socket.close();
  }

  files = {
    readTextFile: (session, { path, line, limit }) => this.#call("read", { path, line, limit }),
    writeTextFile: async (session, { path, content }, { signal }) => {
      // What cannot be shown is not overwritten.
      const before = await this.#call("read", { path }).catch((error) => {
        if (error.code !== ErrorCode.RESOURCE_NOT_FOUND) throw error;
      });
      const change = { type: "diff", path, oldText: before, newText: content };
      if (!(await this.ask(session, { title: `Write ${path}?`, does: "Write", content: [change] }, signal))) throw refused();
      await this.#call("write", { path, content });
    },
  };

  terminals = {
    create: async (session, { command, args = [], env = [], cwd, outputByteLimit }, { signal }) => {
      const folder = cwd ?? session.cwd;
      const settings = env.map(({ name, value }) => `${name}=${quoted(value)} `).join("");
      const line = settings + [command, ...args].map(quoted).join(" ");
      const about = { title: "Run this command?", does: "Run", content: [{ type: "command", line, folder }] };
      if (!(await this.ask(session, about, signal))) throw refused();
      const { terminal } = await this.#call("run", { command, args, env, cwd: folder });
      const made = { session, output: "", limit: Math.min(outputByteLimit ?? MOST, MOST), truncated: false, exit: null, ended: Promise.withResolvers() };
      this.#terminals.set(terminal, made);
      return terminal;
    },
    output: (session, id) => {
      const { output, limit, truncated, exit } = this.#terminal(session, id);
      const cut = cutOutput(output, limit);
      return { output: cut.output, truncated: cut.truncated || truncated, exitStatus: exit };
    },
    waitForExit: async (session, id) => this.#terminal(session, id).ended.promise,
    kill: async (session, id) => void (this.#terminal(session, id), await this.#call("kill", { terminal: id })),
    release: async (session, id) => {
      this.#terminal(session, id);
      this.#terminals.delete(id);
      await this.#call("release", { terminal: id });
    },
    end: async (session) => {
      const own = [...this.#terminals].filter(([, it]) => it.session === session);
      await Promise.allSettled(own.map(([id]) => this.terminals.release(session, id)));
    },
  };

  #terminal(session, id) {
    const found = this.#terminals.get(id);
    if (found?.session === session) return found;
    throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such terminal");
  }

  async #call(method, params) {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new RequestError(ErrorCode.INTERNAL_ERROR, "The server is gone");
    const call = Promise.withResolvers();
    this.#calls.set(this.#next, call);
    this.#socket.send(JSON.stringify({ id: this.#next++, method, params }));
    return call.promise;
  }

  #heard({ id, result, error, terminal, output, exit }) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.reject(new RequestError(error.code, error.message));
    else call?.resolve(result);
    const known = this.#terminals.get(terminal);
    if (!known) return;
    if (output) this.#printed(known, output);
    if (exit) known.ended.resolve((known.exit = exit));
  }

  #printed(known, output) {
    known.output += output;
    if (known.output.length <= 2 * MOST) return;
    known.output = known.output.slice(-MOST);
    known.truncated = true;
  }

  #end() {
    for (const call of this.#calls.values()) call.reject(new RequestError(ErrorCode.INTERNAL_ERROR, "The server is gone"));
    this.#calls.clear();
    for (const { ended } of this.#terminals.values()) ended.resolve({ signal: "SIGKILL" });
  }
}
