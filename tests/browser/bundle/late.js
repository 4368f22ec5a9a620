// A script that is no module, without a word of where the WebAssembly module is.
import { converse } from "./converse.js";

converse().catch(String).then((outcome) => parent.postMessage(outcome));
