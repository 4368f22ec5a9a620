/** What a connection tells its host, and which methods there are for whom. */
import type { Role, Severity, Version } from "./index.js";
import type { RequestId, v1, v2 } from "./types.js";

// What does not say that it is exported stays in here.
export {};

/** The side of the peer. */
export type Other<R extends Role> = R extends "client" ? "agent" : "client";
/** A method that no specification has. */
type Extension = `_${string}`;
/** The maps of the versions that may be agreed on. */
type RequestsOf<R extends Role, V extends Version> =
  | (1 extends V ? (R extends "client" ? v1.ClientRequests : v1.AgentRequests) : never)
  | (2 extends V ? (R extends "client" ? v2.ClientRequests : v2.AgentRequests) : never);
type NotificationsOf<R extends Role, V extends Version> =
  | (1 extends V ? (R extends "client" ? v1.ClientNotifications : v1.AgentNotifications) : never)
  | (2 extends V ? (R extends "client" ? v2.ClientNotifications : v2.AgentNotifications) : never);
/** What a side can say that it can do. */
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
/** Methods that a side may call. Extensions begin with an underscore. */
export type RequestMethod<R extends Role = Role, V extends Version = Version> = Names<RequestsOf<R, V>> | Extension;
/** Notifications that a side may send. */
export type NotificationMethod<R extends Role = Role, V extends Version = Version> =
  | Names<NotificationsOf<R, V>>
  | Extension;

/** Params or result of a request. */
export type Called<R extends Role, V extends Version, M extends string, K extends string> =
  M extends Names<RequestsOf<R, V>> ? Member<RequestsOf<R, V>, M, K> : unknown;
/** Params of a notification. */
export type Told<R extends Role, V extends Version, M extends string> =
  M extends Names<NotificationsOf<R, V>> ? Member<NotificationsOf<R, V>, M, "params"> : unknown;

interface Call<M extends string> {
  /** Exactly as it was sent. */
  id: RequestId;
  /** A number that is unique on this connection. */
  serial: number;
  method: M;
  session?: string;
}

interface WithParams<P> {
  /** Read from the text, when first asked for at the latest; integers that a number cannot hold are bigints. */
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
  /** The kind of a `session/update`, where it is a known one. */
  update?: string;
  /** Inside a prompt turn, the past as `session/load` tells it, outside of both, or about no session. */
  timing: "turn" | "replay" | "idle" | "none";
}

interface ResponseAs<M extends string> extends Call<M> {
  type: "response";
}

interface LateResponseAs<M extends string> extends Call<M> {
  type: "late_response";
}

/** An error answer of the peer's. */
export interface PeerError {
  /** Its code; unknown ones are kept. */
  code: number;
  /** Its message. */
  message: string;
  /** Its data, if it has any; read when first asked for at the latest. */
  readonly data?: unknown;
  /** The same as JSON text. */
  readonly dataText?: string;
}

type Ended<M extends string, T> =
  | (ResponseAs<M> & { outcome: "result"; readonly result: T; readonly resultText: string })
  | (ResponseAs<M> & { outcome: "error"; error: PeerError })
  | (ResponseAs<M> & {
      /**
       * An answer that cannot be used (a violation before says why), none in time, none in the time that `cancelGrace`
       * leaves, or none before the end.
       */
      outcome: "invalid" | "timeout" | "cancelled" | "closed";
    });

type Late<M extends string, T> =
  | (LateResponseAs<M> & { outcome: "result"; readonly result: T; readonly resultText: string })
  | (LateResponseAs<M> & { outcome: "error"; error: PeerError })
  | (LateResponseAs<M> & {
      /** An answer that cannot be used; a violation before says why. */
      outcome: "invalid";
    });

/** The peer asks; answer with `respond` or `respondError`. */
export type RequestEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<Other<R>, V>>]: RequestAs<M, Called<Other<R>, V, M, "params">> }[Names<
      RequestsOf<Other<R>, V>
    >]
  | RequestAs<Extension, unknown>;

/** The peer tells. */
export type NotificationEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<NotificationsOf<Other<R>, V>>]: NotificationAs<M, Told<Other<R>, V, M>> }[Names<
      NotificationsOf<Other<R>, V>
    >]
  | NotificationAs<Extension, unknown>;

/** An own request has ended. Exactly one for each. */
export type ResponseEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<R, V>>]: Ended<M, Called<R, V, M, "result">> }[Names<RequestsOf<R, V>>]
  | Ended<Extension, unknown>;

/**
 * The peer has answered an own request that had ended as timed out or cancelled. What the answer opened is open: close
 * the session or release the terminal if nobody wants it any more.
 */
export type LateResponseEvent<R extends Role = Role, V extends Version = Version> =
  | { [M in Names<RequestsOf<R, V>>]: Late<M, Called<R, V, M, "result">> }[Names<RequestsOf<R, V>>]
  | Late<Extension, unknown>;

/** The peer no longer wants the answer to its request; it must be answered all the same. */
export interface CancelEvent extends Call<string> {
  type: "cancel";
}

/** The core has answered a request of the peer's in the host's place. */
export interface AnsweredEvent extends Call<string> {
  type: "answered";
  /** The rule that asks for it. */
  rule: string;
}

/** The peer broke a rule. */
export interface ViolationEvent {
  type: "violation";
  /** The rule, as listed in the rule catalogue. */
  rule: string;
  /** How bad it is. */
  severity: Severity;
  /** What is wrong, in one sentence. */
  message: string;
  /** JSON pointer into the params or result; empty when it is about the message as a whole. */
  pointer: string;
  /** The method, where one could be read. */
  method?: string;
  /** The id, where one could be read. */
  id?: RequestId;
  /** The session it is about, where one could be read before what is wrong. */
  session?: string;
  /** The number of the frame on this connection, from 1. */
  frame: number;
  /** Its first bytes. */
  excerpt: string;
  /** What became of the message: delivered, if need be repaired; dropped; or answered with an error. */
  consequence: "delivered" | "dropped" | "refused";
  /** The error's code, when it was refused. */
  code?: number;
}

/**
 * A message of the host's own went out, but a rule that does not bind says that it should not look like this. Or it has
 * not gone out at all: a request of the peer's has waited for its answer as long as `reminder` says (RPC-15).
 */
export interface AdviceEvent {
  type: "advice";
  /** The rule, as listed in the rule catalogue. */
  rule: string;
  /** What is odd, in one sentence. */
  message: string;
  /** JSON pointer into the params or result. */
  pointer: string;
  /** The method; of an answer, the method that was called. */
  method: string;
  /** The id of the peer's request that it is about: of an answer, and of a reminder that there is none yet. */
  id?: RequestId;
  /** The session it is about. */
  session?: string;
}

/** The connection is over; the last event. */
export interface ClosedEvent {
  type: "closed";
  /** The peer closed its side, the host did, or there is no common version. */
  reason: "end_of_stream" | "host" | "version";
  /** Requests of the peer's that were never answered, oldest first. */
  unanswered: RequestId[];
  /** Terminals that were never released. */
  terminals: TerminalRef[];
}

/** Something that the host must know; told apart by `type`, then by `method`, `outcome` and so on. */
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

/** A terminal, by session. */
export interface TerminalRef {
  /** The session that it belongs to. */
  session: string;
  /** Its id there. */
  terminal: string;
}
