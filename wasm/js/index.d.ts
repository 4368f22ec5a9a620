/// <reference lib="esnext.disposable" />
/** The Agent Client Protocol as a state machine without I/O: bytes in, events out, bytes out. */
import type { Called, Event, NotificationMethod, Other, RequestEvent, RequestMethod, Told } from "./event.js";
import type { Getters, ViewGetters } from "./getters.js";
import type { ConnectionSnapshot, LoginMethod, ProviderState } from "./session.js";
import type { Session, SessionModes, SessionSnapshot, ToolCallState } from "./session.js";
import type { Json, ProtocolVersion, RequestId, v1, v2 } from "./types.js";

export type { Json, ProtocolVersion, RequestId, Session, SessionModes, SessionSnapshot, ToolCallState, v1, v2 };
export type { ConnectionSnapshot, Getters, LoginMethod, ProviderState, ViewGetters };
export type {
  ViewChanges, ViewCompaction, ViewCompactionHead, ViewContent, ViewEntry, ViewEntryBase, ViewFacts, ViewHead, ViewMessage,
  ViewMessageHead, ViewNotice, ViewPlan, ViewPrompt, ViewQuestion, ViewSnapshot, ViewSubagent, ViewTerminal,
  ViewTerminalHead, ViewToolCall, ViewToolCallHead, ViewUpdate,
} from "./view.js";
export type {
  CompactionEntry, Frozen, MessageEntry, NoticeEntry, PlanEntry, SessionEntry, SessionViewChanges, SessionViewSnapshot,
  SubagentEntry, TerminalEntry, ToolCallEntry, UpdateEntry,
} from "./view.js";
export { SessionView } from "./view.js";
export type { PermissionAction, PermissionDecision, PermissionRule, PermissionRules } from "./policy.js";
export { PermissionPolicy } from "./policy.js";
export type {
  AdviceEvent, AnsweredEvent, CancelEvent, ClosedEvent, Event, NotificationEvent, NotificationMethod, PeerError,
  LateResponseEvent, RequestEvent, RequestMethod, ResponseEvent, TerminalRef, ViolationEvent,
} from "./event.js";

/**
 * Loads the WebAssembly file, in browsers and bundlers; await it before the first {@link Connection}. Under Node the
 * module is loaded already. If the file is not next to the script, pass it as `source`: a URL, a `Response`, the bytes,
 * or a compiled module (the file itself is `libacp/wasm`).
 */
export function init(source?: string | object): Promise<void>;

/** The role of the host. */
export type Role = "client" | "agent";

/** A protocol version that this library supports. */
export type Version = 1 | 2;

/** The names of drafts: parts of the protocol that may still change and are enabled one by one. */
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
 * How a message of the peer that breaks a rule is handled. `tolerant`: repaired if the specification allows it,
 * delivered and reported. `strict`: refused and reported. `off`: delivered if possible and not reported.
 */
export type Policy = "tolerant" | "strict" | "off";

/**
 * How serious it is to break a rule: odd but harmless (`note`), wrong but clear (`warning`), or not usable (`error`).
 */
export type Severity = "note" | "warning" | "error";

/** Limits on the resources that a peer can make a connection use. */
export interface Limits {
  /** Maximum size of one frame, in bytes (33,554,432). */
  frame: number;
  /** Maximum nesting depth of arrays and objects in one frame (128). */
  depth: number;
  /** Maximum number of open requests in each direction, and of entries in one batch (1,024). */
  pending: number;
  /** Maximum number of sessions that are tracked at once (10,000). */
  sessions: number;
  /** Maximum number of terminals that are tracked per session (1,024). */
  terminals: number;
  /**
   * Maximum number of other items of one kind that are tracked per session: tool calls, plans, compactions, modes
   * (4,096).
   */
  remembered: number;
  /** Maximum number of complete entries in a view, and of stubs (4,096). */
  viewEntries: number;
  /** Maximum size of a session's view, in bytes (16 MiB). All views together may have 16 times as much. */
  viewBytes: number;
  /** Maximum size of one content in a view, in bytes: a message, the items of a tool call, its raw input (4 MiB). */
  viewContent: number;
  /** Maximum size of a terminal's output in a view, in bytes; at least the last half of that is kept (1 MiB). */
  viewOutput: number;
}

/** The options of a connection. */
export interface Options<R extends Role = Role, V extends Version = Version> {
  /** The role of the host. */
  role: R;
  /** How messages are separated: by lines (the default), by LSP headers, or by the transport. */
  framing?: "lines" | "content-length" | "messages" | undefined;
  /** How messages of the peer that break a rule are handled; `tolerant` by default. */
  policy?: Policy | undefined;
  /** Policies for the rules of one severity, in place of `policy`. */
  policies?: { [S in Severity]?: Policy | undefined } | undefined;
  /** Limits that differ from the defaults. */
  limits?: Partial<Limits> | undefined;
  /** The protocol versions that may be agreed on: `[1]` by default, `[2]`, or `[1, 2]`. */
  versions?: readonly V[] | undefined;
  /** The enabled drafts. */
  drafts?: readonly Draft[] | undefined;
  /**
   * Milliseconds after which a request of the host fails, unless the call has its own timeout; no timeout by default.
   */
  timeout?: number | undefined;
  /**
   * Milliseconds that the peer has to answer a cancelled request before the request ends with the outcome `cancelled`
   * (10,000); null for no limit. A later answer is an event of the type `late_response`.
   */
  cancelGrace?: number | null | undefined;
  /**
   * Milliseconds after which an event of the type `advice` (RPC-15) reminds the host, once, of a request that it has
   * not answered; no reminders by default.
   */
  reminder?: number | undefined;
  /**
   * Whether a session may have several open prompts (TURN-03), for agents that queue prompts. A client's additional
   * prompts are then sent with advice instead of being misuse, and an agent receives them without a violation. The turn
   * ends with the last answer.
   */
  promptQueueing?: boolean | undefined;
  /**
   * Methods to send and deliver like extension methods although the specification does not define them and they do not
   * begin with an underscore (EXT-07).
   */
  foreignMethods?: readonly string[] | undefined;
  /** Whether to keep a view of each session, the conversation as a client shows it; false by default. */
  view?: boolean | undefined;
  /**
   * The methods that the host has handlers for, by their names in version 1. With this option, all calls and events are
   * those of version 1 whichever version is agreed on, but for the updates that a client receives; see {@link
   * Connection.notifyOpened} and {@link Connection.abandon}. The state of the connection is that of the agreed version.
   */
  handlers?: readonly string[] | undefined;
}

/** The options of a connection, with the defaults filled in. */
export interface Config {
  /** The role of the host. */
  role: Role;
  /** How messages are separated. */
  framing: "lines" | "content-length" | "messages";
  /** How messages of the peer that break a rule are handled. */
  policy: Policy;
  /** The policies for the rules of one severity, in place of `policy`. */
  policies: { [S in Severity]?: Policy };
  /** The limits. */
  limits: Limits;
  /** The protocol versions that may be agreed on, oldest first. */
  versions: Version[];
  /** The enabled drafts. */
  drafts: Draft[];
  /** Milliseconds after which a request of the host fails. */
  timeout?: number;
  /** Milliseconds that the peer has to answer a cancelled request; null for no limit. */
  cancelGrace: number | null;
  /** Milliseconds after which the host is reminded of a request that it has not answered. */
  reminder?: number;
  /** Whether a session may have several open prompts. */
  promptQueueing: boolean;
  /**
   * Methods that are sent and delivered although the specification does not define them and they do not begin with an
   * underscore.
   */
  foreignMethods: string[];
  /** Whether a view of each session is kept. */
  view: boolean;
}

/** JSON text in place of a value: it is checked and sent unchanged. */
export class RawJson {
  private constructor();
  /** The JSON text. */
  readonly text: string;
}

/** Marks JSON text to be used in place of params, a result or data. */
export function raw(text: string): RawJson;

/**
 * Truncates the output of a command to the `outputByteLimit` of `terminal/create` (TERM-08), from the front and never
 * inside of a character. The limit is in bytes of UTF-8. Returns the result for `terminal/output`, to which the host
 * adds the exit status.
 */
export function cutOutput(output: string, byteLimit: number): Pick<v1.TerminalOutputResponse, "output" | "truncated">;

/** The error codes of the specification, and those of JSON-RPC. */
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
 * The specification does not allow this call now. Nothing was sent and nothing has changed. `rule` of `libacp/rules`
 * returns the text of a rule.
 */
export class Misuse extends Error {
  protected constructor();
  /** The kind of mistake, the same in every language. */
  readonly kind: "phase" | "method" | "capability" | "params" | "session" | "id" | "limit";
  /** The id of the rule that forbids the call. */
  readonly rule: string;
  /** JSON pointer to the problem in the params or the result of the call; empty if it concerns the whole call. */
  readonly pointer: string;
}

/** The call comes too early, too late, or a second time. */
export class PhaseMisuse extends Misuse {
  readonly kind: "phase";
}
/** The method does not exist, is not sent by this side, or is not sent in this form. */
export class MethodMisuse extends Misuse {
  readonly kind: "method";
}
/** The peer did not advertise a capability that the call requires. */
export class CapabilityMisuse extends Misuse {
  readonly kind: "capability";
}
/** Params, a result or an error do not match the schema. */
export class ParamsMisuse extends Misuse {
  readonly kind: "params";
}
/** The session is not open on this connection. */
export class SessionMisuse extends Misuse {
  readonly kind: "session";
}
/** No open request has the id. */
export class IdMisuse extends Misuse {
  readonly kind: "id";
}
/** The call would exceed a limit of the configuration. */
export class LimitMisuse extends Misuse {
  readonly kind: "limit";
}

type Optional<T, K extends string> = T extends unknown ? Omit<T, K> & Partial<Pick<T, K & keyof T>> : never;
/** `protocolVersion` may be omitted. */
type Filled<M extends string, T> = M extends "initialize" ? Optional<T, "protocolVersion"> : T;

/** A value that may be omitted if `{}` is valid. */
type Value<T> = {} extends T ? [value?: T | RawJson] : [value: T | RawJson];

/** Options for a request. */
export interface RequestOptions {
  /** The id; by default the next number. */
  id?: string | number | bigint | undefined;
  /**
   * Milliseconds from the last `handleTimeout` call after which the request fails; null for no timeout, whatever the
   * options of the connection say.
   */
  timeout?: number | null | undefined;
  /**
   * Cancels the request when it aborts: `$/cancel_request` is queued in {@link Connection.transmit} before `abort()`
   * returns, and the response still comes. If the signal has already aborted, the call throws its reason.
   */
  signal?: AbortSignal | undefined;
}

/** A request that has not been answered. */
export interface OpenRequest {
  /** The id of the request. */
  id: RequestId;
  /** The serial number of the request, unique on this connection. */
  serial: number;
  /** The method of the request. */
  method: string;
  /** The session id in the params. */
  session?: string;
  /** Whether its sender has asked to cancel it. */
  cancelled: boolean;
  /**
   * When a request of the host times out, or when the host is reminded of a request of the peer: milliseconds on the
   * host's clock.
   */
  deadline?: number;
}

/** The result for a request, which is named by its event or its id. */
type ResultFor<Q, R extends Role, V extends Version> = Q extends { type: "request"; method: infer M extends string }
  ? Filled<M, Called<Other<R>, V, M, "result">>
  : unknown;

// What can be asked of a connection stands in a file of its own.
export interface Connection<R extends Role = Role, V extends Version = 1> extends Getters<R, V> {}

/**
 * One side of a connection to one peer. It does no I/O: the host passes in bytes and the time, and takes out events and
 * bytes.
 *
 * After each input (bytes, the end of the stream, the time, or a call of the host) take {@link events} until there are
 * none, write the bytes of {@link transmit} and {@link consume} as many as were written, then ask {@link pollTimeout}
 * when to call {@link handleTimeout}.
 */
export class Connection<R extends Role = Role, V extends Version = 1> {
  /** @throws TypeError for an unknown option, or an invalid value. */
  constructor(options: Options<R, V>);

  /**
   * Takes bytes from the peer, split in any way; with the framing `messages`, exactly one message per call. A string is
   * encoded as UTF-8. Invalid content never throws: it is reported by `violation` events.
   */
  receive(data: Uint8Array | string): void;
  /** Tells the connection that the peer has closed its stream. */
  receiveEof(): void;
  /** Sets the current time, in milliseconds on a monotonic clock of the host. */
  handleTimeout(now: number): void;
  /** Returns the next event, or undefined if there is none until the next input. */
  pollEvent(): Event<R, V> | undefined;
  /** Iterates over the events that are available now; a loop may stop early without losing events. */
  events(): Generator<Event<R, V>, void, void>;
  /**
   * The time at which to call `handleTimeout` next, in milliseconds on the host's clock; undefined if there is no
   * deadline.
   */
  pollTimeout(): number | undefined;
  /**
   * Returns the bytes to write to the peer, as a copy that the host may keep; empty if there are none. With the framing
   * `messages` it returns the rest of one message.
   */
  transmit(): Uint8Array;
  /** Removes the first `count` bytes that `transmit` returned, because they were written. */
  consume(count: number): void;

  /**
   * Sends a request and returns its id. The request ends with exactly one event of the type `response` with that id.
   * For `initialize`, a missing `protocolVersion` is added.
   * @throws {@link Misuse} if the specification forbids the call now or the params are invalid; nothing is sent.
   */
  request<M extends RequestMethod<R, V>>(
    method: M,
    ...rest: [...Value<Filled<M, Called<R, V, M, "params">>>, options?: RequestOptions]
  ): string | number | bigint;
  /**
   * Sends a notification.
   * @throws {@link Misuse} if the specification forbids the call now or the params are invalid; nothing is sent.
   */
  notify<M extends NotificationMethod<R, V>>(method: M, ...rest: Value<Told<R, V, M>>): void;
  /**
   * Sends a notification, without the member `sessionId`, about the session that a request of the client opens. It goes out
   * at once while a session is loaded, otherwise right after the answer, with the id in the answer, and never if the request
   * fails. For connections with the option `handlers`.
   * @throws {@link Misuse} if it is sent immediately and the specification forbids it.
   */
  notifyOpened(request: { readonly serial: number }, method: string, params?: object | RawJson): void;
  /**
   * Answers a request of the peer. For an event, the result is typed, and the answer never goes to a later request with
   * the same id.
   * @throws {@link Misuse} if the request is not open or the result is invalid; nothing is sent.
   */
  respond<Q extends RequestEvent<R, V> | RequestId>(
    request: Q,
    ...rest: Value<ResultFor<Q, R, V>>
  ): void;
  /**
   * Answers a request of the peer with an error.
   * @throws {@link Misuse} if the request is not open or the error is invalid; nothing is sent.
   */
  respondError(
    request: RequestEvent<R, V> | RequestId,
    error: { code: number; message: string; data?: unknown | RawJson },
  ): void;
  /**
   * Asks the peer to cancel a request of the host; its response still comes.
   * @throws {@link Misuse} if no such request is open.
   */
  cancel(id: string | number | bigint): void;
  /**
   * Gives up a request of the host that nobody waits for any more, named by its serial number ({@link OpenRequest.serial}):
   * the turn of a prompt is cancelled by `session/cancel`, other requests by `$/cancel_request`, `terminal/release` not
   * at all. Its response still comes. Does nothing if there is no such request.
   */
  abandon(serial: number): void;
  /** Whether the next prompt of a session has to wait until a turn that was cancelled has ended (TURN-03). */
  holdsBack(session: string): boolean;
  /** Closes the connection from this side; bytes that are queued in `transmit` can still be sent. */
  close(): void;

  /**
   * Whether the version, the role, the phase and the capabilities allow a method to be called now. `method:part` asks
   * about an optional part of it, such as `session/prompt:image`.
   */
  can(method: string): boolean;
  /** The misuse that a call of the method would throw now; undefined if it can be called. */
  whyNot(method: string): Misuse | undefined;

  /** Frees the memory; nothing else may be called afterwards. */
  free(): void;
  [Symbol.dispose](): void;
}

/** The options of an observer: those of a connection that do not concern only a host. */
export interface ObserverOptions
  extends Omit<Options, "role" | "timeout" | "cancelGrace" | "reminder" | "versions" | "handlers"> {
  /** The protocol versions that can be observed; by default all. */
  versions?: readonly Version[] | undefined;
}

/** An event that an observer reports. */
export interface Observed {
  /**
   * The side that sent the message: for a violation, the side that broke the rule; for a response to a request that was
   * never answered, the side that sent the request.
   */
  from: Role;
  /**
   * The event. The consequence of a violation is what a receiver should do with the message; the messages that follow
   * show what the real receiver did.
   */
  event: Event;
}

/**
 * Observes the conversation of a client and an agent, and reports the violations of both. It sends nothing.
 *
 * Pass in the bytes of each side with {@link receive}, in the order in which they were sent, and after each call take
 * {@link events} until there are none.
 */
export interface Observer extends ViewGetters {}
export class Observer {
  /** @throws TypeError for an unknown option, or an invalid value. */
  constructor(options?: ObserverOptions);

  /**
   * Takes bytes that one side has sent, split in any way; with the framing `messages`, exactly one message per call. A
   * string is encoded as UTF-8. An answer that comes before its request matches no request.
   * @throws TypeError for an unknown side.
   */
  receive(from: Role, data: Uint8Array | string): void;
  /**
   * Tells the observer that one side has closed its stream. Once both have, unanswered requests end with the outcome
   * `closed`, and the last event has the type `closed`.
   */
  receiveEof(from: Role): void;
  /** Returns the next event, or undefined if there is none until the next input. */
  pollEvent(): Observed | undefined;
  /** Iterates over the events that are available now; a loop may stop early without losing events. */
  events(): Generator<Observed, void, void>;

  /** The number of bytes that were received from both sides and not processed yet. */
  readonly buffered: number;
  /** The agreed protocol version; before the agent has answered, the version that it is expected to answer. */
  readonly version: ProtocolVersion | undefined;
  /** The phase of the conversation. */
  readonly phase: "start" | "initializing" | "ready" | "closed";
  /** The capabilities object of one side; `{}` before `initialize`. */
  capabilities(of: Role): Record<string, unknown>;
  /** The unanswered requests that one side has sent, oldest first. */
  openRequests(of: Role): OpenRequest[];
  /** The known sessions by id. */
  sessions(): Map<string, Session>;
  /** The state of one session; undefined if the session is unknown. */
  session(id: string): Session | undefined;
  /** The full state of one session; undefined if the session is unknown. */
  sessionSnapshot(id: string): SessionSnapshot | undefined;
  /** The state of the whole conversation. */
  snapshot(): ConnectionSnapshot;

  /** Frees the memory; nothing else may be called afterwards. */
  free(): void;
  [Symbol.dispose](): void;
}
