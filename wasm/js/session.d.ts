// What is known of a session, and of a connection as a whole. Part of index.d.ts.
import type { Version } from "./index.js";
import type { ProtocolVersion, v1, v2 } from "./types.js";

/** The state of a session. */
export interface Session {
  /** How far the session is opened. */
  state: "loading" | "resuming" | "ready";
  /** Whether the agent is working. */
  turn: "idle" | "running" | "cancelling" | "requires_action";
  /** The open terminals by id; the value says whether the command has ended. */
  terminals: Map<string, boolean>;
}

/** The modes of a session. */
export interface SessionModes {
  /** The id of the current mode. */
  currentModeId: string;
  /** The modes that the session offers; null if they were not reported, or exceed the limits of the connection. */
  availableModes: v1.SessionMode[] | null;
}

/** The status of a tool call. */
export interface ToolCallState {
  /** The id of the tool call. */
  toolCallId: string;
  /**
   * The status. In version 1 it is `cancelled` only if this side is the client and has cancelled the turn; version 2
   * also has `paused` and custom statuses.
   */
  status: "pending" | "in_progress" | "paused" | "completed" | "failed" | "cancelled" | (string & {});
}

/**
 * The full state of a session. Null means that nothing was reported, or more than the limits of the connection allow;
 * lists that the agent reported are unchanged.
 */
export interface SessionSnapshot<V extends Version = Version> extends Session {
  /** The latest stop reason that the agent reported (version 2). */
  stopReason: string | null;
  /** The error, if the stop reason is `error` (version 2). */
  error: v2.Error | null;
  /** The background work; null if the agent does not list it (version 2). */
  background: v2.BackgroundWork[] | null;
  /** The working directory. */
  cwd: string | null;
  /** The working directory and the additional directories. */
  roots: string[];
  /** The modes. */
  modes: SessionModes | null;
  /** The config options with their values. */
  configOptions: ((1 extends V ? v1.SessionConfigOption : never) | (2 extends V ? v2.SessionConfigOption : never))[] | null;
  /** The tool calls, oldest first. */
  toolCalls: ToolCallState[];
  /** The terminals that the agent runs, oldest first, and whether the command of each has ended (version 2). */
  displayTerminals: { terminalId: string; exited: boolean }[];
  /** The ids of the tool calls and terminals that the client may cancel now (version 2). */
  cancellable: { toolCalls: string[]; terminals: string[] };
  /** The entries of the plan. */
  plan: ((1 extends V ? v1.PlanEntry : never) | (2 extends V ? v2.PlanEntry : never))[] | null;
  /** The ids of the plans that have one. */
  planIds: string[];
  /** The slash commands. */
  commands: ((1 extends V ? v1.AvailableCommand : never) | (2 extends V ? v2.AvailableCommand : never))[] | null;
  /** The ids of the compactions that have not ended. */
  openCompactions: string[];
  /** Whether the user has logged out since the session was opened, so that it may require a login. */
  authUncertain: boolean;
  /** The id of the parent session; null for a session that the client opened. */
  parent: string | null;
  /**
   * Whether the client may cancel the work of the session: always, except for a child session that does not allow it.
   */
  mayCancel: boolean;
}

/** A login method that can be used. */
export interface LoginMethod {
  /** The id of the login method, for `authenticate`. */
  methodId: string;
  /**
   * `agent` if `authenticate` asks the agent to log in, `terminal` if the client runs the login in a terminal. In
   * version 2 also `custom` for an extension type, which `auth/login` asks for, and `unknown` for a type that is newer
   * than this library.
   */
  kind: "agent" | "terminal" | "custom" | "unknown";
}

/** A model provider that the agent listed. */
export interface ProviderState {
  /** The id of the provider. */
  providerId: string;
  /** Whether the provider is enabled. */
  enabled: boolean;
}

/** The state of a connection. */
export interface ConnectionSnapshot {
  /** The phase of the connection. */
  phase: "start" | "initializing" | "ready" | "closed";
  /** The agreed protocol version; null before it is agreed. */
  version: ProtocolVersion | null;
  /** Whether the agent requires a login, as far as is known. */
  login: "unknown" | "required" | "done";
  /** The login methods that can be used, in the agent's order. */
  loginMethods: LoginMethod[];
  /** The ids of elicitations in url mode that have not been completed. */
  openElicitations: string[];
  /** The model providers that the agent listed last (draft). */
  providers: ProviderState[];
}
