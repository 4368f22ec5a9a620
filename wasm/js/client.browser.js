// `libacp/client` for browsers, workers and bundlers.
import "./browser.js";
import { nodeOnly } from "./transport.js";

export * from "./client.js";
export { init } from "./browser.js";
export const Files = nodeOnly("Files");
export const ReadOnlyFiles = nodeOnly("ReadOnlyFiles");
export const Terminals = nodeOnly("Terminals");
export const childProcess = nodeOnly("childProcess");
export const nodeStreams = nodeOnly("nodeStreams");
export const guarded = nodeOnly("guarded");
export const spawnAgent = nodeOnly("spawnAgent");
export const stdio = nodeOnly("stdio");
