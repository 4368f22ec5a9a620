// What is known of a session, and of a connection as a whole. Part of index.d.ts.
import type { Version } from "./index.js";
import type { ProtocolVersion, v1, v2 } from "./types.js";

/** What is known of a session at a glance. */
export interface Session {
  /** Whether it can be used. */
  state: "loading" | "resuming" | "ready";
  /** Whether the agent works. */
  turn: "idle" | "running" | "cancelling" | "requires_action";
  /** Its open terminals, and whether the command of each has ended. */
  terminals: Map<string, boolean>;
}

/** The modes of a session. */
export interface SessionModes {
  /** The mode in force. */
  currentModeId: string;
  /** What it offers; null when it was not told, or is longer than what is kept. */
  availableModes: v1.SessionMode[] | null;
}

/** How far a tool call is. */
export interface ToolCallState {
  /** Its id. */
  toolCallId: string;
  /**
   * In version 1 `cancelled` only where this side is the client and has cancelled the turn; version 2 has `paused` and
   * statuses of the agent's own as well.
   */
  status: "pending" | "in_progress" | "paused" | "completed" | "failed" | "cancelled" | (string & {});
}

/**
 * All that is known of a session. Null says that the session has told of none, or of more than is kept; lists that the
 * agent told of stand here as they came.
 */
export interface SessionSnapshot<V extends Version = Version> extends Session {
  /** Why its work has ended, as the agent told it last (version 2). */
  stopReason: string | null;
  /** What failed, where the stop reason is `error` (version 2). */
  error: v2.Error | null;
  /** What runs beside the foreground work; null where the agent does not say (version 2). */
  background: v2.BackgroundWork[] | null;
  /** The working directory. */
  cwd: string | null;
  /** All its directories: the working directory, then the others. */
  roots: string[];
  /** Its modes. */
  modes: SessionModes | null;
  /** Its options, with their values. */
  configOptions: ((1 extends V ? v1.SessionConfigOption : never) | (2 extends V ? v2.SessionConfigOption : never))[] | null;
  /** Oldest first. */
  toolCalls: ToolCallState[];
  /** The terminals that the agent runs in version 2, oldest first, and whether the command of each has ended. */
  displayTerminals: { terminalId: string; exited: boolean }[];
  /** What the client may cancel now, by its ids (version 2). */
  cancellable: { toolCalls: string[]; terminals: string[] };
  /** The entries of its plan. */
  plan: ((1 extends V ? v1.PlanEntry : never) | (2 extends V ? v2.PlanEntry : never))[] | null;
  /** Plans that have an id. */
  planIds: string[];
  /** The commands that a user can type. */
  commands: ((1 extends V ? v1.AvailableCommand : never) | (2 extends V ? v2.AvailableCommand : never))[] | null;
  /** Compactions that have not ended. */
  openCompactions: string[];
  /** The user has logged out since it was opened, so that it may fail for want of a login. */
  authUncertain: boolean;
  /** The session whose agent runs this one below it; null for a session that the client opened. */
  parent: string | null;
  /** Whether the client may cancel its work: always, unless it is a child that does not allow it. */
  mayCancel: boolean;
}

/** A way to log in that can be used. */
export interface LoginMethod {
  /** Its id, for `authenticate`. */
  methodId: string;
  /**
   * `agent` where `authenticate` asks the agent to do it, `terminal` where the client runs it in a terminal. In version 2
   * also `custom` for a type of the two sides' own, which `auth/login` asks for, and `unknown` for one that is newer than
   * this library.
   */
  kind: "agent" | "terminal" | "custom" | "unknown";
}

/** A model provider that the agent has listed. */
export interface ProviderState {
  /** Its id. */
  providerId: string;
  /** Whether it is switched on. */
  enabled: boolean;
}

/** All that is known of a connection as a whole. */
export interface ConnectionSnapshot {
  /** How far the connection is. */
  phase: "start" | "initializing" | "ready" | "closed";
  /** The agreed version; null before it is agreed. */
  version: ProtocolVersion | null;
  /** Whether the agent works for this user, as far as anything has said. */
  login: "unknown" | "required" | "done";
  /** In the agent's order. */
  loginMethods: LoginMethod[];
  /** Questions that are settled on web pages and have not been yet. */
  openElicitations: string[];
  /** Those that the agent listed last; a draft. */
  providers: ProviderState[];
}
