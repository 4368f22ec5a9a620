// Commands that agents run, as child processes without input.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { ErrorCode } from "./codes.js";
import { RequestError } from "./errors.js";
import { within } from "./wire.js";

// What a command has printed arrives a little after its end; a child of its own may hold the output open for ever.
const LAST_WORDS = 100;

/** The end of what was printed: whole characters, so many bytes at most. */
class Output {
  #chunks = [];
  #size = 0;
  truncated = false;

  constructor(limit) {
    this.limit = limit;
  }

  add(chunk) {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // Whole chunks go at once; a part of one is cut off when it is asked for.
    while (this.#size - this.#chunks[0].length >= this.limit && this.#chunks.length > 1) {
      this.#size -= this.#chunks.shift().length;
      this.truncated = true;
    }
    if (this.#chunks.length > 1000) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  get text() {
    const all = Buffer.concat(this.#chunks);
    let from = Math.max(0, all.length - this.limit);
    this.truncated ||= from > 0;
    // The rest of a character whose beginning was cut off is no character.
    if (this.truncated) while (from < all.length && (all[from] & 0xc0) === 0x80) from += 1;
    return all.subarray(from, characterEnd(all)).toString();
  }
}

/** Where the last whole character ends: what has been printed may end within one. */
function characterEnd(bytes) {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at -= 1) {
    if ((bytes[at] & 0xc0) === 0x80) continue;
    const wants = bytes[at] >= 0xf0 ? 4 : bytes[at] >= 0xe0 ? 3 : bytes[at] >= 0xc0 ? 2 : 1;
    return at + wants > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

class Process {
  status;

  constructor(child, limit) {
    this.child = child;
    this.output = new Output(limit);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => this.output.add(chunk));
      stream.on("error", () => {});
    }
    this.ended = this.#end();
  }

  async #end() {
    const closed = once(this.child, "close");
    const [exitCode, signal] = await once(this.child, "exit");
    await within(closed, LAST_WORDS);
    this.status = { exitCode, signal };
    return this.status;
  }

  /** Ends the command and its children. */
  kill() {
    try {
      // The whole group, where there are groups.
      process.kill(process.platform === "win32" ? this.child.pid : -this.child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }

  async release() {
    this.kill();
    await this.ended;
    this.child.stdout.destroy();
    this.child.stderr.destroy();
  }
}

export class Terminals {
  #running = new Map();
  #starting = 0;
  #count = 0;

  constructor({ outputByteLimit = 1 << 20, most = 64, env = process.env } = {}) {
    Object.assign(this, { outputByteLimit, most, env });
  }

  async create(session, { command, args, env, cwd, outputByteLimit }) {
    if (this.#running.size + this.#starting >= this.most) {
      throw new RequestError(ErrorCode.INTERNAL_ERROR, `There are ${this.most} terminals already`);
    }
    const limit = Math.min(outputByteLimit == null ? Infinity : Number(outputByteLimit), this.outputByteLimit);
    const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const options = { cwd: cwd ?? session.cwd, env: { ...this.env, ...added }, stdio: ["ignore", "pipe", "pipe"] };
    let running;
    this.#starting += 1;
    try {
      const child = spawn(command, args ?? [], { ...options, detached: process.platform !== "win32" });
      await once(child, "spawn");
      running = new Process(child, limit);
    } catch (error) {
      throw new RequestError(ErrorCode.INVALID_PARAMS, `The command cannot be started: ${error.code ?? "not a command"}`);
    } finally {
      this.#starting -= 1;
    }
    this.#count += 1;
    const id = `term-${this.#count}`;
    this.#running.set(id, { session, running });
    return id;
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
    this.#find(session, id).kill();
  }

  async release(session, id) {
    const running = this.#find(session, id);
    this.#running.delete(id);
    await running.release();
  }

  async end(session) {
    const ids = [...this.#running].filter(([, each]) => each.session === session).map(([id]) => id);
    await Promise.all(ids.map((id) => this.release(session, id)));
  }

  #find(session, id) {
    const found = this.#running.get(id);
    if (found?.session !== session) throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such terminal");
    return found.running;
  }
}
