// The entry for Node and everything that has its file system: ready as soon as it is imported.
import { readFileSync } from "node:fs";
import { loaded } from "./connection.js";
import { initSync } from "./libacp_core.js";

initSync({ module: readFileSync(new URL("./libacp_core_bg.wasm", import.meta.url)) });
loaded();

export async function init() {}

export { ErrorCode } from "./codes.js";
export { Connection, cutOutput } from "./connection.js";
export * from "./misuse.js";
export { RawJson, raw } from "./json.js";
