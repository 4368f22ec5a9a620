// The same as a script that has everything in it, the WebAssembly module too.
// ANCHOR: one
import { init } from "libacp/client";
import { bytes } from "libacp/inline";

const ready = init(bytes());
// ANCHOR_END: one
import { converse } from "./converse.js";

ready.then(converse).catch(String).then((outcome) => parent.postMessage(outcome));
