/** What `libacp/agent` and `libacp/client` have in common. */
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
  ViolationEvent,
} from "./index.js";
import type { PeerError as ErrorAnswer } from "./event.js";
import type { RequestId, v1 } from "./types.js";

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

/**
 * The peer has answered with an error. `message` is the method, the error's message with what its `data` says as text (`data`
 * itself, `data.details` or `data.message`), and the code; so that it can be printed, control characters are escapes, and it is not longer than a page.
 */
export class PeerError extends Error {
  private constructor();
  /** The name of the class. */
  readonly name: "PeerError";
  /** The error as it came. */
  readonly error: Readonly<ErrorAnswer>;
  /** The method that was called. */
  readonly method: string;
  /** Its code; unknown ones are kept. */
  readonly code: number;
  /** What the peer added, if anything. */
  readonly data?: unknown;
}

/**
 * A request has ended without an answer that can be used: the answer broke a rule, none came in time, or the connection was
 * over first. An answer that comes too late goes to `onLateResponse`.
 */
export class NoResult extends Error {
  protected constructor();
  /** The name of the class. */
  readonly name: string;
  /** The method that was called. */
  readonly method: string;
  /** How the request ended. */
  readonly outcome: "invalid" | "timeout" | "cancelled" | "closed";
}

/** The agent's process has ended before it answered. */
export class AgentEnded extends NoResult {
  private constructor();
  /** What the process ended with; null when a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it, if one did. */
  readonly signal: string | null;
  /** The last lines of its standard error, as they came; none unless the host takes them with `stderr`. */
  readonly stderr: readonly string[];
}

/** What a handler throws to answer with an error of its own. Anything else is logged, and answered without detail. */
export class RequestError extends Error {
  constructor(code: number, message: string, data?: unknown);
  /** The name of the class. */
  readonly name: "RequestError";
  /** The code of the answer. */
  readonly code: number;
  /** What is added to the answer. */
  readonly data?: unknown;
}

/**
 * Text of a peer's for a terminal or a log. Control characters, and those that turn the direction of text, are shown as
 * escapes; line feeds and tabs stay. What the library logs is written so.
 */
export function printable(text: string): string;

/** How messages come in and go out. Functions below make one of what a platform has; any object will do. */
export interface Transport {
  /** What comes in: bytes or text in any split, or, with the framing `messages`, one message at a time. */
  readonly readable: AsyncIterable<Uint8Array | string>;
  /** Takes bytes. What it returns settles when more can be taken; nothing means at once. */
  write(bytes: Uint8Array): PromiseLike<unknown> | void;
  /** Ends this side. */
  close(): PromiseLike<unknown> | void;
  /** How messages are told apart; as lines, unless given. */
  readonly framing?: "lines" | "content-length" | "messages" | undefined;
}

/** A transport with a process at its other end. */
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
/** What is used of a child process of Node's. */
export interface ChildLike {
  readonly stdin: NodeWritableLike | null;
  readonly stdout: AsyncIterable<any> | null;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  readonly pid?: number | undefined;
  kill(signal?: any): boolean;
  once(event: string, listener: (...args: any[]) => void): unknown;
}

/** A pair of web streams that carry bytes or text. */
export function streams(
  readable: ReadableLike,
  writable: WritableLike,
  options?: { framing?: "lines" | "content-length" | "messages" },
): Transport;

/**
 * A WebSocket or the address of one, with one message a frame. A socket cannot be held back: a peer that is `most` bytes
 * (64 MiB) ahead of this side is cut off.
 */
export function webSocket(
  socket: SocketLike | string | URL,
  options?: { protocols?: string | string[]; most?: number },
): Transport;

/** A message port, a worker (also one of Node's), or the global scope of one; `most` as for {@link webSocket}. Null is the end. */
export function messagePort(port: PortLike | NodeWorkerLike, options?: { most?: number }): Transport;

/** A child process whose input and output are pipes. Node only. */
export function childProcess<Child extends ChildLike>(
  child: Child,
  options?: {
    /** Whether it was started with a process group of its own (`detached`), which is then ended as a whole (false). */
    group?: boolean | undefined;
  },
): ProcessTransport<Child>;

/** A pair of Node's streams, or a socket twice. Node only. */
export function nodeStreams(
  readable: AsyncIterable<any>,
  writable: NodeWritableLike,
  options?: { framing?: "lines" | "content-length" | "messages" },
): Transport;

/**
 * Standard input and output. Until the transport is closed, what the program prints goes to standard error. Node only.
 */
export function stdio(): Transport;

/** What stands under `_meta` of a message: what neither side must understand, such as the context of a trace. */
export interface MetaOption {
  /** Goes out as `_meta`. */
  meta?: Readonly<Record<string, unknown>> | undefined;
}

/** How a call with a name of its own is sent. */
export interface NamedCallOptions extends CallOptions, MetaOption {}

/** How a request is sent. */
export interface CallOptions {
  /** Asks the peer to cancel the request, and rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds, after which it rejects with {@link NoResult}. */
  timeout?: number | undefined;
}

/** How bad a line is that is to be logged. */
export type LogLevel = "debug" | "warn" | "error";

/** Sees each message as it crosses the transport. */
export type Trace = (direction: "sent" | "received", message: string) => unknown;

/** What agents and clients have in common. */
export interface HostOptions<Session = unknown> {
  /** The name that a user is to see. */
  title?: string | undefined;
  /** Called with what a peer did that the rules forbid; of each rule, five in ten seconds are logged in any case. */
  onViolation?: ((violation: ViolationEvent) => unknown) | undefined;
  /** Called with what is odd about the host's own messages, by rules that do not bind. */
  onAdvice?: ((advice: AdviceEvent) => unknown) | undefined;
  /**
   * Called with what escapes a handler or a hook, and its method or name; unless given, that is logged. A
   * {@link RequestError} is an answer, and does not come here.
   */
  onError?: ((error: unknown, failed: { readonly method: string }) => unknown) | undefined;
  /** Called when a session is over: closed, deleted, replaced, or its connection has ended. */
  onSessionEnd?: ((session: Session) => unknown) | undefined;
  /** Whether the text of an error that escapes a handler is told to the peer, in `data.details` (false). */
  exposeErrors?: boolean | undefined;
  /** Requests that are served at a time; others wait. No limit, unless given. */
  maxRequests?: number | undefined;
  /** Milliseconds that each request may take which has no `timeout` of its own. No limit, unless given. */
  timeout?: number | undefined;
  /** Who gets the lines that the library writes: the console (true), which is standard error under Node, nobody (false), or a function. */
  log?: boolean | ((level: LogLevel, line: string) => unknown) | undefined;
  /**
   * Who sees all messages: a function, or under Node the path of a file that they are added to; false for nobody. Unless
   * given, the environment variable `LIBACP_TRACE` may name a file. Messages hold whatever the user says.
   */
  trace?: string | false | Trace | undefined;
  /**
   * Called with answers to requests that had timed out or been cancelled. What such an answer opens is given back before:
   * a terminal is released, and a new session closed if the agent can close sessions.
   */
  onLateResponse?: ((response: LateResponseEvent) => unknown) | undefined;
  /** How messages are told apart, where the transport does not say. */
  framing?: "lines" | "content-length" | "messages" | undefined;
  /** What happens to messages that break a rule; `tolerant`, unless given. */
  policy?: Policy | undefined;
  /** Another policy for the rules of a severity. */
  policies?: { [S in Severity]?: Policy | undefined } | undefined;
  /** Bounds other than the defaults. */
  limits?: Partial<Limits> | undefined;
  /** Drafts that are switched on. */
  drafts?: readonly Draft[] | undefined;
  /** Milliseconds that the peer has to answer a request that was cancelled (10,000); null for ever. */
  cancelGrace?: number | null | undefined;
  /** Milliseconds after which the log is told of a request of the peer's that has no answer yet. */
  reminder?: number | undefined;
  /** Whether a session may have several prompts at once, for agents that queue prompts. */
  promptQueueing?: boolean | undefined;
  /** Methods that are neither the specification's nor begin with an underscore, and are called or served all the same. */
  foreignMethods?: readonly string[] | undefined;
}

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;
/** The name of an extension method. */
export type Extension = `_${string}`;
type Given<P> = Omit<P, "sessionId">;
type Rest<P> = {} extends P ? [params?: P, options?: CallOptions] : [params: P, options?: CallOptions];
type About<P, Session, Other> = P extends { sessionId: string } ? Session : Other;
/** A result that has no required member need not be returned. */
type Returned<T> = {} extends T ? T | void : T;
type Params<T> = T extends { params: infer P } ? P : never;
type Result<T> = T extends { result: infer R } ? R : never;

/** What a handler of requests gets beside params. */
export interface How {
  /** The id of the request, as an elicitation about it names it. */
  readonly id: RequestId;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /**
   * Says how many bytes the answer may have, before they are made. All answers of a connection that are being made or wait
   * to be written have 16 MiB: where there is no room now, it returns a promise of it. One larger answer goes alone.
   */
  reserve(bytes: number): Promise<void> | undefined;
}

/** What a handler of a method is called with, and what it returns. Where requests and notifications share a name, both. */
export type HandlerOf<M, Requests, Notifications, Session, Other> = M extends keyof Requests
  ? (
      subject: About<Params<Requests[M]>, Session, Other>,
      params: Params<Requests[M]> | (M extends keyof Notifications ? Params<Notifications[M]> : never),
      how: How,
    ) => Awaitable<Returned<Result<Requests[M]>> | (M extends keyof Notifications ? void : never)>
  : M extends keyof Notifications
    ? (subject: About<Params<Notifications[M]>, Session, Other>, params: Params<Notifications[M]>) => unknown
    : (subject: Session | Other, params: any, how: How) => unknown;

/** Handlers by method; requests run at the same time, notifications one after the other. */
export interface On<Requests, Notifications, Session, Other, Self> {
  <M extends Exclude<keyof Requests | keyof Notifications, "$/cancel_request"> | Extension>(
    method: M,
    handler: HandlerOf<M, Requests, Notifications, Session, Other>,
  ): Self;
}

// In what follows, the known methods come last: that is where a compiler says what is wrong.

/** What can be asked of a peer. */
export interface Request<Requests> {
  <T = unknown>(method: Extension, params?: unknown, options?: CallOptions): Promise<T>;
  <M extends keyof Requests & string>(method: M, ...rest: Rest<Params<Requests[M]>>): Promise<Result<Requests[M]>>;
}

/** A request about one session, whose id is added. */
export interface SessionRequest<Requests> {
  <T = unknown>(method: Extension, params?: object, options?: CallOptions): Promise<T>;
  <M extends keyof Requests & string>(method: M, ...rest: Rest<Given<Params<Requests[M]>>>): Promise<Result<Requests[M]>>;
}

/** What a peer can be told. */
export interface Notify<Notifications> {
  (method: Extension, params?: unknown, options?: { signal?: AbortSignal }): Promise<void>;
  <M extends keyof Notifications & string>(
    method: M,
    params: Params<Notifications[M]>,
    options?: { signal?: AbortSignal },
  ): Promise<void>;
}

/** A notification about one session, whose id is added. */
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
export interface Peer<R extends Role, Requests, Notifications> {
  /** The connection underneath: its state can be looked at. Whoever feeds it takes over from this object. */
  readonly connection: Connection<R>;
  /** Whether the connection is open. */
  readonly open: boolean;
  /**
   * Resolves when the connection is over and all that came before has been delivered: the peer has ended it, its process
   * has died, or this side has closed it. It never rejects.
   */
  readonly closed: Promise<void>;
  /** What the peer says of an extension: what its capabilities have under this name in `_meta`. */
  extension(name: string): unknown;
  /** Whether a method can be sent now, as far as version, phase and capabilities go. */
  can(method: string): boolean;
  /** Why a method cannot be sent now. */
  whyNot(method: string): Misuse | undefined;
  /**
   * Asks the peer. It rejects with {@link Misuse} when that is not allowed now (nothing was sent), with {@link PeerError}
   * when the peer answers with an error, and with {@link NoResult} when there is no answer that can be used.
   */
  request: Request<Requests>;
  /** Tells the peer something. */
  notify: Notify<Notifications>;
}

/** A content block, or text for one. */
export type Content = string | v1.ContentBlock;
