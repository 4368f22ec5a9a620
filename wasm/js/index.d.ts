/// <reference lib="esnext.disposable" />
/** The Agent Client Protocol as a state machine without I/O: bytes in, events out, bytes out. */
import type { Called, Event, NotificationMethod, Other, RequestEvent, RequestMethod, Told } from "./event.js";
import type { Getters } from "./getters.js";
import type { ConnectionSnapshot, LoginMethod, ProviderState } from "./session.js";
import type { Session, SessionModes, SessionSnapshot, ToolCallState } from "./session.js";
import type { Json, ProtocolVersion, RequestId, v1, v2 } from "./types.js";

export type { Json, ProtocolVersion, RequestId, Session, SessionModes, SessionSnapshot, ToolCallState, v1, v2 };
export type { ConnectionSnapshot, Getters, LoginMethod, ProviderState };
export type {
  AdviceEvent, AnsweredEvent, CancelEvent, ClosedEvent, Event, NotificationEvent, NotificationMethod, PeerError,
  LateResponseEvent, RequestEvent, RequestMethod, ResponseEvent, TerminalRef, ViolationEvent,
} from "./event.js";

/**
 * Loads the WebAssembly file, in browsers and bundlers; await it before the first {@link Connection}. Under Node there is
 * nothing to wait for. `source` says where the file is when it does not lie beside the script: a URL, a `Response`, the
 * bytes, or a compiled module (the file itself is `libacp/wasm`).
 */
export function init(source?: string | object): Promise<void>;

/** The side that the host plays. */
export type Role = "client" | "agent";

/** A version of the protocol that this library speaks. */
export type Version = 1 | 2;

/**
 * Parts of the protocol that may still change, each switched on by its name.
 */
export type Draft =
  | "auth_status"
  | "end_turn_token_usage"
  | "llm_providers"
  | "mcp_over_acp"
  | "plan_operations"
  | "proxy_chains"
  | "session_archive"
  | "session_fork"
  | "session_status"
  | "session_set_title"
  | "nes"
  | "mcp_connections"
  | "session_options"
  | "prompt_suggestions";

/**
 * What happens to a peer's message that breaks a rule: it is repaired where the specification allows it, delivered and
 * reported; it is refused and reported; or it is let through and not reported.
 */
export type Policy = "tolerant" | "strict" | "off";

/** How bad it is to break a rule: odd, wrong but clear, or beyond use. */
export type Severity = "note" | "warning" | "error";

/** Bounds that hold whatever the peer sends. */
export interface Limits {
  /** Bytes of one frame (33,554,432). */
  frame: number;
  /** Nesting of lists and objects in one frame (128). */
  depth: number;
  /** Open requests in each direction (1,024). */
  pending: number;
  /** Sessions that are tracked at once (10,000). */
  sessions: number;
  /** Terminals that are tracked per session (1,024). */
  terminals: number;
  /** Things of one kind that are remembered per session: tool calls, plans, compactions, modes (4,096). */
  remembered: number;
}

/** What a host decides before a connection begins. */
export interface Options<R extends Role = Role, V extends Version = Version> {
  /** The side that the host plays. */
  role: R;
  /** How messages are told apart: as lines (the default), by LSP headers, or by the transport itself. */
  framing?: "lines" | "content-length" | "messages" | undefined;
  /** `tolerant`, unless it is said otherwise. */
  policy?: Policy | undefined;
  /** Another policy for the rules of a severity. */
  policies?: { [S in Severity]?: Policy | undefined } | undefined;
  /** Bounds other than the defaults. */
  limits?: Partial<Limits> | undefined;
  /** The versions of the protocol that may be agreed on: `[1]`, unless it is said otherwise; `[2]`, or `[1, 2]`. */
  versions?: readonly V[] | undefined;
  /** Drafts that are switched on. */
  drafts?: readonly Draft[] | undefined;
  /** Milliseconds after which an own request fails, unless the call says otherwise; without it, never. */
  timeout?: number | undefined;
  /**
   * Milliseconds that the peer has to answer a request that was cancelled (10,000), before it ends with the outcome
   * `cancelled`; null waits for ever. An answer that comes later is an event of the type `late_response`.
   */
  cancelGrace?: number | null | undefined;
  /**
   * Milliseconds after which an event of the type `advice` (RPC-15) reminds, once, of a request of the peer's that has no
   * answer; without it, none does.
   */
  reminder?: number | undefined;
  /**
   * Whether a session may have several prompts at once (TURN-03), for agents that queue prompts: a client's further
   * prompts go out with advice instead of misuse, an agent's are delivered without a violation. The turn ends with the
   * last answer.
   */
  promptQueueing?: boolean | undefined;
  /**
   * Methods that some peers have although they are neither the specification's nor begin with an underscore (EXT-07).
   * They are sent and delivered like an extension's.
   */
  foreignMethods?: readonly string[] | undefined;
}

/** The options with their defaults filled in. */
export interface Config {
  /** The side that the host plays. */
  role: Role;
  /** How messages are told apart. */
  framing: "lines" | "content-length" | "messages";
  /** What happens to messages that break a rule. */
  policy: Policy;
  /** Other policies, by severity. */
  policies: { [S in Severity]?: Policy };
  /** All bounds. */
  limits: Limits;
  /** The versions of the protocol that may be agreed on, oldest first. */
  versions: Version[];
  /** Drafts that are switched on. */
  drafts: Draft[];
  /** Milliseconds after which an own request fails. */
  timeout?: number;
  /** Milliseconds that the peer has to answer a request that was cancelled; null for ever. */
  cancelGrace: number | null;
  /** Milliseconds after which the host is reminded of an answer that it owes. */
  reminder?: number;
  /** Whether a session may have several prompts at once. */
  promptQueueing: boolean;
  /** Methods of neither the specification's nor an extension's name that are sent and delivered. */
  foreignMethods: string[];
}

/** JSON text in the place of a value: it is checked and sent as it stands. */
export class RawJson {
  private constructor();
  /** The text. */
  readonly text: string;
}

/** JSON text in the place of params, a result or data. */
export function raw(text: string): RawJson;

/**
 * The end of a command's output that fits the `outputByteLimit` of `terminal/create`, as the answer to `terminal/output`;
 * the exit status can be added. It is cut from the front, and never inside a character; the limit counts bytes of UTF-8.
 */
export function cutOutput(output: string, byteLimit: number): Pick<v1.TerminalOutputResponse, "output" | "truncated">;

/** Codes of error answers. */
export const ErrorCode: {
  readonly PARSE_ERROR: -32700;
  readonly INVALID_REQUEST: -32600;
  readonly METHOD_NOT_FOUND: -32601;
  readonly INVALID_PARAMS: -32602;
  readonly INTERNAL_ERROR: -32603;
  readonly REQUEST_CANCELLED: -32800;
  readonly AUTH_REQUIRED: -32000;
  readonly RESOURCE_NOT_FOUND: -32002;
  readonly UNSUPPORTED_PROTOCOL_VERSION: -32022;
};

/**
 * The host asked for something that the specification forbids now. Nothing was sent and nothing has changed. What a rule
 * says: `rule` of `libacp/rules`.
 */
export class Misuse extends Error {
  protected constructor();
  /** What kind of mistake it is, the same in every language. */
  readonly kind: "phase" | "method" | "capability" | "params" | "session" | "id" | "limit";
  /** The rule that forbids it. */
  readonly rule: string;
  /** JSON pointer into what the host passed; empty when it is about the call as a whole. */
  readonly pointer: string;
}

/** Not in this phase of the connection. */
export class PhaseMisuse extends Misuse {
  readonly kind: "phase";
}
/** No such method, or not one that this side sends. */
export class MethodMisuse extends Misuse {
  readonly kind: "method";
}
/** The peer did not say that it can. */
export class CapabilityMisuse extends Misuse {
  readonly kind: "capability";
}
/** Params or a result that do not fit. */
export class ParamsMisuse extends Misuse {
  readonly kind: "params";
}
/** No such session, or not in its state. */
export class SessionMisuse extends Misuse {
  readonly kind: "session";
}
/** No such request, or one that has been answered. */
export class IdMisuse extends Misuse {
  readonly kind: "id";
}
/** More at once than the limits allow. */
export class LimitMisuse extends Misuse {
  readonly kind: "limit";
}

type Optional<T, K extends string> = T extends unknown ? Omit<T, K> & Partial<Pick<T, K & keyof T>> : never;
/** The core knows the version by itself. */
type Filled<M extends string, T> = M extends "initialize" ? Optional<T, "protocolVersion"> : T;

/** A value that may be left out where `{}` will do. */
type Value<T> = {} extends T ? [value?: T | RawJson] : [value: T | RawJson];

/** How a request is sent. */
export interface RequestOptions {
  /** The id; without it the connection takes the next number. */
  id?: string | number | bigint | undefined;
  /** Milliseconds from the time last told after which the request fails; null waits for ever, whatever the options say. */
  timeout?: number | null | undefined;
  /**
   * Cancels the request when it aborts: `$/cancel_request` waits in {@link Connection.transmit} before the call of
   * `abort()` returns, and the response still comes. A signal that has aborted already throws its reason.
   */
  signal?: AbortSignal | undefined;
}

/** A request without an answer. */
export interface OpenRequest {
  /** Its id. */
  id: RequestId;
  /** A number that is unique on this connection. */
  serial: number;
  /** The method that was called. */
  method: string;
  /** The session that it is about. */
  session?: string;
  /** Whether its sender has asked to cancel it. */
  cancelled: boolean;
  /** When it times out, on the host's clock; of a peer's request, when the host is reminded of it. */
  deadline?: number;
}

/** What an answer may be for: the event of the request, or its id. */
type ResultFor<Q, R extends Role, V extends Version> = Q extends { type: "request"; method: infer M extends string }
  ? Filled<M, Called<Other<R>, V, M, "result">>
  : unknown;

// What can be asked of a connection stands in a file of its own.
export interface Connection<R extends Role = Role, V extends Version = 1> extends Getters<R, V> {}

/**
 * One peer, seen from one side.
 *
 * After anything went in (bytes, the end of the stream, the time, a call): take {@link events} until there are none,
 * write {@link transmit} and {@link consume} what was written, then ask {@link pollTimeout} when to come back.
 */
export class Connection<R extends Role = Role, V extends Version = 1> {
  /** @throws TypeError for an option that there is not, or a value that does not fit. */
  constructor(options: Options<R, V>);

  /** Takes bytes from the peer, in any split; with the framing `messages`, one message a call. A string goes in as UTF-8. */
  receive(data: Uint8Array | string): void;
  /** The peer has closed its side. */
  receiveEof(): void;
  /** Tells the time in milliseconds, on a clock of the host's own that does not run backwards. */
  handleTimeout(now: number): void;
  /** The next thing that the host must know. */
  pollEvent(): Event<R, V> | undefined;
  /** The events that there are now, one by one; a `for` loop may stop early and lose none. */
  events(): Generator<Event<R, V>, void, void>;
  /** When `handleTimeout` is wanted, on the host's clock. */
  pollTimeout(): number | undefined;
  /**
   * Bytes for the peer, as a copy that the host may keep; empty when there are none. With the framing `messages`, the
   * rest of one message.
   */
  transmit(): Uint8Array;
  /** Takes so many bytes of `transmit` as written. */
  consume(count: number): void;

  /**
   * Sends a request; its answer comes as one event of the type `response` with the id that is returned. For
   * `initialize`, `protocolVersion` is filled in.
   * @throws {@link Misuse} when the specification forbids the call now, or the params do not fit.
   */
  request<M extends RequestMethod<R, V>>(
    method: M,
    ...rest: [...Value<Filled<M, Called<R, V, M, "params">>>, options?: RequestOptions]
  ): string | number | bigint;
  /**
   * Sends a notification.
   * @throws {@link Misuse} as above.
   */
  notify<M extends NotificationMethod<R, V>>(method: M, ...rest: Value<Told<R, V, M>>): void;
  /**
   * Answers a request of the peer's; the answer to an event is typed, and never goes to a later request with its id.
   * @throws {@link Misuse} when the request has been answered, or the result does not fit.
   */
  respond<Q extends RequestEvent<R, V> | RequestId>(
    request: Q,
    ...rest: Value<ResultFor<Q, R, V>>
  ): void;
  /**
   * Answers a request of the peer's with an error.
   * @throws {@link Misuse} when the request has been answered.
   */
  respondError(
    request: RequestEvent<R, V> | RequestId,
    error: { code: number; message: string; data?: unknown | RawJson },
  ): void;
  /**
   * Asks the peer to cancel an own request; its answer still comes.
   * @throws {@link Misuse} when there is no such request.
   */
  cancel(id: string | number | bigint): void;
  /** Ends the connection from this side; what waits in `transmit` can still be sent. */
  close(): void;

  /** Whether a method could be sent now, as far as version, side, phase and capabilities go. */
  can(method: string): boolean;
  /** Why a method could not be sent now; not thrown. */
  whyNot(method: string): Misuse | undefined;

  /** Gives the memory back; nothing else may be called after it. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What an observer is made with: what a connection is, but for what a host alone decides. */
export interface ObserverOptions extends Omit<Options, "role" | "timeout" | "cancelGrace" | "reminder" | "versions"> {
  /** The versions of the protocol that can be followed; all of them, unless it is said otherwise. */
  versions?: readonly Version[] | undefined;
}

/** What an observer saw. */
export interface Observed {
  /**
   * The side that sent it, and so of a violation the side that broke the rule; of a response that ends for want of an answer,
   * the side that had asked.
   */
  from: Role;
  /** What it is. What a violation says about its consequence is what a receiver is to do; what the real one did, follows. */
  event: Event;
}

/**
 * Looks on while a client and an agent talk, and reports what either of them does wrong. It sends nothing.
 *
 * The bytes of each side go in with {@link receive}, in the order in which they were sent. After each call take
 * {@link events} until there are none: what was received is read then.
 */
export class Observer {
  /** @throws TypeError for an option that there is not, or a value that does not fit. */
  constructor(options?: ObserverOptions);

  /**
   * Takes bytes that one side has sent, in any split; with the framing `messages`, one message a call. A string goes in as
   * UTF-8. An answer that comes before its request is an answer to nothing.
   * @throws TypeError for a side that there is not.
   */
  receive(from: Role, data: Uint8Array | string): void;
  /**
   * One side has closed its stream. Once both have, requests that were never answered end as `closed`, and the last event is of
   * the type `closed`.
   */
  receiveEof(from: Role): void;
  /** What was seen next. */
  pollEvent(): Observed | undefined;
  /** What there is to see now, one by one; a `for` loop may stop early and lose none. */
  events(): Generator<Observed, void, void>;

  /** How much was received and has not been read yet, of both sides; in bytes. */
  readonly buffered: number;
  /** The version that both sides have agreed on; before the agent has answered, what it is expected to answer. */
  readonly version: ProtocolVersion | undefined;
  /** How far the conversation is. */
  readonly phase: "start" | "initializing" | "ready" | "closed";
  /** What one side can do: its capabilities object, `{}` before `initialize`. */
  capabilities(of: Role): Record<string, unknown>;
  /** The requests that one side has sent and that have no answer yet, oldest first. */
  openRequests(of: Role): OpenRequest[];
  /** The sessions that are known now, by id. */
  sessions(): Map<string, Session>;
  /** What is known of one session at a glance. */
  session(id: string): Session | undefined;
  /** All that is known of one session. */
  sessionSnapshot(id: string): SessionSnapshot | undefined;
  /** All that is known of the conversation as a whole. */
  snapshot(): ConnectionSnapshot;

  /** Gives the memory back; nothing else may be called after it. */
  free(): void;
  [Symbol.dispose](): void;
}
