// What the entries for agents and for clients have in common.
export { ErrorCode } from "./codes.js";
export { AgentEnded, NoResult, PeerError, RequestError } from "./errors.js";
export { printable } from "./log.js";
export * from "./misuse.js";
export { messagePort, streams, webSocket } from "./transport.js";
