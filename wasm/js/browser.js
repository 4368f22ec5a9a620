// The entry for browsers and bundlers: ready when `init` is.
import { loader } from "./loads.js";
import load, { Budget, Core, Watch, busy, cutOutput as cut, offers, record, room } from "./libacp_core.js";

const glue = { Budget, Core, Watch, busy, cutOutput: cut, offers, record, room };
export const init = loader(load, glue, "libacp_core_bg.wasm", "libacp/wasm");

export { ErrorCode } from "./codes.js";
export { Connection, cutOutput } from "./connection.js";
export * from "./misuse.js";
export { RawJson, raw } from "./json.js";
export { Observer } from "./observer.js";
export { PermissionPolicy } from "./policy.js";
export { SessionView } from "./view.js";
