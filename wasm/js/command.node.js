// One command that an agent runs: its output and its end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { characterEnd } from "./utf8.js";
import { exists, prepare, watch } from "./warden.node.js";
import { within } from "./wire.js";

// What a command has printed arrives a little after its end; a child of its own may hold the output open for ever.
const LAST_WORDS = 100;
// A command that may not be ended is not waited for any longer.
const PATIENCE = 2000;
const HAS_GROUPS = process.platform !== "win32";

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

/** Tells what comes, in whole characters. */
function live(stream, hear) {
  const decoder = new StringDecoder("utf8");
  stream.on("data", (chunk) => {
    const text = decoder.write(chunk);
    if (text !== "") hear(text);
  });
}

/** A command, and the processes that it has started and that are still in its group. */
export class Command {
  status;
  /** The group is empty: its number may be another's. */
  #isGone = false;
  #hasExited = false;
  #watch;

  /** Starts it; rejects where that cannot be done. */
  static async start(program, args, options, { limit, endsWithProcess, hear }) {
    if (endsWithProcess) prepare();
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: HAS_GROUPS });
    const command = child.pid === undefined ? undefined : new Command(child, limit, endsWithProcess ? watch : () => {}, hear);
    await once(child, "spawn");
    return command;
  }

  constructor(child, limit, watched, hear) {
    this.child = child;
    this.output = new Output(limit);
    this.#watch = watched;
    this.#watch(child.pid, "runs");
    child.once("exit", () => this.#exited());
    child.on("error", () => {});
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => this.output.add(chunk));
      if (hear) live(stream, hear);
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

  /** At this moment nobody else can have the number yet: whoever is in the group is of the command. */
  #exited() {
    this.#hasExited = true;
    if (HAS_GROUPS && exists(-this.child.pid)) this.#watch(this.child.pid, "left");
    else this.#gone();
  }

  #gone() {
    this.#isGone = true;
    this.#watch(this.child.pid, "gone");
  }

  /** Ends the command and its group; throws where that is not permitted. */
  kill() {
    if (this.#isGone) return;
    const { pid } = this.child;
    // Nobody gets the number of a group that is there; whoever has it now is somebody else.
    if (this.#hasExited && exists(pid)) return this.#gone();
    try {
      if (HAS_GROUPS) process.kill(-pid, "SIGKILL");
      else this.child.kill("SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
    if (this.#hasExited) this.#gone();
  }

  /** Ends it, and forgets what it has printed. Whether it has ended: it may be one that this process cannot end. */
  async release() {
    try {
      this.kill();
    } catch {
      // Waiting shows it.
    }
    const isOver = await within(this.ended, PATIENCE);
    this.child.stdout.destroy();
    this.child.stderr.destroy();
    if (!isOver) this.child.unref();
    return isOver;
  }
}
