// The entry for browsers and bundlers: ready when `init` is.
import { loaded, loadsWith } from "./connection.js";
import load, { Budget, Core, Watch, busy, cutOutput as cut, offers, record, room } from "./libacp_core.js";

let loading;

/** Loads the WebAssembly file, once; a failure may be tried again. */
export function init(source) {
  const began = () => load(source === undefined ? undefined : { module_or_path: source });
  loading ??= began().then(
    (exports) => loaded({ Budget, Core, Watch, busy, cutOutput: cut, offers, record, room }, exports),
    (error) => {
      loading = undefined;
      throw source === undefined ? notFound(error) : error;
    },
  );
  return loading;
}

/** Not every bundler takes the file along; none says so. */
function notFound(cause) {
  const advice = "put libacp_core_bg.wasm (libacp/wasm) beside the script, or say where it is with init(url)";
  return new Error(`libacp is not loaded: ${cause?.message ?? cause}; ${advice}`, { cause });
}

loadsWith(init);

export { ErrorCode } from "./codes.js";
export { Connection, cutOutput } from "./connection.js";
export * from "./misuse.js";
export { RawJson, raw } from "./json.js";
export { Observer } from "./observer.js";
export { PermissionPolicy } from "./policy.js";
export { SessionView } from "./view.js";
