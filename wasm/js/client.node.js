// `libacp/client` for Node.
import "./node.js";
import "./trace.node.js";

export * from "./client.js";
export { Files, ReadOnlyFiles } from "./files.node.js";
export { guarded } from "./guard.node.js";
export { init } from "./node.js";
export { childProcess, nodeStreams, stdio } from "./process.node.js";
export { spawnAgent } from "./spawn.node.js";
export { Terminals } from "./terminals.node.js";
