// What the bundlers are given: a conversation in a page, which tells its parent how that went.
import { converse } from "./converse.js";

parent.postMessage(await converse().catch(String));
