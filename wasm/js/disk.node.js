// The agent's own files, for where its client offers none.
import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { readsWith } from "./turn.js";

readsWith(async (path, signal) => {
  // As a client's would be: where the process was started says nothing of the session.
  if (typeof path !== "string" || !isAbsolute(path)) throw new TypeError(`readText: expected an absolute path, found ${path}`);
  const bytes = await readFile(path, { signal }).catch((error) => {
    throw signal.aborted ? signal.reason : error;
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new TypeError(`readText: ${path} is not UTF-8 text`, { cause: error });
  }
});
