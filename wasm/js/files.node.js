// Files for an agent, confined to the roots of its session. Where a path leads is found by held.node.js, or by
// named.node.js where the system has nothing better; what of that may be done, and in which order, is said here.
import { constants } from "node:fs";
import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ErrorCode } from "./codes.js";
import { WriteError, lines, replaced } from "./content.node.js";
import { RequestError } from "./errors.js";
import { guarded } from "./guard.node.js";
import * as held from "./held.node.js";
import * as named from "./named.node.js";
import { Gate, Queues } from "./queue.js";
import { exchanged, invalid, noFile, noFolder, outside, resolved } from "./roots.node.js";

const { find } = held.available ? held : named;
const { O_RDONLY, O_RDWR, O_WRONLY } = constants;
// Files that are read or written at the same time.
const AT_ONCE = 4;
// What may be exchanged so often meanwhile is not worth a further try.
const TRIES = 8;
// A path has at most so many characters.
const PATH = 4096;
// A file may grow by so much, and has so much where its size is not known.
const UNKNOWN = 64 << 10;
// Under this key, a session's paths are found one after the other.
const FINDING = "";
const NO_PATH = "Not a path";
// As the other languages call them, which have no words of their own for the last two.
const REASONS = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "read-only filesystem or storage medium",
  ENAMETOOLONG: "invalid filename",
  ENOSPC: "no storage space",
  EDQUOT: "quota exceeded",
  EFBIG: "file too large",
  EBUSY: "resource busy",
  ETXTBSY: "executable file busy",
  ENOMEM: "out of memory",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
};

/** A path of a session: found, and found again after each wait, as nothing is held meanwhile. */
class Way {
  /** Where it has led when that was permitted. */
  permitted;
  #roots;
  #path;
  #place;

  constructor(roots, path, place) {
    this.#roots = roots;
    this.#path = path;
    this.#place = place;
  }

  async found() {
    this.#place ??= await find(this.#roots, this.#path);
    if (this.#place.path !== (this.permitted ?? this.#place.path)) throw exchanged();
    return this.#place;
  }

  /** Waits, if there is something to wait for. */
  async wait(promise) {
    if (typeof promise?.then === "function") this.left();
    return promise;
  }

  left() {
    const place = this.#place;
    this.#place = undefined;
    place?.close();
  }
}

export class ReadOnlyFiles {
  #sessions = new WeakMap();
  #open = new Gate(AT_ONCE);
  #files = new Queues();

  constructor({ most = 10_000_000, may = guarded } = {}) {
    if (typeof may !== "function") throw new TypeError("may: expected a function");
    this.most = most;
    this.may = may;
  }

  /** The session is opened: its directories are what they are now. */
  begin(session) {
    this.#sessions.set(session, { roots: resolved(session.roots), order: new Queues() });
  }

  /** A session that is open has been opened once more, as another one had begun: it has the directories of that now. */
  adopt(session, made) {
    if (this.#sessions.has(made)) this.#sessions.set(session, this.#sessions.get(made));
  }

  readTextFile(session, { path, line, limit }, how) {
    return this._inOrder(session, path, async (way) => {
      await this._permitted(session, way, false);
      const { stat } = await way.found();
      if (!stat) throw missing();
      if (stat.size > this.most) throw this.#tooLarge();
      const [first, count] = [Math.max(line ?? 1, 1) - 1, limit ?? Infinity];
      // It may grow meanwhile: then once more, with all that is allowed.
      for (const expected of [Number(stat.size) + UNKNOWN, this.most]) {
        const most = how?.reserve ? Math.min(expected, this.most) : this.most;
        const room = how?.reserve?.(most);
        if (room) {
          await way.wait(room);
          how.signal.throwIfAborted();
        }
        const text = await this._opened(way, async () => {
          const place = await way.found();
          if (!place.stat) throw missing();
          const file = await place.open(O_RDONLY);
          const size = Number(place.stat.size) || UNKNOWN;
          return [file, () => read(file, first, count, { size, most, looked: this.most })];
        });
        if (text !== undefined) {
          how?.reserve?.(text.length);
          return text;
        }
      }
      throw this.#tooLarge();
    });
  }

  #tooLarge() {
    return invalid(`The file has more than ${this.most} bytes`);
  }

  /** Does work with a path when all that the session has asked for before of the same file is done. */
  async _inOrder(session, path, work) {
    if (!this.#sessions.has(session)) this.begin(session);
    const { roots, order } = this.#sessions.get(session);
    let done;
    try {
      checked(path);
      await order.after(FINDING, async () => {
        const place = await find(roots, path);
        const waits = order.has(place.path);
        if (waits) place.close();
        const way = new Way(roots, path, waits ? undefined : place);
        done = order.after(place.path, () => work(way).finally(() => way.left()));
        // It is heard of below.
        done.catch(() => {});
      });
      return await done;
    } catch (error) {
      throw placed(told(error), path);
    }
  }

  async _permitted(session, way, writing) {
    const { path, root } = await way.found();
    const may = await way.wait(this.may(path, writing, { root, session }));
    if (may !== true) throw invalid("The client does not allow this with this file");
    way.permitted = path;
  }

  /** Does what is given with an open file: alone with it, and with few others beside. */
  async _opened(way, open) {
    await way.wait(this.#open.enter());
    try {
      const [file, work] = await open();
      try {
        const { dev, ino } = (await way.found()).stat ?? (await file.stat({ bigint: true }));
        return await this.#files.after(`${dev}:${ino}`, work);
      } finally {
        await file.close();
      }
    } finally {
      this.#open.leave();
    }
  }
}

export class Files extends ReadOnlyFiles {
  writeTextFile(session, { path, content }) {
    return this._inOrder(session, path, async (way) => {
      if (Buffer.byteLength(content) > this.most) throw invalid(`The text has more than ${this.most} bytes`);
      await this._permitted(session, way, true);
      await this._opened(way, async () => {
        const { file, readable, made } = await writable(way);
        return [file, () => replaced(file, Buffer.from(content), readable).catch(async (error) => {
          if (made) await (await way.found()).unmake(file);
          throw error;
        })];
      });
    });
  }
}

/** The file that is there, or a new one. */
async function writable(way) {
  for (let left = TRIES; ; left -= 1) {
    const place = await way.found();
    try {
      if (!place.stat) return { file: await place.make(), made: true, readable: true };
      try {
        return { file: await place.open(O_RDWR), readable: true };
      } catch (error) {
        if (error.code !== "EACCES") throw error;
        return { file: await place.open(O_WRONLY), readable: false };
      }
    } catch (error) {
      // Somebody else has made it.
      if (error.code !== "EEXIST" || left === 0) throw error;
      way.left();
    }
  }
}

function checked(path) {
  if (!isAbsolute(path)) throw outside();
  if (path.includes("\0")) throw invalid(NO_PATH);
  if (path.length > PATH) throw invalid(`The path has more than ${PATH} characters`);
  if (["/", "/.", sep].some((end) => path.endsWith(end))) throw noFile();
}

const missing = () => new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such file");

/** The error with the file's place, where it is one that is missing. */
function placed(error, path) {
  if (error.code !== ErrorCode.RESOURCE_NOT_FOUND || error.data !== undefined) return error;
  return new RequestError(error.code, error.message, { uri: pathToFileURL(path).href });
}

const isSystems = (error) => typeof error?.syscall === "string";
const reason = ({ code }) => (Object.hasOwn(REASONS, code) ? REASONS[code] : "uncategorized error");

/** What an agent is told of an error of the file system's: no path, and nothing of where it happened. */
function told(error) {
  if (error instanceof WriteError && isSystems(error.cause)) return failed(error.message, error.cause);
  if (error instanceof RequestError || !isSystems(error)) return error;
  if (error.code === "ENOENT") return missing();
  if (error.code === "ENOTDIR") return noFolder();
  if (error.code === "EINVAL") return invalid(NO_PATH);
  return invalid(`The file cannot be opened: ${reason(error)}`);
}

const failed = (what, error) => new RequestError(ErrorCode.INTERNAL_ERROR, `${what}: ${reason(error)}`);

/** The lines of a file; what goes wrong has nothing to do with opening it. */
function read(...args) {
  return lines(...args).catch((error) => {
    throw isSystems(error) ? failed("The file cannot be read", error) : error;
  });
}
