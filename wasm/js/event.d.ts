/** The events of a connection, and the methods of each side. */
import type { Role, Severity, Version } from "./index.js";
import type { RequestId, v1, v2 } from "./types.js";

// What does not say that it is exported stays in here.
export {};

/** The role of the peer. */
export type Other<R extends Role> = R extends "client" ? "agent" : "client";
/** A method that the specification does not define. */
type Extension = `_${string}`;
/** The maps of the versions that may be agreed on. */
type RequestsOf<R extends Role, V extends Version> =
  | (1 extends V ? (R extends "client" ? v1.ClientRequests : v1.AgentRequests) : never)
  | (2 extends V ? (R extends "client" ? v2.ClientRequests : v2.AgentRequests) : never);
type NotificationsOf<R extends Role, V extends Version> =
  | (1 extends V ? (R extends "client" ? v1.ClientNotifications : v1.AgentNotifications) : never)
  | (2 extends V ? (R extends "client" ? v2.ClientNotifications : v2.AgentNotifications) : never);
/** The capabilities of a side. */
export type CapabilitiesOf<R extends Role, V extends Version> =
  | (1 extends V ? (R extends "client" ? v1.ClientCapabilities : v1.AgentCapabilities) : never)
  | (2 extends V ? (R extends "client" ? v2.ClientCapabilities : v2.AgentCapabilities) : never);
type Names<T> = T extends unknown ? keyof T & string : never;
type Member<T, M extends string, K extends string> = T extends unknown
  ? M extends keyof T
    ? T[M] extends { [key in K]: infer Is }
      ? Is
      : never
    : never
  : never;
/** The methods that a side may call. Extension methods begin with an underscore. */
export type RequestMethod<R extends Role = Role, V extends Version = Version> = Names<RequestsOf<R, V>> | Extension;
/** The notifications that a side may send. */
export type NotificationMethod<R extends Role = Role, V extends Version = Version> =
  | Names<NotificationsOf<R, V>>
  | Extension;

/** The params or the result of a request. */
export type Called<R extends Role, V extends Version, M extends string, K extends string> =
  M extends Names<RequestsOf<R, V>> ? Member<RequestsOf<R, V>, M, K> : unknown;
/** The params of a notification. */
export type Told<R extends Role, V extends Version, M extends string> =
  M extends Names<NotificationsOf<R, V>> ? Member<NotificationsOf<R, V>, M, "params"> : unknown;

interface Call<M extends string> {
  /** The id, exactly as sent. */
  id: RequestId;
  /** The serial number of the request, unique on this connection. */
  serial: number;
  method: M;
  session?: string;
}

interface WithParams<P> {
  /** Parsed from the text on first access at the latest; integers that a number cannot hold are bigints. */
  readonly params: P;
  readonly paramsText: string;
}

interface RequestAs<M extends string, P> extends Call<M>, WithParams<P> {
  type: "request";
}

interface NotificationAs<M extends string, P> extends WithParams<P> {
  type: "notification";
  method: M;
  session?: string;
  /** The type of a `session/update`, if it is known. */
  update?: string;
  /** When it was sent: during a turn, in a replay of the history, outside of both, or about no session. */
  timing: "turn" | "replay" | "idle" | "none";
  /**
   * The serial number of the host's open request that a `session/update` belongs to: a load whose replay it is, or the newest
   * prompt. Only with the option `handlers`.
   */
  exchange?: number;
}

interface ResponseAs<M extends string> extends Call<M> {
  type: "response";
}

interface LateResponseAs<M extends string> extends Call<M> {
  type: "late_response";
}

/** An error with which the peer answered. */
export interface PeerError {
  /** The error code; unknown codes are kept. */
  code: number;
  /** The error message. */
  message: string;
  /** The data, if there is any; parsed on first access at the latest. */
  readonly data?: unknown;
  /** The data as JSON text. */
  readonly dataText?: string;
}

type Ended<M extends string, T> =
  | (ResponseAs<M> & { outcome: "result"; readonly result: T; readonly resultText: string })
  | (ResponseAs<M> & { outcome: "error"; error: PeerError })
  | (ResponseAs<M> & {
      /**
       * The answer was invalid (an earlier violation says why), or there was none before the timeout, within
       * `cancelGrace`, or before the end of the connection.
       */
      outcome: "invalid" | "timeout" | "cancelled" | "closed";
    });

type Late<M extends string, T> =
  | (LateResponseAs<M> & { outcome: "result"; readonly result: T; readonly resultText: string })
  | (LateResponseAs<M> & { outcome: "error"; error: PeerError })
  | (LateResponseAs<M> & {
      /** The answer was invalid; an earlier violation says why. */
      outcome: "invalid";
    });

/** The peer sent a request; answer it with `respond` or `respondError`. */
export type RequestEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<Other<R>, V>>]: RequestAs<M, Called<Other<R>, V, M, "params">> }[Names<
      RequestsOf<Other<R>, V>
    >]
  | RequestAs<Extension, unknown>;

/** The peer sent a notification. */
export type NotificationEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<NotificationsOf<Other<R>, V>>]: NotificationAs<M, Told<Other<R>, V, M>> }[Names<
      NotificationsOf<Other<R>, V>
    >]
  | NotificationAs<Extension, unknown>;

/** A request that the host sent has ended. Every request ends with exactly one of these. */
export type ResponseEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<R, V>>]: Ended<M, Called<R, V, M, "result">> }[Names<RequestsOf<R, V>>]
  | Ended<Extension, unknown>;

/**
 * The peer answered a request that had already ended because it timed out or was cancelled. A session or terminal that
 * the answer opens is open: close or release it if it is no longer wanted.
 */
export type LateResponseEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<R, V>>]: Late<M, Called<R, V, M, "result">> }[Names<RequestsOf<R, V>>]
  | Late<Extension, unknown>;

/** The peer asked to cancel one of its requests (`$/cancel_request`). The request must still be answered. */
export interface CancelEvent extends Call<string> {
  type: "cancel";
}

/**
 * The connection has answered a request of the peer on behalf of the host. The host must not answer it as well, and
 * should close a dialog that it shows for the request.
 */
export interface AnsweredEvent extends Call<string> {
  type: "answered";
  /** The id of the rule that requires this answer. */
  rule: string;
}

/** The peer broke a rule. */
export interface ViolationEvent {
  type: "violation";
  /** The id of the rule. */
  rule: string;
  /** How serious it is. */
  severity: Severity;
  /** What is wrong, in one sentence. */
  message: string;
  /** JSON pointer to the problem in the params or the result; empty if it concerns the whole message. */
  pointer: string;
  /** The method of the message, if it could be read. */
  method?: string;
  /** The id of the message, if it could be read. */
  id?: RequestId;
  /** The session id in the message, if one could be read. */
  session?: string;
  /** The number of the frame among those that were received on this connection, from 1. */
  frame: number;
  /** The first bytes of the frame, at most 256; empty if it may contain secrets (AUTH-27). */
  excerpt: string;
  /** What happened to the message: it was delivered, repaired if necessary; dropped; or refused by an error answer. */
  consequence: "delivered" | "dropped" | "refused";
  /** The error code with which the message was refused. */
  code?: number;
}

/**
 * A recommendation about the host's own behavior: a message that was sent should have been different, or a request of
 * the peer has waited for its answer as long as `reminder` allows (RPC-15).
 */
export interface AdviceEvent {
  type: "advice";
  /** The id of the rule. */
  rule: string;
  /** What should be different, in one sentence. */
  message: string;
  /** JSON pointer to the place in the params or the result; empty if it concerns the whole message. */
  pointer: string;
  /** The method of the message; for an answer, the method of its request. */
  method: string;
  /** The id of the peer's request, if this is about an answer or a missing answer. */
  id?: RequestId;
  /** The session id in the message. */
  session?: string;
}

/** The connection has ended. This is the last event. */
export interface ClosedEvent {
  type: "closed";
  /**
   * Why the connection ended: the peer closed its side, the host closed the connection, or there is no common version.
   */
  reason: "end_of_stream" | "host" | "version";
  /** The ids of the peer's requests that were never answered, oldest first. */
  unanswered: RequestId[];
  /** The terminals that were never released. */
  terminals: TerminalRef[];
}

/** An event of a connection; `type` distinguishes them, then `method`, `outcome` and so on. */
export type Event<R extends Role = Role, V extends Version = Version> =
  | RequestEvent<R, V>
  | NotificationEvent<R, V>
  | ResponseEvent<R, V>
  | LateResponseEvent<R, V>
  | CancelEvent
  | AnsweredEvent
  | ViolationEvent
  | AdviceEvent
  | ClosedEvent;

/** The id of a terminal together with its session. */
export interface TerminalRef {
  /** The id of the session. */
  session: string;
  /** The id of the terminal, which is unique in its session. */
  terminal: string;
}
