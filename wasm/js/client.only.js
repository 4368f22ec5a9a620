// `libacp/client/only` for browsers, workers and bundlers: `libacp/client` with a smaller module, which serves clients alone.
import { loader } from "./loads.js";
import load, { Budget, Core, busy, cutOutput as cut, offers, record, room } from "./libacp_client.js";

const glue = { Budget, Core, busy, cutOutput: cut, offers, record, room };
export const init = loader(load, glue, "libacp_client_bg.wasm", "libacp/wasm/client");

export * from "./client.nodeless.js";
