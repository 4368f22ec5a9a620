/**
 * `libacp/http` for pages that are clients alone: remote agents for the clients of `libacp/client/only`, whose module it shares.
 */
export { HttpClient, RemoteError, connect, init } from "./http.js";
export type {
  ClientAction, ClientLimits, ClientSettings, ClientTimes, HeadersLike, RemoteOptions, RemoteReport, RemoteResponse, SocketFrame,
  TransportEvent,
} from "./http.js";
