// `libacp/http/only` for browsers, workers and bundlers: remote agents for the clients of `libacp/client/only`.
import "./client.only.js";
import { connector } from "./http.js";
import { nodeOnly } from "./transport.js";

export const connect = connector(nodeOnly("connect with a command"));

export { RemoteError } from "./httperror.js";
export { HttpClient } from "./httpcore.js";
export { init } from "./httploads.js";
