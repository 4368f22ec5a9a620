/// <reference lib="esnext.disposable" />
/**
 * The remote transports, a draft of the specification: agents that are served over Streamable HTTP and WebSocket, and remote
 * agents for clients. `libacp/http/node` has what is Node's.
 */
import type { AgentPeer, Client, ConnectOptions, SpawnOptions } from "./client.js";
import type { Version } from "./index.js";
import type { Transport as Carrier } from "./shared.js";

/**
 * Loads the module of the remote transports: in a browser or a worker it is next to the script, or where `source` says.
 * `connect` and `serve` load it themselves. Under Node it is there already.
 */
export function init(source?: string | object): Promise<void>;

/** Headers, as `fetch` takes them. */
export type HeadersLike = Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/** What can be told about a rule that the other side broke. It has no text of the peer's. */
export interface RemoteReport {
  /** The id of the rule. */
  readonly rule: string;
  /** What was wrong, and what was done. */
  readonly message: string;
  /** The status with which it was refused; null if it was accepted. */
  readonly status?: number | null;
  /** The session, if it was about one. */
  readonly session?: string | null;
}

/** Bounds of a server; numbers of bytes and of things (HTTP-27). */
export interface ServerLimits {
  /** Bytes of one message from a client (16 MiB). */
  body?: number | undefined;
  /** Bytes of all bodies that are not complete (64 MiB). */
  bodies?: number | undefined;
  /** Headers of a request (100). */
  headers?: number | undefined;
  /** Bytes of all headers of a request (32 KiB). */
  headerBytes?: number | undefined;
  /** Open connections (10,000). */
  connections?: number | undefined;
  /** Sessions of a connection (256). */
  sessions?: number | undefined;
  /** Streams of a connection for sessions that it does not know yet (16). */
  earlyStreams?: number | undefined;
  /** Open calls of a connection, in each direction (1,024). */
  calls?: number | undefined;
  /** Bytes that wait for the reader of a stream or a socket; then the agent has to wait (1 MiB). */
  stream?: number | undefined;
  /** Bytes that wait for a stream that is not open (256 KiB). */
  unread?: number | undefined;
  /** Bytes of each stream that were written and are kept for readers that resume (`Last-Event-ID`): a draft (0). */
  retained?: number | undefined;
  /** Bytes that wait for the agent of a connection; then the client has to wait (4 MiB). */
  inbox?: number | undefined;
  /** Connections that are gone and whose end is still told (1,000). */
  remembered?: number | undefined;
}

/** Times of a server in milliseconds (HTTP-21, HTTP-28). */
export interface ServerTimes {
  /** A stream or a socket that is silent for so long gets a comment or a ping (15,000). */
  keepAlive?: number | undefined;
  /** A connection without a stream and without a request ends after this (600,000). */
  idle?: number | undefined;
  /** How long a body may take (30,000). */
  body?: number | undefined;
  /** How long `initialize` may take (30,000). */
  initialize?: number | undefined;
  /** How long a reader may take nothing while its buffer is full (60,000). */
  stall?: number | undefined;
  /** The same while another session of the connection waits behind it (15,000); never longer than `stall`. */
  blocking?: number | undefined;
  /** How long the answer to a load waits for its history to be read (2,000). */
  replay?: number | undefined;
  /** How long the end of a connection is told to those who ask for it (60,000). */
  remember?: number | undefined;
}

/** The settings of a server. By default it answers to names of this machine, and to no web page but its own. */
export interface ServerSettings {
  /** The path of the endpoint (`/acp`); empty for any. */
  path?: string | undefined;
  /** Every request has to carry it: `Authorization: Bearer …` (HTTP-25). */
  token?: string | undefined;
  /** What the ids of connections begin with, such as a name that a load balancer looks for. */
  prefix?: string | undefined;
  /** Hosts that are answered besides the names of this machine, such as `agents.example.com` (HTTP-24). */
  hosts?: readonly string[] | undefined;
  /** Answers to any host, for servers behind a proxy that checks it. */
  anyHost?: boolean | undefined;
  /** Origins of web pages that are served besides the server's own, such as `https://editor.example.com` (HTTP-23). */
  origins?: readonly string[] | undefined;
  /** Refuses what peers do otherwise than the draft says. */
  strict?: boolean | undefined;
  /** What is tolerated all the same. */
  tolerates?: readonly string[] | undefined;
  /** Bounds in place of the defaults, in bytes and counts (HTTP-27). */
  limits?: ServerLimits | undefined;
  /** Times in place of the defaults, in milliseconds (HTTP-28). */
  times?: ServerTimes | undefined;
}

/** Settings, and what a service tells. */
export interface ServeOptions extends ServerSettings {
  /** A client has opened a connection; `id` is the value of `Acp-Connection-Id`. */
  onOpen?: ((opened: { readonly connection: number; readonly id: string }) => void) | undefined;
  /** A connection is over. */
  onClose?: ((closed: { readonly connection: number; readonly why: string }) => void) | undefined;
  /** A client broke a rule. */
  onViolation?: ((report: RemoteReport) => void) | undefined;
  /** An agent did what is allowed and will not work well. */
  onAdvice?: ((report: RemoteReport) => void) | undefined;
  /** An agent, or a function that makes one, has failed. */
  onError?: ((error: unknown) => void) | undefined;
  /** Takes lines of the log instead of the console. */
  log?: unknown;
}

/** An agent, or anything else that serves a transport. */
export interface Served {
  /** Serves one connection on a transport until it ends, as `Agent` does. */
  serve(transport: Carrier): PromiseLike<unknown> | unknown;
}
/** An agent for all connections, or a function that makes one for each. */
export type Serves = Served | ((connection: { readonly id: string }) => Served | PromiseLike<Served>);

/** What {@link Service.upgrade} takes of a socket: a standard WebSocket, or one of the package `ws`. */
export interface ServerSocket {
  /** What binary frames are given as, where the socket has a choice. */
  binaryType: string;
  /** 1 while the socket is open, as in a browser. */
  readonly readyState: number;
  /** Bytes that wait to be sent. */
  readonly bufferedAmount: number;
  /** Sends a text frame. */
  send(data: string): void;
  /** Closes the socket with a code and a reason. */
  close(code?: number, reason?: string): void;
  /** Calls a function at each event of a name: `message`, `close`, `error`. */
  addEventListener(type: string, listener: (event: any) => void): void;
}

/** Agents that are served to remote clients. */
export interface Service {
  /** The number of open connections. */
  readonly connections: number;
  /** Answers a request. It needs no `this`: `export default serve(agent)`, `Deno.serve(serve(agent).fetch)`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Asks whether the WebSocket may be opened that a request wants. If not, there is a `response` to send. Otherwise accept
   * the socket with `headers`, and pass it to `take`; or call `abandon`.
   */
  upgrade(request: Request): Promise<
    | { readonly response: Response; readonly headers?: undefined }
    | {
        readonly response?: undefined;
        readonly headers: readonly (readonly [string, string])[];
        take(socket: ServerSocket): void;
        abandon(): void;
      }
  >;
  /** Ends all connections, and waits up to `grace` milliseconds (5,000) for their agents. */
  close(options?: { grace?: number | undefined }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Serves an agent to remote clients, one conversation for each connection. Nothing listens yet: see {@link Service}. */
export function serve(agent: Serves, options?: ServeOptions): Service;

/** What was lost with a connection. */
export interface Lost {
  /** The ids of calls that nobody will answer. Whether the agent has carried them out is unknown (HTTP-18). */
  readonly calls: readonly unknown[];
  /** The ids of the agent's requests that need no answer any more. */
  readonly questions: readonly unknown[];
  /** Sessions, which are opened again as soon as there is a connection, if the agent can. */
  readonly sessions: readonly string[];
  /** The code with which the server closed the WebSocket (RFC 6455, 7.4): 1009 if a message was over its limit. */
  readonly code?: number;
}

/** What happens to the transport of a remote agent. */
export type TransportEvent =
  /** The first connection is tried. */
  | { readonly type: "connecting"; readonly carrier: "http" | "websocket" }
  /** There is a connection, for the first time or again. */
  | { readonly type: "connected"; readonly carrier: "http" | "websocket"; readonly id?: string }
  /** The connection, or what a session had to say, was lost. Calls that were open have rejected: their outcome is unknown. */
  | ({ readonly type: "lost" } & Lost)
  /** Another attempt is made after so many milliseconds. */
  | { readonly type: "retrying"; readonly wait: number }
  /** A session is open again; if `replayed`, its history was told once more, as `replayed` events. */
  | { readonly type: "attached"; readonly session: string; readonly replayed: boolean }
  /** A session could not be opened again, and is over. */
  | { readonly type: "detached"; readonly session: string }
  /** What an agent has told of a session while it was opened again. Its updates are not those of a turn. */
  | { readonly type: "replayed"; readonly session: string; readonly params: any }
  /** A stream broke and is open again; messages that were on their way may be missing. */
  | { readonly type: "gap"; readonly session: string | null }
  /**
   * Nothing has come on a stream for so many milliseconds although an answer is due there, as behind a proxy that buffers responses;
   * `head` says whether the response has begun, `message` what to do. It stays open.
   */
  | { readonly type: "silent"; readonly session: string | null; readonly waited: number; readonly head: boolean; readonly message: string }
  /** The server wants other credentials: see `authorize`. */
  | { readonly type: "unauthorized"; readonly status: number; readonly challenge: string | null }
  /** The server refused an answer or a notification; `message` is what it says. */
  | { readonly type: "refused"; readonly status: number; readonly method: string; readonly message?: string }
  /** The server broke a rule of the transport. */
  | { readonly type: "violation"; readonly rule: string; readonly message: string; readonly session?: string | null }
  /** The conversation is over. */
  | { readonly type: "closed"; readonly why: string; readonly status?: number | null };

/** Bounds of a client (HTTP-27). */
export interface ClientLimits {
  /** Bytes of one message from the server (64 MiB). */
  message?: number | undefined;
  /** Bytes of messages that wait to be sent (4 MiB). */
  outbox?: number | undefined;
  /** Open calls in each direction (1,024). */
  calls?: number | undefined;
  /** Sessions (256). */
  sessions?: number | undefined;
  /**
   * Streams that can be open at once, one for the connection and one for each session. In a browser over `http:` there are 5,
   * as it makes six requests to a host at a time; a session that does not fit is refused with a `LimitMisuse`. Set it where
   * something else bounds them.
   */
  streams?: number | undefined;
}

/** Times of a client in milliseconds. */
export interface ClientTimes {
  /** How long a session has to be silent before the answer to its load ends its history (50); 0 for not at all. */
  quiet?: number | undefined;
  /** How long that answer waits at most (2,000). */
  replay?: number | undefined;
  /** How long the messages of a session wait for its stream to open (1,000). */
  open?: number | undefined;
  /** How long a request may take until its response begins, and `initialize` until it is answered (30,000). */
  response?: number | undefined;
  /**
   * How long nothing may come on any stream while the answer to a call that the server has accepted is due on one, before that is told
   * as `silent` (20,000); 0 for never. It should be longer than the time between the comments of the server (HTTP-21).
   */
  first?: number | undefined;
  /**
   * How long a stream that has had comments may be silent, and how long one that does not come back is looked for before what it
   * belongs to is given up (75,000). It should be longer than the server keeps a connection that nobody uses.
   */
  silence?: number | undefined;
  /** How long a stream that broke has to be silent before calls are reported as lost (300,000). */
  doubt?: number | undefined;
  /** The time before the second attempt to reconnect; it doubles with each (250). */
  retry?: number | undefined;
  /** The longest time between attempts (30,000). */
  longestRetry?: number | undefined;
  /** How long a lost connection is tried to be opened again, until one lasts for 5 seconds (300,000). */
  giveUp?: number | undefined;
}

/** The settings of a remote connection. */
export interface ClientSettings {
  /** Opens the connection again when it was lost, and its sessions in it (true). */
  reconnect?: boolean | undefined;
  /** Sends `Last-Event-ID` to servers that give events ids: a draft. */
  resumable?: boolean | undefined;
  /** Refuses what servers do otherwise than the draft says. */
  strict?: boolean | undefined;
  /** What is tolerated all the same. */
  tolerates?: readonly string[] | undefined;
  /** Bounds in place of the defaults, in bytes and counts (HTTP-27). */
  limits?: ClientLimits | undefined;
  /** Times in place of the defaults, in milliseconds (HTTP-28). */
  times?: ClientTimes | undefined;
}

/** How to connect to a remote agent. */
export interface RemoteOptions extends ConnectOptions, ClientSettings {
  /**
   * What carries messages to an address of http or https. `auto`: a WebSocket, if the platform has one that can send the
   * headers, and requests if that does not open; what has worked is remembered for the origin.
   */
  transport?: "auto" | "http" | "websocket" | undefined;
  /** Headers of all requests, such as `authorization`. The WebSocket of a browser cannot send any. */
  headers?: HeadersLike | undefined;
  /** Called when the server answers 401 or 403; returns other headers to go on with, or nothing to give up. */
  authorize?:
    | ((asked: { readonly status: number; readonly challenge: string | null }) => HeadersLike | undefined | PromiseLike<HeadersLike | undefined>)
    | undefined;
  /** Called with what happens to the connection. */
  onTransport?: ((event: TransportEvent) => unknown) | undefined;
  /** Keeps trying to open the first connection until `timeout` (false). */
  patient?: boolean | undefined;
  /** Makes the requests, in place of the platform's `fetch`; under Node, `http2Fetch()` speaks HTTP/2. */
  fetch?: ((url: string, init: any) => Promise<Pick<Response, "status" | "headers" | "body">>) | undefined;
  /** In place of the platform's WebSocket, such as the class of the package `ws`. */
  WebSocket?: (new (url: string, ...more: any[]) => any) | undefined;
  /** Which cookies a browser sends. */
  credentials?: "omit" | "same-origin" | "include" | undefined;
}

/** Connects to a remote agent at an address of http, https, ws or wss. */
export function connect<V extends Version = 1>(address: string | URL, client?: Client<V>, options?: RemoteOptions): Promise<AgentPeer<V>>;
/** Starts an agent as a child process, as `spawnAgent` does. Node only. */
export function connect<V extends Version = 1>(command: readonly string[], client?: Client<V>, options?: SpawnOptions): Promise<AgentPeer<V>>;
/** Connects to the agent at the other end of a transport. */
export function connect<V extends Version = 1>(transport: Carrier, client?: Client<V>, options?: ConnectOptions): Promise<AgentPeer<V>>;

/** Why a conversation with a remote agent is over; the `cause` of errors of its calls. */
export class RemoteError extends Error {
  private constructor();
  readonly name: "RemoteError";
  /** `not-initialized`, `not-served`, `refused`, `unreachable` or `protocol`. */
  readonly why: string;
  /** The status of the response, if there was one. */
  readonly status: number | undefined;
}

/** A response, of which header names are in lower case. */
export interface RemoteResponse {
  /** The status. */
  readonly status: number;
  /** The headers, names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** The body: empty, or a JSON text. */
  readonly body: string;
}
/** Headers: pairs of a name and a value. */
type HeaderList = Iterable<readonly [string, string]>;

/** What to do with a request. */
export type ServerStep =
  | ({ readonly step: "respond" } & RemoteResponse)
  | { readonly step: "body"; readonly limit: number }
  | { readonly step: "wait" }
  | ({ readonly step: "stream" | "upgrade" } & RemoteResponse);

/** Something that has happened in a server. */
export type ServerEvent =
  | { readonly event: "opened" | "drained"; readonly connection: number }
  | { readonly event: "message"; readonly connection: number; readonly json: string }
  | { readonly event: "closed"; readonly connection: number; readonly why: string }
  | { readonly event: "respond"; readonly exchange: number; readonly response: RemoteResponse }
  | { readonly event: "ready" | "finish"; readonly exchange: number }
  | ({ readonly event: "violation" | "advice"; readonly exchange: number | null; readonly connection: number | null } & RemoteReport);

/** A frame to send on a socket. */
export type SocketFrame =
  | { readonly frame: "text"; readonly text: string }
  | { readonly frame: "ping" }
  | { readonly frame: "close"; readonly code: number; readonly reason: string };

/**
 * The server without I/O, for hosts with their own loop. The host gives each request a number, the *exchange*, does what
 * `request` and `body` return, and polls events until there are none after each call.
 */
export class HttpServer {
  constructor(options?: ServerSettings);
  /** The number of open connections. */
  readonly connections: number;
  /** Adds random bytes, of which the ids of connections are made; `wantsEntropy` says how many there is room for. */
  addEntropy(bytes: Uint8Array): void;
  /** How many random bytes there is room for; 0 while there are enough. */
  wantsEntropy(): number;
  /** The value of `Acp-Connection-Id` of a connection; `undefined` for one that is over. */
  connectionId(connection: number): string | undefined;
  /** The head of a request; what to do with it. */
  request(exchange: number, head: { method: string; target: string; headers?: HeaderList }): ServerStep;
  /** Bytes of its body, and whether they are the last; what to do then. */
  body(exchange: number, bytes: Uint8Array, end: boolean): ServerStep;
  /** The next event; `undefined` when there is none. Poll after each call that passes something in. */
  pollEvent(): ServerEvent | undefined;
  /** Sends a message of an agent, as text or in UTF-8. `full`: send it again after `drained`. Throws a `Misuse` for what cannot be sent. */
  send(connection: number, json: string | Uint8Array): "sent" | "full" | "closed";
  /** Ends a connection because its agent is gone, or the server stops. */
  close(connection: number): void;
  /**
   * Ends a connection because its agent has failed: the client's open calls are first answered with an error that says why.
   * `initialize` is answered like that with status 200 and without the id of a connection (HTTP-03); the outcome of other calls
   * is unknown.
   */
  fail(connection: number, why: string): void;
  /** Holds the messages of a client back, or goes on with them. */
  pause(connection: number, paused: boolean): void;
  /** Whether to read more from the socket of an exchange. */
  isHungry(exchange: number): boolean;
  /** A copy of the bytes to write on a stream; `consume` those that were written. */
  transmit(exchange: number, most?: number): Uint8Array;
  /** Removes bytes from the front of a stream after they were written. */
  consume(exchange: number, count: number): void;
  /** An exchange is over: its connection broke, or the end of its stream was written. */
  closed(exchange: number): void;
  /** A text frame came on a socket, as text or in UTF-8. */
  text(exchange: number, text: string | Uint8Array): void;
  /** A binary frame came on a socket; it is ignored and reported (WS-04). */
  binary(exchange: number): void;
  /** A pong came on a socket. */
  pong(exchange: number): void;
  /** The next frame to send on a socket; `undefined` when there is none. */
  frame(exchange: number): SocketFrame | undefined;
  /** Sets the time, in milliseconds of a monotonic clock. */
  handleTimeout(now: number): void;
  /** When to set the time next; `undefined` when nothing is waited for. */
  pollTimeout(): number | undefined;
  /** Releases the memory. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Something to do, or that has happened, in a client. */
export type ClientAction =
  | {
      readonly event: "request";
      readonly exchange: number;
      readonly method: "GET" | "POST" | "DELETE";
      readonly target: string;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: string;
    }
  | { readonly event: "connect"; readonly exchange: number; readonly headers: readonly (readonly [string, string])[] }
  | { readonly event: "frame"; readonly exchange: number; readonly frame: SocketFrame }
  | { readonly event: "abort"; readonly exchange: number }
  | { readonly event: "message"; readonly json: string; readonly replayed: boolean }
  | { readonly event: "connected"; readonly id: string }
  | ({ readonly event: "lost" } & Lost)
  | { readonly event: "retrying"; readonly at: number }
  | { readonly event: "attached"; readonly session: string; readonly replayed: boolean }
  | { readonly event: "detached"; readonly session: string }
  | { readonly event: "gap"; readonly session: string | null }
  | { readonly event: "silent"; readonly session: string | null; readonly waited: number; readonly head: boolean; readonly message: string }
  | { readonly event: "unauthorized"; readonly status: number; readonly challenge: string | null }
  | { readonly event: "refused"; readonly status: number; readonly method: string; readonly message?: string }
  | { readonly event: "violation"; readonly rule: string; readonly message: string; readonly session: string | null }
  | { readonly event: "closed"; readonly why: string; readonly status?: number };

/** The client without I/O. The host sends messages as to an agent on a pipe, and does what `pollAction` says. */
export class HttpClient {
  constructor(
    options?: ClientSettings & { target?: string; host?: string; secure?: boolean; websocket?: boolean },
    seed?: number,
  );
  /** Whether `send` takes more. */
  readonly isHungry: boolean;
  /** The value of `Acp-Connection-Id`, while there is a connection. */
  readonly connectionId: string | undefined;
  /** Sets a header of all requests from now on; `false` if it cannot be one. */
  setHeader(name: string, value: string): boolean;
  /** The next thing to do, or that has happened; `undefined` when there is none. */
  pollAction(): ClientAction | undefined;
  /** Sends a message of the host, as text or in UTF-8. `full`: send it again once it is hungry. Throws a `Misuse` for what cannot be sent. */
  send(json: string | Uint8Array): "sent" | "full" | "closed";
  /** The head of the response of an exchange. */
  response(exchange: number, status: number, headers?: HeaderList): void;
  /** Bytes of its body. */
  data(exchange: number, bytes: Uint8Array): void;
  /** The end of its body, or of a socket. */
  end(exchange: number): void;
  /** A request came to nothing; `sent` says whether the server may have it. */
  failed(exchange: number, sent: boolean): void;
  /** A text frame came on the socket, as text or in UTF-8. */
  text(exchange: number, text: string | Uint8Array): void;
  /** A binary frame came on the socket (WS-04). */
  binary(exchange: number): void;
  /** The server closed the socket with this code, which `lost` then names (RFC 6455, 7.4). */
  closed(exchange: number, code: number): void;
  /** Ends the conversation. */
  close(): void;
  /** Goes on after `unauthorized`, with the headers that are set now. */
  retry(): void;
  /** Sets the time, in milliseconds of a monotonic clock. */
  handleTimeout(now: number): void;
  /** When to set the time next; `undefined` when nothing is waited for. */
  pollTimeout(): number | undefined;
  /** Releases the memory. */
  free(): void;
  [Symbol.dispose](): void;
}
