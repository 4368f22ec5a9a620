// Files for an agent, confined to the roots of its session.
//
// A path is resolved first, symbolic links and all, and must be inside a root that was resolved the same way. Node cannot
// open a file step by step from a folder, so what was opened is held against the path once more: if somebody has exchanged
// a folder for a link in between, the file is closed before a byte of it was read or written.
import { constants } from "node:fs";
import { mkdir, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { ErrorCode } from "./codes.js";
import { RequestError } from "./errors.js";

const { O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;
const invalid = (message) => new RequestError(ErrorCode.INVALID_PARAMS, message);

export class ReadOnlyFiles {
  constructor({ most = 10_000_000 } = {}) {
    this.most = most;
  }

  async readTextFile({ roots }, { path, line, limit }) {
    const file = await opened(roots, path, O_RDONLY);
    let data;
    try {
      const { size } = await file.stat();
      if (size > this.most) throw invalid(`The file has more than ${this.most} bytes`);
      // One byte more: it may grow meanwhile.
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size + 1), position: 0 });
      data = buffer.subarray(0, Math.min(bytesRead, this.most));
    } finally {
      await file.close();
    }
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    } catch {
      throw invalid("The file is not UTF-8 text");
    }
    if (line == null && limit == null) return text;
    const first = Math.max(line ?? 1, 1) - 1;
    const lines = text.split(/(?<=\n)/);
    return lines.slice(first, limit == null ? undefined : first + limit).join("");
  }
}

export class Files extends ReadOnlyFiles {
  async writeTextFile({ roots }, { path, content }) {
    const data = Buffer.from(content);
    if (data.length > this.most) throw invalid(`The text has more than ${this.most} bytes`);
    const file = await opened(roots, path, O_WRONLY | O_CREAT);
    try {
      await file.truncate();
      await file.writeFile(data);
    } finally {
      await file.close();
    }
  }
}

/** The file, open and inside; the error of whatever stands against that. */
async function opened(roots, path, flags) {
  let file;
  try {
    const place = await inside(roots, path, flags & O_CREAT);
    file = await open(place, flags | O_NOFOLLOW | O_NONBLOCK, 0o666);
    const held = await file.stat({ bigint: true });
    const named = await stat(await inside(roots, path), { bigint: true });
    if (held.dev !== named.dev || held.ino !== named.ino) throw invalid("The file was exchanged meanwhile");
    if (!held.isFile()) throw invalid("Not a regular file");
    return file;
  } catch (error) {
    await file?.close();
    if (error instanceof RequestError) throw error;
    if (error.code === "ENOENT") throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such file");
    throw invalid(`The file cannot be opened: ${error.code ?? "not a path"}`);
  }
}

/** The path without links, if it is in one of the roots; folders that are missing are made on the way, if wanted. */
async function inside(roots, path, make = false) {
  if (!isAbsolute(path) || path.includes("\0")) throw invalid("Not an absolute path");
  const real = await resolved(path, make);
  for (const root of roots.filter(isAbsolute)) {
    const base = await realpath(root).catch(() => undefined);
    if (base === undefined || !within(base, real.path)) continue;
    if (make && real.missing.length > 0) await mkdir(dirname(real.path), { recursive: true });
    return real.path;
  }
  throw invalid("The file is outside of the session's directories");
}

function within(root, path) {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path without links. With `make` its end may be missing: then what there is of it is resolved. */
async function resolved(path, make) {
  const missing = [];
  for (let there = path; ; there = dirname(there)) {
    try {
      return { path: join(await realpath(there), ...missing), missing: missing.slice(0, -1) };
    } catch (error) {
      if (!make || error.code !== "ENOENT" || dirname(there) === there) throw error;
      // A name that is a link to nowhere is refused when it is opened.
      missing.unshift(basename(there));
    }
  }
}
