/** Views: sessions as conversations. A connection and an observer keep them if the option `view` says so. */
import type { Connection, Observer } from "./index.js";
import type { Json, v1, v2 } from "./types.js";

/** What a session has one of. What was not told is null. */
export interface ViewFacts {
  /** What the agent does in the foreground; in version 1 it is `running` while a prompt is open. */
  state: "idle" | "running" | "requires_action" | "unknown" | (string & {});
  /** Why the work ended last; null while it goes on. */
  stopReason: string | null;
  /** The JSON-RPC error that the work ended with. */
  error: { code: number; message: string; data?: Json } | null;
  /** How much of the context is used, and what it has cost. */
  usage: { used: number | null; size: number | null; cost: v1.Cost | null } | null;
  /** The tokens of the last turn, as the agent told them at its end. */
  turnUsage: { [member: string]: Json } | null;
  /** The title of the session. */
  title: string | null;
  /** When the session was active last, as the agent told it. */
  updatedAt: string | null;
  /** The config options, with the names of version 2 whichever the peers speak. */
  configOptions: v2.SessionConfigOption[] | null;
  /** The mode in force and those that are offered. */
  modes: { currentModeId: string; availableModes: v1.SessionMode[] | null } | null;
  /** The commands that a user can type. */
  commands: v1.AvailableCommand[] | null;
  /** What runs beside the foreground work (version 2). */
  background: v2.BackgroundWork[] | null;
  /** The agent's questions that have no answer yet, oldest first. */
  questions: ViewQuestion[];
  /** The client's prompts that have no answer yet, oldest first. */
  prompts: ViewPrompt[];
  /** Whether a conversation is being replayed. */
  replaying: boolean;
  /** Whether the session is over, so that the view changes no more. */
  frozen: boolean;
  /** How many turns there were. */
  turn: number;
  /** How many entries have become stubs. */
  trimmed: number;
  /** How many entries were dropped altogether. */
  dropped: number;
}

/** A question of the agent's that has no answer yet: a request for permission, or an elicitation. */
export interface ViewQuestion {
  /** The serial number of the request. */
  serial: number;
  /** The id of the request, as JSON text. */
  id: string;
  /** The method of the request. */
  method: string;
  /** The tool call that it is about. */
  toolCallId: string | null;
  /** The params of the request; null if they are long. */
  params: Json;
}

/** A prompt of the client's that has no answer yet. */
export interface ViewPrompt {
  /** The serial number of the request. */
  serial: number;
  /** The id of the request, as JSON text. */
  id: string;
  /** The index of its message. */
  index: number | null;
  /** The id of its message, once the agent has said it. */
  messageId: string | null;
}

/** What every entry has, and every terminal. */
export interface ViewEntryBase {
  /** Its place in the conversation. It stays the same within an epoch; places of what is gone stay empty. */
  index: number;
  /** The revision of the view in which it changed last. */
  revision: number;
  /** The revision in which its content changed other than by growing at its end. */
  rewritten: number;
  /** The number of the turn that it belongs to, from 1; 0 before the first. */
  turn: number;
  /** The id that the agent gave it, if there is one. */
  id: string | null;
  /** The members of `_meta`, merged name by name. */
  meta: { [name: string]: Json };
  /** Whether the agent knows nothing of it any more: it has refused it, or its turn (TURN-14). */
  discarded: boolean;
  /** Whether it is a stub: what it held was given up to stay within the limits. */
  trimmed: boolean;
  /** Whether a part of it was given up to stay within the limits. */
  truncated: boolean;
  /** How far its content reaches: a position for `viewContent`. 0 for what has no content. */
  end: number;
}

/** A message or a thought, without its blocks. */
export interface ViewMessageHead extends ViewEntryBase {
  type: "message";
  /** Whose message it is. */
  role: "user" | "agent" | "thought" | "session";
  /** Whether it is a prompt that the agent has not taken up yet. */
  pending: boolean;
  /** Of a message between sessions: the session that has sent it. */
  senderSessionId?: string | null;
  /** The session that receives it. */
  recipientSessionId?: string | null;
  /** Its id in the session that has sent it. */
  senderMessageId?: string | null;
  /** Its id in the session that receives it. */
  recipientMessageId?: string | null;
}

/** A message or a thought. */
export interface ViewMessage extends ViewMessageHead {
  /** Its content; adjacent text is one block. */
  blocks: (v1.ContentBlock | v2.ContentBlock)[];
}

/** A tool call, without its content. */
export interface ViewToolCallHead extends ViewEntryBase {
  type: "tool_call";
  id: string;
  /** The name of the tool. */
  name: string | null;
  /** What the tool does, for the user. */
  title: string | null;
  /** The kind of tool; `other` where it was not told. */
  kind: string;
  /** Its status; `pending` where it was not told. */
  status: "pending" | "in_progress" | "completed" | "failed" | "cancelled" | (string & {});
  /** The files that it works with. */
  locations: v1.ToolCallLocation[];
  /** The input of the tool, as the agent told it. */
  rawInput: Json;
  /** The output of the tool, as the agent told it. */
  rawOutput: Json;
  /** What the client can do with it, such as cancel it (version 2). */
  capabilities: Json;
  /** The serial number of the open request for permission that is about it. */
  permission: number | null;
}

/** A tool call. */
export interface ViewToolCall extends ViewToolCallHead {
  /** What it shows. */
  content: (v1.ToolCallContent | v2.ToolCallContent)[];
}

/** A terminal, without its output. */
export interface ViewTerminalHead extends ViewEntryBase {
  type: "terminal";
  id: string;
  /** The command; that of version 1 has its arguments behind it. */
  command: string | null;
  /** The working directory of the command. */
  cwd: string | null;
  /** The size of the terminal (version 2). */
  size: Json;
  /** How the command has ended; null while it runs. */
  exitStatus: { exitCode?: number | null; signal?: string | null } | null;
  /** What the client can do with it, such as cancel it (version 2). */
  capabilities: Json;
}

/** A terminal. */
export interface ViewTerminal extends ViewTerminalHead {
  /** What it has printed, as text: the end of that. */
  output: string;
  /** How many bytes came before the output, and were given up. */
  before: number;
}

/** A plan; version 1 has one, whose id is `main`. */
export interface ViewPlan extends ViewEntryBase {
  type: "plan";
  id: string;
  /** `{"type": "items", "planId", "entries"}`, or a plan of another type as it came. */
  plan: Json;
}

/** A condensing of the agent's context, without its summary. */
export interface ViewCompactionHead extends ViewEntryBase {
  type: "compaction";
  id: string;
  /** How far it is. */
  status: "in_progress" | "completed" | "failed" | (string & {});
  /** Why it has failed. */
  error: Json;
}

/** A condensing of the agent's context. */
export interface ViewCompaction extends ViewCompactionHead {
  /** What the context is condensed to; adjacent text is one block. */
  summary: (v1.ContentBlock | v2.ContentBlock)[];
}

/** A session that belongs to this one; its `id` is that of the session. */
export interface ViewSubagent extends ViewEntryBase {
  type: "subagent";
  id: string;
  /** Its title. */
  title: string | null;
  /** What it is for. */
  description: string | null;
  /** What the client can do with it. */
  capabilities: Json;
  /** Its state, as the agent told it last. */
  state: v2.StateUpdate | null;
  /** Its working directory. */
  cwd: string | null;
  /** Its other directories. */
  additionalDirectories: string[];
}

/** Something that the user is told in passing. */
export interface ViewNotice extends ViewEntryBase {
  type: "notice";
  /** How serious it is. */
  severity: string;
  /** What it says in short. */
  title: string | null;
  /** What it says. */
  description: string | null;
}

/** An update that this version of the library does not know. */
export interface ViewUpdate extends ViewEntryBase {
  type: "update";
  /** Its kind. */
  sessionUpdate: string;
  /** The update as it came. */
  update: Json;
}

/** An entry of a conversation. */
export type ViewEntry =
  | ViewMessage | ViewToolCall | ViewPlan | ViewCompaction | ViewSubagent | ViewNotice | ViewUpdate;

/** An entry without what can be long and grows. */
export type ViewHead =
  | ViewMessageHead | ViewToolCallHead | ViewPlan | ViewCompactionHead | ViewSubagent | ViewNotice | ViewUpdate;

/** A session as a conversation. */
export interface ViewSnapshot extends ViewFacts {
  /** A number that grows with each change. */
  revision: number;
  /** A number that grows when the conversation is replaced by another one. */
  epoch: number;
  /** The entries in order. */
  entries: ViewEntry[];
  /** The terminals, in the order in which they were first told of. */
  terminals: ViewTerminal[];
}

/** What has changed in a view since a revision; of the facts those that have changed. */
export interface ViewChanges extends Partial<ViewFacts> {
  /** The revision of the view now. */
  revision: number;
  /** A number that grows when the conversation is replaced by another one. */
  epoch: number;
  /** Whether another conversation is shown: nothing of what was read before is there any more, positions included. */
  reset: boolean;
  /** The index of the first entry that is kept; those before it were dropped. */
  first: number;
  /** The entries that are new or have changed. */
  entries: ViewHead[];
  /** The terminals that are new or have changed. */
  terminals: ViewTerminalHead[];
  /** The indexes of entries and terminals that are not there any more. */
  removed: number[];
}

/** The content of an entry or of a terminal from a position on; one of the members that depend on its type. */
export interface ViewContent {
  /** The position; 0 if this is all of the content. */
  from: number;
  /** The position to read from the next time. */
  end: number;
  /** Whether the first block goes on with the last one that was read; of a terminal, whether its text goes on. */
  continues: boolean;
  /** Of a message. */
  blocks?: (v1.ContentBlock | v2.ContentBlock)[];
  /** Of a compaction. */
  summary?: (v1.ContentBlock | v2.ContentBlock)[];
  /** Of a tool call. */
  content?: (v1.ToolCallContent | v2.ToolCallContent)[];
  /** Of a terminal. */
  output?: string;
  /** Of a terminal: how many bytes before the text were given up. */
  before?: number;
}

/** The same, as it is handed out by a {@link SessionView}: nobody can change it. */
export type Frozen<T> = { readonly [K in keyof T]: T[K] extends (infer Item)[] ? readonly Item[] : T[K] };

/** A message or a thought. */
export interface MessageEntry extends Frozen<ViewMessage> {
  /** The text of its blocks, one behind the other. Reading it while it grows does not copy it for each chunk. */
  readonly text: string;
}

/** A condensing of the agent's context. */
export interface CompactionEntry extends Frozen<ViewCompaction> {
  /** The text of its summary. */
  readonly text: string;
}

/** A tool call. */
export interface ToolCallEntry extends Frozen<ViewToolCall> {}
/** A plan. */
export interface PlanEntry extends Frozen<ViewPlan> {}
/** A session that belongs to this one. */
export interface SubagentEntry extends Frozen<ViewSubagent> {}
/** Something that the user is told in passing. */
export interface NoticeEntry extends Frozen<ViewNotice> {}
/** An update that this version of the library does not know. */
export interface UpdateEntry extends Frozen<ViewUpdate> {}
/** A terminal. */
export interface TerminalEntry extends Frozen<ViewTerminal> {}

/** An entry of a conversation; `type` says which. */
export type SessionEntry =
  | MessageEntry | ToolCallEntry | PlanEntry | CompactionEntry | SubagentEntry | NoticeEntry | UpdateEntry;

/** A session as a conversation, at one time. Nothing in it changes; what did not change is in the next one as well. */
export interface SessionViewSnapshot extends Frozen<ViewFacts> {
  /** A number that grows with each change. */
  readonly revision: number;
  /**
   * A number that grows when the conversation is replaced by another one: by what a replay told, or because the view was
   * forgotten. Indexes of entries mean something within an epoch.
   */
  readonly epoch: number;
  /** The entries in order. */
  readonly entries: readonly SessionEntry[];
  /** The terminals, in the order in which they were first told of. */
  readonly terminals: readonly TerminalEntry[];
}

/** What has changed in a view; of the facts those that have changed. */
export interface SessionViewChanges extends Partial<Frozen<ViewFacts>> {
  /** The revision of the view now. */
  readonly revision: number;
  /** A number that grows when the conversation is replaced by another one. */
  readonly epoch: number;
  /** Whether this is the first, or another conversation is shown: drop what was drawn, all that there is comes with it. */
  readonly reset: boolean;
  /** The entries that are new or have changed, in order. */
  readonly entries: readonly SessionEntry[];
  /** The terminals that are new or have changed. */
  readonly terminals: readonly TerminalEntry[];
  /** The indexes of entries and terminals that are not there any more. */
  readonly removed: readonly number[];
}

/**
 * A session as a conversation, in objects that stay the same (`===`) while they do not change: entries, their blocks,
 * lists, members. An entry that has changed is another object, which shares with the one before it what has not. All are
 * frozen. What is read is made when it is read: a view that nobody looks at costs nothing here.
 *
 * It is empty before the session is known, and stays as it was read last when the connection has forgotten the session,
 * or is freed. For a session that is opened once more after that, make another one.
 */
export interface SessionView extends SessionViewSnapshot {}
export class SessionView {
  /** @throws TypeError if the connection or the observer was made without the option `view`. */
  constructor(
    connection: Connection<any, any> | Observer,
    session: string,
    options?: {
      /** Called with what a listener throws; by default, it is thrown where nobody catches it. */
      onError?: ((error: unknown) => unknown) | undefined;
    },
  );

  /** The id of the session. */
  readonly session: string;

  /**
   * Calls a function after changes: in a microtask, once for all that came in one go. What it returns ends that. It needs
   * no object to be called on, so that React's `useSyncExternalStore(view.subscribe, view.getSnapshot)` works.
   */
  readonly subscribe: (listener: () => void) => () => void;
  /** Returns the whole conversation; the same object while nothing has changed. It needs no object to be called on. */
  readonly getSnapshot: () => SessionViewSnapshot;
  /**
   * Iterates over what changes; the first step comes at once and has all that there is. What changes while a step is
   * worked on is one step. Ends when the session or the connection is over.
   * @throws The reason of the signal, once that has aborted.
   */
  changes(options?: { signal?: AbortSignal | undefined }): AsyncGenerator<SessionViewChanges, void, void>;

  /** Returns the message with an id; if there is a thought with that id as well, not the thought. */
  message(id: string): MessageEntry | undefined;
  /** Returns the tool call with an id. */
  tool(id: string): ToolCallEntry | undefined;
  /** Returns the plan with an id; that of version 1 is `main` (the default). */
  plan(id?: string): PlanEntry | undefined;
  /** Returns the terminal with an id. */
  terminal(id: string): TerminalEntry | undefined;

  /**
   * Lets the connection forget the conversation, if the session was closed or deleted; returns whether there was one.
   * This object stays as it is. Without this call, a connection keeps the last 64 of them.
   */
  forget(): boolean;
}
