// Loading the module of an entry for browsers and bundlers. Read next: browser.js, client.only.js.
import { loaded, loadsWith } from "./connection.js";

/** Not every bundler takes the file along; none says so. */
function notFound(cause, file, entry) {
  const advice = `put ${file} (${entry}) beside the script, or say where it is with init(url)`;
  return new Error(`libacp is not loaded: ${cause?.message ?? cause}; ${advice}`, { cause });
}

/** The `init` of an entry: it loads the WebAssembly file, once; a failure may be tried again. */
export function loader(load, glue, file, entry) {
  let loading;
  const init = (source) => {
    const began = () => load(source === undefined ? undefined : { module_or_path: source });
    loading ??= began().then(
      (exports) => loaded(glue, exports),
      (error) => {
        loading = undefined;
        throw source === undefined ? notFound(error, file, entry) : error;
      },
    );
    return loading;
  };
  loadsWith(init);
  return init;
}
