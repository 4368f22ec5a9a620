// `libacp/http` for browsers, workers and bundlers: ready when `init` is.
import "./client.browser.js";
import { connector } from "./http.js";
import { nodeOnly } from "./transport.js";

export const connect = connector(nodeOnly("connect with a command"));

export { serve } from "./http.js";
export { RemoteError } from "./httperror.js";
export { HttpClient, HttpServer } from "./httpcore.js";
export { init } from "./httploads.js";
