// `libacp/http` for browsers, workers and bundlers: ready when `init` is.
import "./client.browser.js";
import { connector } from "./http.js";
import { httpLoaded, httpLoadsWith } from "./httpcore.js";
import load, { HttpClient as Client, HttpServer as Server } from "./libacp_http.js";
import { nodeOnly } from "./transport.js";

let loading;

/** Loads the WebAssembly file of the remote transports, once; a failure may be tried again. */
export function init(source) {
  loading ??= load(source === undefined ? undefined : { module_or_path: source }).then(
    () => httpLoaded({ HttpClient: Client, HttpServer: Server }),
    (error) => {
      loading = undefined;
      throw source === undefined ? notFound(error) : error;
    },
  );
  return loading;
}

function notFound(cause) {
  const advice = "put libacp_http_bg.wasm (libacp/http/wasm) beside the script, or say where it is with init(url)";
  return new Error(`libacp/http is not loaded: ${cause?.message ?? cause}; ${advice}`, { cause });
}

httpLoadsWith(init);

export const connect = connector(nodeOnly("connect with a command"));

export { serve } from "./http.js";
export { RemoteError } from "./httperror.js";
export { HttpClient, HttpServer } from "./httpcore.js";
