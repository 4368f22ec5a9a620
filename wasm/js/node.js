// The entry for Node and everything that has its file system: ready as soon as it is imported.
import { loaded } from "./connection.js";
import * as glue from "./libacp_core_node.js";
// A file beside this one would be missing wherever a bundler makes one file of a program.
import module from "./libacp_core_node_inline.js";

/** Short texts are read and written faster this way than by the platform's decoders, and Latin-1 at any length. */
const BUFFERS = {
  view: (buffer) => Buffer.from(buffer),
  read: (bytes, from, to, latin1) => (latin1 ? bytes.latin1Slice(from, to) : bytes.utf8Slice(from, to)),
  // Without a length, nothing is written where more than 2 GiB follow.
  write: (bytes, text, at) => bytes.write(text, at, Math.min(3 * text.length, bytes.length - at)),
  size: (text) => Buffer.byteLength(text),
};

loaded(glue, glue.initSync({ module: Buffer.from(module, "base64") }), BUFFERS);

export async function init() {}

export { ErrorCode } from "./codes.js";
export { Connection, cutOutput } from "./connection.js";
export * from "./misuse.js";
export { RawJson, raw } from "./json.js";
export { Observer } from "./observer.js";
export { PermissionPolicy } from "./policy.js";
export { SessionView } from "./view.js";
