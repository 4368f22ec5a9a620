// `libacp/agent` for Node.
import "./node.js";
import "./disk.node.js";
import "./trace.node.js";
import { Agent as Anywhere } from "./agent.js";
import { stdio } from "./process.node.js";

export * from "./agent.js";
export { init } from "./node.js";
export { childProcess, nodeStreams, stdio } from "./process.node.js";

export class Agent extends Anywhere {
  serve(transport = stdio(), options) {
    return super.serve(transport, options);
  }
}
