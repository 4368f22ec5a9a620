/** The common part of `libacp/agent` and `libacp/client`. */
import type {
  AdviceEvent,
  Connection,
  Draft,
  LateResponseEvent,
  Limits,
  Misuse,
  Policy,
  Role,
  Severity,
  Version,
  ViolationEvent,
} from "./index.js";
import type { PeerError as ErrorAnswer } from "./event.js";
import type { ProtocolVersion, RequestId, v1, v2 } from "./types.js";

export {
  CapabilityMisuse,
  ErrorCode,
  IdMisuse,
  LimitMisuse,
  MethodMisuse,
  Misuse,
  ParamsMisuse,
  PhaseMisuse,
  SessionMisuse,
  init,
} from "./index.js";
export type { v1, v2 } from "./types.js";

/** An update of the versions that may be agreed on. */
export type UpdateOf<V extends Version> = (1 extends V ? v1.SessionUpdate : never) | (2 extends V ? v2.SessionUpdate : never);

/**
 * The peer answered a request with an error. `message` has the method, the error's message with the text in its `data`
 * (`data` itself, `data.details` or `data.message`), and the code. It is safe to print: control characters are escaped,
 * and it is at most a page long.
 */
export class PeerError extends Error {
  private constructor();
  /** The name of the class. */
  readonly name: "PeerError";
  /** The original error. */
  readonly error: Readonly<ErrorAnswer>;
  /** The method of the request. */
  readonly method: string;
  /** The error code; unknown codes are kept. */
  readonly code: number;
  /** The data of the error, if there is any. */
  readonly data?: unknown;
}

/**
 * A request ended without a valid answer: the answer was invalid, there was none in time, or the connection ended
 * first. An answer that comes too late goes to `onLateResponse`.
 */
export class NoResult extends Error {
  protected constructor();
  /** The name of the class. */
  readonly name: string;
  /** The method of the request. */
  readonly method: string;
  /**
   * How the request ended. `unknown`: the connection to a remote agent was lost before the answer came, and whether the
   * agent has done what was asked is unknown.
   */
  readonly outcome: "invalid" | "timeout" | "cancelled" | "closed" | "unknown";
}

/** The agent's process ended before it answered. */
export class AgentEnded extends NoResult {
  private constructor();
  /** The exit code of the process; null if a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended the process, if one did. */
  readonly signal: string | null;
  /** The last lines of its standard error, unchanged; empty unless `stderr` is a function. */
  readonly stderr: readonly string[];
}

/**
 * A handler throws this to answer its request with an error. Any other error is logged, and answered with an internal
 * error without details.
 */
export class RequestError extends Error {
  constructor(code: number, message: string, data?: unknown);
  /** The name of the class. */
  readonly name: "RequestError";
  /** The error code. */
  readonly code: number;
  /** The data of the error. */
  readonly data?: unknown;
}

/**
 * Escapes control characters, and characters that change the direction of text, in text of a peer that goes to a
 * terminal or a log. Line feeds and tabs stay. The library logs text of a peer in this form.
 */
export function printable(text: string): string;

/**
 * A transport for messages. The functions below create one from the streams of a platform; any object of this form
 * works.
 */
export interface Transport {
  /** The incoming bytes or text, split in any way; with the framing `messages`, one message at a time. */
  readonly readable: AsyncIterable<Uint8Array | string>;
  /**
   * Writes bytes. The returned promise settles when more can be written; without a promise, more can be written
   * immediately.
   */
  write(bytes: Uint8Array): PromiseLike<unknown> | void;
  /** Closes this side. */
  close(): PromiseLike<unknown> | void;
  /** How messages are separated; by lines by default. */
  readonly framing?: "lines" | "content-length" | "messages" | undefined;
}

/** A transport to a process. */
export interface ProcessTransport<Child = ChildLike> extends Transport {
  /** The process. */
  readonly process: Child;
}

interface ReadableLike {
  getReader(): { read(): Promise<{ done: boolean; value?: unknown }>; cancel(): Promise<void> };
}
interface WritableLike {
  getWriter(): { readonly ready: Promise<unknown>; write(chunk: Uint8Array): Promise<void>; close(): Promise<void> };
}
interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: any) => void): void;
}
interface PortLike {
  postMessage(message: unknown, transfer: any[]): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  removeEventListener(type: string, listener: (event: any) => void): void;
}
interface NodeWorkerLike {
  postMessage(message: unknown, transfer: any[]): void;
  on(event: string, listener: (...args: any[]) => void): unknown;
  off(event: string, listener: (...args: any[]) => void): unknown;
}
interface NodeWritableLike {
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  on(event: string, listener: (...args: any[]) => void): unknown;
}
/** The used part of a child process of Node. */
export interface ChildLike {
  readonly stdin: NodeWritableLike | null;
  readonly stdout: AsyncIterable<any> | null;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  readonly pid?: number | undefined;
  kill(signal?: any): boolean;
  once(event: string, listener: (...args: any[]) => void): unknown;
}

/** A transport on a pair of web streams of bytes or text. */
export function streams(
  readable: ReadableLike,
  writable: WritableLike,
  options?: { framing?: "lines" | "content-length" | "messages" },
): Transport;

/**
 * A transport on a WebSocket, or the address of one, with one message per frame. A socket cannot slow the peer down, so
 * the connection ends if the peer is more than `most` bytes (64 MiB) ahead of this side.
 */
export function webSocket(
  socket: SocketLike | string | URL,
  options?: { protocols?: string | string[]; most?: number },
): Transport;

/**
 * A transport on a message port, a worker (also of Node), or the global scope of one; `most` as for {@link webSocket}.
 * A null message is the end of the stream.
 */
export function messagePort(port: PortLike | NodeWorkerLike, options?: { most?: number }): Transport;

/** A transport to a child process whose input and output are pipes. Node only. */
export function childProcess<Child extends ChildLike>(
  child: Child,
  options?: {
    /** Whether it was started in its own process group (`detached`), which is then ended as a whole (false). */
    group?: boolean | undefined;
  },
): ProcessTransport<Child>;

/** A transport on a pair of Node streams, or on one socket passed twice. Node only. */
export function nodeStreams(
  readable: AsyncIterable<any>,
  writable: NodeWritableLike,
  options?: { framing?: "lines" | "content-length" | "messages" },
): Transport;

/**
 * A transport on standard input and output. Until it is closed, everything that the program prints goes to standard
 * error. Node only.
 */
export function stdio(): Transport;

/** The `_meta` of a message: data that neither side has to understand, such as a trace context. */
export interface MetaOption {
  /** Sent as `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Options for a call that has its own function. */
export interface NamedCallOptions extends CallOptions, MetaOption {}

/** Options for a request. */
export interface CallOptions {
  /** When it aborts, the peer is asked to cancel the request, and the call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the call rejects with {@link NoResult}. */
  timeout?: number | undefined;
}

/** The level of a log line. */
export type LogLevel = "debug" | "warn" | "error";

/** Called with each message that is sent or received. */
export type Trace = (direction: "sent" | "received", message: string) => unknown;

/** The options that agents and clients have in common. */
export interface HostOptions<Session = unknown, V extends Version = Version> {
  /**
   * The protocol versions that may be agreed on: `[1]` by default, `[2]`, or `[1, 2]`. Handlers and calls are the same
   * in both: they have the methods, params and results of version 1.
   */
  versions?: readonly V[] | undefined;
  /** The name to show to users. */
  title?: string | undefined;
  /** Called with each violation by a peer. Violations are also logged, at most five per rule in ten seconds. */
  onViolation?: ((violation: ViolationEvent) => unknown) | undefined;
  /** Called with each recommendation about the host's own messages. */
  onAdvice?: ((advice: AdviceEvent) => unknown) | undefined;
  /**
   * Called with an error that escapes a handler or a hook, and with its method or name. Without this hook the error is
   * logged. It is not called for a {@link RequestError}, which is an answer.
   */
  onError?: ((error: unknown, failed: { readonly method: string }) => unknown) | undefined;
  /** Called when a session has ended: it was closed, deleted or replaced, or its connection has ended. */
  onSessionEnd?: ((session: Session) => unknown) | undefined;
  /** Whether the text of an error that escapes a handler is sent to the peer, in `data.details` (false). */
  exposeErrors?: boolean | undefined;
  /** Maximum number of requests that are handled at a time; others wait. No limit by default. */
  maxRequests?: number | undefined;
  /** The timeout, in milliseconds, of every request that has none of its own. No timeout by default. */
  timeout?: number | undefined;
  /**
   * Where the library logs to: the console (true), which is standard error under Node, nowhere (false), or a function.
   */
  log?: boolean | ((level: LogLevel, line: string) => unknown) | undefined;
  /**
   * Where to record all messages: a function, or under Node the path of a file to which they are appended; false for
   * nowhere. The default is the file that the environment variable `LIBACP_TRACE` names, if it is set. Messages contain
   * everything that the user writes.
   */
  trace?: string | false | Trace | undefined;
  /**
   * Called with answers to requests that had timed out or been cancelled, after the library has released a terminal
   * that the answer opened, or closed a new session if the agent supports that.
   */
  onLateResponse?: ((response: LateResponseEvent) => unknown) | undefined;
  /** How messages are separated, if the transport does not define it. */
  framing?: "lines" | "content-length" | "messages" | undefined;
  /** How messages of the peer that break a rule are handled; `tolerant` by default. */
  policy?: Policy | undefined;
  /** Policies for the rules of one severity, in place of `policy`. */
  policies?: { [S in Severity]?: Policy | undefined } | undefined;
  /** Limits that differ from the defaults. */
  limits?: Partial<Limits> | undefined;
  /** The enabled drafts. */
  drafts?: readonly Draft[] | undefined;
  /** Milliseconds that the peer has to answer a cancelled request (10,000); null for no limit. */
  cancelGrace?: number | null | undefined;
  /** Milliseconds after which an unanswered request of the peer is reported as advice. */
  reminder?: number | undefined;
  /** Whether a session may have several open prompts, for agents that queue prompts. */
  promptQueueing?: boolean | undefined;
  /**
   * Methods to call or serve although the specification does not define them and they do not begin with an underscore.
   */
  foreignMethods?: readonly string[] | undefined;
}

/** A value, or a promise of one. */
export type Awaitable<T> = T | PromiseLike<T>;
/** The name of an extension method. */
export type Extension = `_${string}`;
// `Omit` keeps only what all members of a union have, and nothing but the index signature of one that has such.
type Given<P> = P extends unknown ? { [K in keyof P as K extends "sessionId" ? never : K]: P[K] } : never;
type Rest<P> = {} extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions];
type About<P, Session, Other> = P extends { sessionId: string } ? Session : Other;
/** A result without required members may be omitted. */
type Returned<T> = {} extends T ? T | void : T;
type Params<T> = T extends { params: infer P } ? P : never;
type Result<T> = T extends { result: infer R } ? R : never;

/** The additional argument of a handler of requests. */
export interface How {
  /** The id of the request, which an elicitation can name. */
  readonly id: RequestId;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /**
   * Reserves memory for the answer before it is produced. All answers of a connection that are being produced or wait
   * to be written share 16 MiB: if there is not enough room now, it returns a promise. A single larger answer goes
   * alone.
   */
  reserve(bytes: number): Promise<void> | undefined;
}

/** The handler for a method. If a request and a notification have the same method, it handles both. */
export type HandlerOf<M, Requests, Notifications, Session, Other> = M extends keyof Requests
  ? (
      subject: About<Params<Requests[M]>, Session, Other>,
      params: Params<Requests[M]> | (M extends keyof Notifications ? Params<Notifications[M]> : never),
      how: How,
    ) => Awaitable<Returned<Result<Requests[M]>> | (M extends keyof Notifications ? void : never)>
  : M extends keyof Notifications
    ? (subject: About<Params<Notifications[M]>, Session, Other>, params: Params<Notifications[M]>) => unknown
    : (subject: Session | Other, params: any, how: How) => unknown;

/**
 * Registers a handler for a method. Handlers of requests run concurrently, those of notifications one after another.
 */
export interface On<Requests, Notifications, Session, Other, Self> {
  <M extends Exclude<keyof Requests | keyof Notifications, "$/cancel_request"> | Extension>(
    method: M,
    handler: HandlerOf<M, Requests, Notifications, Session, Other>,
  ): Self;
}

// In what follows, the known methods come last: that is where a compiler says what is wrong.

/** Sends a request to a peer. */
export interface Request<Requests> {
  <T = unknown>(method: Extension, params?: unknown, options?: CallOptions): Promise<T>;
  <M extends keyof Requests & string>(method: M, ...rest: Rest<Params<Requests[M]>>): Promise<Result<Requests[M]>>;
}

/** Sends a request about one session, whose id is added. */
export interface SessionRequest<Requests> {
  <T = unknown>(method: Extension, params?: object, options?: CallOptions): Promise<T>;
  <M extends keyof Requests & string>(method: M, ...rest: Rest<Given<Params<Requests[M]>>>): Promise<Result<Requests[M]>>;
}

/** Sends a notification to a peer. */
export interface Notify<Notifications> {
  (method: Extension, params?: unknown, options?: { signal?: AbortSignal }): Promise<void>;
  <M extends keyof Notifications & string>(
    method: M,
    params: Params<Notifications[M]>,
    options?: { signal?: AbortSignal },
  ): Promise<void>;
}

/** Sends a notification about one session, whose id is added. */
export interface SessionNotify<Notifications> {
  (method: Extension, params?: object, options?: { signal?: AbortSignal }): Promise<void>;
  <M extends keyof Notifications & string>(
    method: M,
    ...rest: {} extends Given<Params<Notifications[M]>>
      ? [params?: Given<Params<Notifications[M]>>, options?: { signal?: AbortSignal }]
      : [params: Given<Params<Notifications[M]>>, options?: { signal?: AbortSignal }]
  ): Promise<void>;
}

/** The other side of a connection. */
export interface Peer<R extends Role, Requests, Notifications, V extends Version = 1> {
  /**
   * The underlying connection, to inspect its state, which is that of the agreed version. Code that feeds it takes over
   * from this object.
   */
  readonly connection: Connection<R, V>;
  /** The agreed protocol version; undefined before it is agreed. */
  readonly version: ProtocolVersion | undefined;
  /** The name and version of the peer, if it gave them. */
  readonly info: Partial<v1.Implementation>;
  /** Whether the connection is open. */
  readonly open: boolean;
  /**
   * Resolves when the connection has ended and everything before the end has been delivered: the peer closed it, its
   * process died, or this side closed it. It never rejects.
   */
  readonly closed: Promise<void>;
  /** What the peer advertises about an extension in `_meta` of its capabilities. */
  extension(name: string): unknown;
  /** Whether the version, the phase and the capabilities allow a method to be called now. */
  can(method: string): boolean;
  /** The misuse that a call of the method would cause now; undefined if it can be called. */
  whyNot(method: string): Misuse | undefined;
  /**
   * Sends a request. It rejects with {@link Misuse} if the specification forbids the call now (nothing was sent), with
   * {@link PeerError} if the peer answers with an error, and with {@link NoResult} if there is no valid answer.
   */
  request: Request<Requests>;
  /** Sends a notification. */
  notify: Notify<Notifications>;
}

/** A content block; a string stands for a text block. */
export type Content = string | v1.ContentBlock;
