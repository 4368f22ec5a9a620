// `libacp/http` for Node.
import "./client.node.js";
import { connector } from "./http.js";
import { httpLoaded } from "./httpcore.js";
import * as glue from "./libacp_http_node.js";
import module from "./libacp_http_node_inline.js";
import { spawnAgent } from "./spawn.node.js";

glue.initSync({ module: Buffer.from(module, "base64") });
httpLoaded(glue);

export async function init() {}
export const connect = connector(spawnAgent);

export { serve } from "./http.js";
export { RemoteError } from "./httperror.js";
export { HttpClient, HttpServer } from "./httpcore.js";
