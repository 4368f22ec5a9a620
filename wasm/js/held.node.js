// Finding a file on Linux, where a folder that is held can be gone on from: each is opened from the one before, and links
// are read and followed here, name by name. No name is looked at twice, so exchanging what it stands for leads nowhere.
import { closeSync, constants, fstat, open as openNumber, statfsSync } from "node:fs";
import { mkdir, open, readlink, unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { makeable, noFile, noFolder, outside, same } from "./roots.node.js";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
// Node has no name for it. What is opened so can be looked at and gone on from, and is not touched.
const O_PATH = 0o10000000;
// As many links as Linux follows, and steps back, which begin anew as well.
const TURNS = 40;
const PROC = 0x9fa0;

/** Whether this is such a place. */
export const available = (() => {
  try {
    return process.platform === "linux" && statfsSync("/proc/self/fd").type === PROC;
  } catch {
    return false;
  }
})();

// What is held is a number: letting go of it takes no time, as nothing was done with it.
const hold = promisify(openNumber);
const look = promisify(fstat);
const at = (folder, name) => `/proc/self/fd/${folder}/${name}`;
const split = (path) => path.split("/").filter((name) => name !== "" && name !== ".");
const joined = (names) => `/${names.join("/")}`;

/** What a path leads to; whoever gets it closes it. */
export async function find(roots, path) {
  for (let turn = 0, wanted = split(path); turn < TURNS; turn += 1) {
    const found = await go(roots, wanted);
    if (found instanceof Place) return found;
    wanted = found;
  }
  throw outside();
}

/** Where to begin: a root that the names lead through as they stand there, or the top. */
async function start(roots, names) {
  for (const root of [...roots].sort((one, other) => other.path.length - one.path.length)) {
    for (const prefix of [split(root.path), split(root.given)]) {
      if (prefix.length >= names.length || !prefix.every((name, index) => name !== ".." && name === names[index])) continue;
      const folder = await hold(root.path, O_PATH | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
      if (folder === undefined) continue;
      const isRoot = same(await look(folder, { bigint: true }).catch(() => ({})), root);
      if (isRoot) return { folder, root, from: prefix.length, above: split(root.path) };
      // Something else has taken its place.
      closeSync(folder);
    }
  }
  return { folder: await hold("/", O_PATH | O_DIRECTORY), root: undefined, from: 0, above: [] };
}

/** Goes down as far as there are folders. The place, or names that mean the same from the top on. */
async function go(roots, names) {
  let { folder, root, from, above } = await start(roots, names);
  const steps = [];
  let inner;
  let keep = false;
  try {
    for (let index = from; index < names.length; index += 1) {
      const name = names[index];
      const rest = names.slice(index + 1);
      if (name === "..") return [...above, ...steps].slice(0, -1).concat(rest);
      const last = rest.length === 0;
      try {
        inner = await hold(at(folder, name), O_PATH | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
      } catch (error) {
        if (error.code === "ENOENT" && root) {
          const place = new Place(root, steps, folder, makeable([name, ...rest]));
          keep = true;
          return place;
        }
        if (error.code !== "ENOTDIR" && error.code !== "ELOOP") throw error;
        return await followed(folder, name, [...above, ...steps], rest);
      }
      const stat = last || !root ? await look(inner, { bigint: true }) : undefined;
      if (stat?.isSymbolicLink()) return await followed(folder, name, [...above, ...steps], rest);
      if (last) {
        if (!root) throw outside();
        if (!stat.isFile()) throw noFile();
        keep = true;
        return new Place(root, [...steps, name], folder, [], inner, stat);
      }
      closeSync(folder);
      [folder, inner] = [inner, undefined];
      steps.push(name);
      if (root) continue;
      root = roots.find((each) => same(each, stat));
      if (root) {
        above = split(root.path);
        steps.length = 0;
      }
    }
    throw root ? noFile() : outside();
  } catch (error) {
    // What is outside is not told of, not even whether it is there.
    throw root ? error : outside();
  } finally {
    if (!keep) for (const held of [folder, inner]) if (held !== undefined) closeSync(held);
  }
}

/** The names that a link stands for, with those behind it. */
async function followed(folder, name, before, rest) {
  const target = await readlink(at(folder, name)).catch((error) => {
    // Something else that is no folder, or what is one by now.
    throw error.code === "EINVAL" ? noFolder() : error;
  });
  return [...(target.startsWith("/") ? [] : before), ...split(target), ...rest];
}

/** A file in a root, or where one can be made. */
class Place {
  #folder;
  #missing;
  #file;

  constructor(root, steps, folder, missing, file, stat) {
    this.root = root.path;
    this.path = joined([...split(root.path), ...steps, ...missing]);
    this.stat = stat;
    this.#folder = folder;
    this.#missing = missing;
    this.#file = file;
  }

  /** Opens the file that is there. */
  open(flags) {
    // This name stands for what is held, wherever that is by now.
    return open(`/proc/self/fd/${this.#file}`, flags | O_NONBLOCK);
  }

  /** Makes the file, and the folders on the way that are missing. */
  async make() {
    const name = this.#missing.at(-1);
    for (const step of this.#missing.slice(0, -1)) {
      await mkdir(at(this.#folder, step)).catch(unlessThere);
      const inner = await hold(at(this.#folder, step), O_PATH | O_NOFOLLOW | O_DIRECTORY);
      closeSync(this.#folder);
      this.#folder = inner;
    }
    this.#missing = [name];
    return open(at(this.#folder, name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  }

  /** Takes back what `make` has made, if it still stands there. */
  async unmake(made) {
    const name = at(this.#folder, this.#missing.at(-1));
    const there = await hold(name, O_PATH | O_NOFOLLOW).catch(() => undefined);
    if (there === undefined) return;
    const isOurs = same(await look(there, { bigint: true }), await made.stat({ bigint: true }));
    closeSync(there);
    if (isOurs) await unlink(name).catch(() => {});
  }

  close() {
    for (const held of [this.#folder, this.#file]) if (held !== undefined) closeSync(held);
  }
}

function unlessThere(error) {
  if (error.code !== "EEXIST") throw error;
}
