// Finding a file where a folder that is held cannot be gone on from (macOS, Windows, Linux without /proc): by its name.
// What was opened is held against the name once more before it is read or written. Who exchanges a folder for a link at
// the right moments can still have a new, empty file or folder made outside, and on Windows more than that.
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { below, exchanged, makeable, noFile, outside, same } from "./roots.node.js";

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants;
// Refuses links in every name of a path. Node has no name for it.
const O_NOFOLLOW_ANY = process.platform === "darwin" ? 0x20000000 : 0;
const FLAGS = O_NOFOLLOW | O_NOFOLLOW_ANY | O_NONBLOCK;

/** What a path leads to. */
export async function find(roots, path) {
  let found;
  try {
    found = await existing(path);
  } catch {
    throw outside();
  }
  const { there, missing } = found;
  for (const root of roots) {
    const steps = below(root.path, join(there, ...missing.filter((name) => name !== "..")));
    if (!steps || !same(await stat(root.path, { bigint: true }).catch(() => ({})), root)) continue;
    if (missing.length > 0) return new Place(root, there, makeable(missing));
    const known = await lstat(there, { bigint: true });
    if (!known.isFile()) throw noFile();
    return new Place(root, there, [], known);
  }
  throw outside();
}

/** What there is of a path, without links, and the names that are missing. */
async function existing(path) {
  const missing = [];
  for (let there = path; ; there = dirname(there)) {
    try {
      return { there: await realpath(there), missing };
    } catch (error) {
      if (error.code !== "ENOENT" || dirname(there) === there) throw error;
      // A link to nowhere is not missing.
      if (await lstat(there).catch(() => undefined)) throw outside();
      missing.unshift(basename(there));
    }
  }
}

/** A file in a root, or where one can be made. */
class Place {
  #there;
  #missing;

  constructor(root, there, missing, known) {
    this.root = root.path;
    this.path = join(there, ...missing);
    this.stat = known;
    this.#there = there;
    this.#missing = missing;
  }

  async open(flags) {
    return this.#held(await open(this.path, flags | FLAGS), this.stat);
  }

  async make() {
    for (const name of this.#missing.slice(0, -1)) {
      this.#there = join(this.#there, name);
      await mkdir(this.#there).catch((error) => {
        if (error.code !== "EEXIST") throw error;
      });
      if ((await realpath(this.#there)) !== this.#there) throw exchanged();
    }
    return this.#held(await open(this.path, O_RDWR | O_CREAT | O_EXCL | FLAGS, 0o666));
  }

  /** An empty file stays: its name may be another's by now. */
  async unmake(made) {
    await made.truncate();
  }

  close() {}

  /** The file, if it is the one that the path stands for. */
  async #held(file, known) {
    try {
      const [held, real] = [await file.stat({ bigint: true }), await realpath(this.path)];
      const named = await lstat(real, { bigint: true });
      if (real !== this.path || !same(held, named) || !same(held, known ?? held)) throw exchanged();
      if (!held.isFile()) throw noFile();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}
