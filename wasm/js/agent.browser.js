// `libacp/agent` for browsers, workers and bundlers.
import "./browser.js";
import { nodeOnly } from "./transport.js";

export * from "./agent.js";
export { init } from "./browser.js";
export const childProcess = nodeOnly("childProcess");
export const nodeStreams = nodeOnly("nodeStreams");
export const stdio = nodeOnly("stdio");
