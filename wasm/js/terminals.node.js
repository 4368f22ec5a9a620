// Commands that agents run, as child processes without input. Each belongs to a session that is open.
import { ErrorCode } from "./codes.js";
import { Command } from "./command.node.js";
import { RequestError } from "./errors.js";
import { mustKnow } from "./host.js";
import { Log } from "./log.js";

const OPTIONS = ["outputByteLimit", "most", "env", "endsWithProcess", "onOutput"];

// Why a command cannot be started, in the system's words. Not every runtime has them.
const REASONS = {
  E2BIG: "Argument list too long",
  EACCES: "Permission denied",
  EAGAIN: "Resource temporarily unavailable",
  EIO: "Input/output error",
  EISDIR: "Is a directory",
  ELOOP: "Too many levels of symbolic links",
  EMFILE: "Too many open files",
  ENAMETOOLONG: "File name too long",
  ENFILE: "Too many open files in system",
  ENOENT: "No such file or directory",
  ENOEXEC: "Exec format error",
  ENOMEM: "Cannot allocate memory",
  ENOTDIR: "Not a directory",
  EPERM: "Operation not permitted",
  ETXTBSY: "Text file busy",
};

const over = () => new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "The session is over");
const invalid = (message) => new RequestError(ErrorCode.INVALID_PARAMS, message);

const reason = ({ code }) => (Object.hasOwn(REASONS, code) ? REASONS[code] : "not a command");

/** What an agent adds to the environment. */
function variables(env) {
  for (const { name, value } of env) {
    if (name === "" || /[=\0]/.test(name)) throw invalid("Not the name of an environment variable");
    if (value.includes("\0")) throw invalid("Not the value of an environment variable");
  }
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

export class Terminals {
  #running = new Map();
  /** Sessions that have ended: what is still being started for them ends as well. */
  #over = new WeakSet();
  #starting = 0;
  #count = 0;
  #log = new Log();

  constructor(options = {}) {
    mustKnow(options, OPTIONS, "option of terminals");
    const { outputByteLimit = 1 << 20, most = 64, env = process.env, endsWithProcess = true, onOutput } = options;
    Object.assign(this, { outputByteLimit, most, env, endsWithProcess, onOutput });
  }

  async create(session, { command, args, env, cwd, outputByteLimit }) {
    if (this.#over.has(session)) throw over();
    if (this.#running.size + this.#starting >= this.most) {
      throw new RequestError(ErrorCode.INTERNAL_ERROR, `There are ${this.most} terminals already`);
    }
    const limit = Math.min(outputByteLimit == null ? Infinity : Number(outputByteLimit), this.outputByteLimit);
    const options = { cwd: cwd ?? session.cwd, env: { ...this.env, ...variables(env ?? []) } };
    let running;
    this.#count += 1;
    const id = `term-${this.#count}`;
    const hear = this.onOutput && ((text) => this.#tell(session, id, text));
    this.#starting += 1;
    try {
      running = await Command.start(command, args ?? [], options, { limit, endsWithProcess: this.endsWithProcess, hear });
    } catch (error) {
      throw invalid(`The command cannot be started: ${reason(error)}`);
    } finally {
      this.#starting -= 1;
    }
    if (this.#over.has(session)) {
      await this.#end(running);
      throw over();
    }
    this.#running.set(id, { session, running });
    return id;
  }

  #tell(session, id, text) {
    try {
      this.onOutput(session, id, text);
    } catch (error) {
      this.#log.failed("onOutput has failed", error);
    }
  }

  output(session, id) {
    const { output, status } = this.#find(session, id);
    const text = output.text;
    return { output: text, truncated: output.truncated, ...(status ? { exitStatus: status } : {}) };
  }

  waitForExit(session, id) {
    return this.#find(session, id).ended;
  }

  kill(session, id) {
    try {
      this.#find(session, id).kill();
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw new RequestError(ErrorCode.INTERNAL_ERROR, "The command may not be ended");
    }
  }

  async release(session, id) {
    const running = this.#find(session, id);
    this.#running.delete(id);
    await this.#end(running);
  }

  async end(session) {
    this.#over.add(session);
    const ids = [...this.#running].filter(([, each]) => each.session === session).map(([id]) => id);
    await Promise.all(ids.map((id) => this.release(session, id)));
  }

  async #end(running) {
    if (await running.release()) return;
    this.#log.write("warn", "terminal", `a command cannot be ended, and goes on as process ${running.child.pid}`);
  }

  #find(session, id) {
    const found = this.#running.get(id);
    if (found?.session !== session) throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such terminal");
    return found.running;
  }
}
