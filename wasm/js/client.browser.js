// `libacp/client` for browsers, workers and bundlers.
import "./browser.js";

export * from "./client.nodeless.js";
export { init } from "./browser.js";
