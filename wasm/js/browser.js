// The entry for browsers and bundlers: ready when `init` is.
import load from "./libacp_core.js";

let ready;

/** Loads the WebAssembly file, once; a failure may be tried again. */
export function init(source) {
  ready ??= load(source === undefined ? undefined : { module_or_path: source }).then(
    () => {},
    (error) => {
      ready = undefined;
      throw error;
    },
  );
  return ready;
}

export { ErrorCode } from "./codes.js";
export { Connection } from "./connection.js";
export { Misuse } from "./events.js";
export { RawJson, raw } from "./json.js";
