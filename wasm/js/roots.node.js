// The directories of a session, as they were when it was opened.
import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { ErrorCode } from "./codes.js";
import { RequestError } from "./errors.js";

export const invalid = (message) => new RequestError(ErrorCode.INVALID_PARAMS, message);
// The words are those of the other languages.
export const outside = () => invalid("The path is outside of the session's roots");
export const noFile = () => invalid("Not a regular file");
export const noFolder = () => invalid("The path leads through something that is not a folder");
export const exchanged = () => invalid("The file was exchanged meanwhile");

/** The directories without links, and what they are; one that is not there is none. */
export function resolved(roots) {
  return roots.filter((root) => isAbsolute(root)).flatMap((given) => {
    try {
      const path = realpathSync.native(given);
      const stat = statSync(path, { bigint: true });
      return stat.isDirectory() ? [{ given, path, dev: stat.dev, ino: stat.ino }] : [];
    } catch {
      return [];
    }
  });
}

export const same = (one, other) => one.dev === other.dev && one.ino === other.ino;

/** The names from a folder on to a path in it, by their texts; nothing where it is not in it. */
export function below(folder, path) {
  const way = relative(folder, path);
  return way === "" || isAbsolute(way) || way.split(sep)[0] === ".." ? undefined : way.split(sep);
}

// More folders are not made by one call: what has made them could not remove them again.
const FOLDERS = 64;

/** Names that are not there yet, as they are to be made. */
export function makeable(names) {
  // Where nothing is, `..` leads to what nobody has looked at.
  if (names.includes("..")) throw outside();
  if (names.length > FOLDERS + 1) throw invalid(`More than ${FOLDERS} folders are missing`);
  return names;
}
