// Loading the module of the remote transports, for browsers and bundlers. Read next: http.browser.js, http.only.js.
import { httpLoaded, httpLoadsWith } from "./httpcore.js";
import load, { HttpClient as Client, HttpServer as Server } from "./libacp_http.js";

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
