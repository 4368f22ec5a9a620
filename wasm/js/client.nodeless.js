// The client where there is no Node: what needs processes and files says so.
import { nodeOnly } from "./transport.js";

export * from "./client.js";
export const Files = nodeOnly("Files");
export const ReadOnlyFiles = nodeOnly("ReadOnlyFiles");
export const Terminals = nodeOnly("Terminals");
export const childProcess = nodeOnly("childProcess");
export const nodeStreams = nodeOnly("nodeStreams");
export const guarded = nodeOnly("guarded");
export const spawnAgent = nodeOnly("spawnAgent");
export const stdio = nodeOnly("stdio");
