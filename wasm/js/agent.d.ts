/// <reference lib="esnext.disposable" />
/** An agent: handlers for what clients ask, and a place to serve them. */
import type {
  Awaitable,
  Content,
  HostOptions,
  How,
  MetaOption,
  On,
  Peer,
  SessionNotify,
  SessionRequest,
  Transport,
} from "./shared.js";
import type { SessionSnapshot } from "./index.js";
import type { RequestId, v1 } from "./types.js";

export * from "./shared.js";

/** How an agent is set up. */
export interface AgentOptions extends HostOptions<AgentSession> {
  /** What no handler shows, as `{ promptCapabilities: { image: true } }`; `serve` refuses what nothing serves. */
  capabilities?: v1.AgentCapabilities | undefined;
  /** Ways to log in; there must be a handler for `authenticate` then. */
  authMethods?: readonly v1.AuthMethod[] | undefined;
}

/** Why a turn ended; nothing stands for `end_turn`. */
export type Ending = void | undefined | v1.StopReason | Partial<v1.PromptResponse>;
// Stands for a promise of an ending. In an async function the compiler takes a lone "refusal" for a stop reason only where
// all that is expected is a promise, and in other functions where it is a stop reason: the second half is both, and no value is.
type Promised = Promise<Ending> | ((v1.StopReason | Partial<v1.PromptResponse>) & Promise<Ending>);

/**
 * An agent. One can serve any number of clients, and each client any number of sessions. Handlers say what it can do: one
 * for `session/load` tells clients that sessions can be loaded.
 *
 *     const agent = new Agent("echo", "1.0");
 *     agent.prompt(async (turn) => {
 *       await turn.message(turn.text);
 *     });
 *     await agent.serve();
 */
export class Agent {
  constructor(name: string, version?: string, options?: AgentOptions);
  /**
   * The handler of prompts. When the client cancels, or is gone, `turn.signal` aborts and calls of the turn reject with
   * its reason; however the handler ends then, the answer is `cancelled`. Nobody needs to listen to these rejections. A
   * client that breaks TURN-03 has its second prompt delivered, and both handlers run; `policies: { warning: "strict" }`
   * refuses it.
   */
  prompt(handler: (turn: Turn) => Promised): this;
  prompt(handler: (turn: Turn) => Awaitable<Ending>): this;
  /**
   * The handler of new sessions; what it returns is added to the result. A `sessionId` replaces the one made up. What it
   * says of the session follows the answer, and is not said where the handler fails.
   */
  newSession(
    handler: (session: AgentSession, params: v1.NewSessionRequest, how: How) => Awaitable<Partial<v1.NewSessionResponse> | void>,
  ): this;
  /** The handler of sessions that are to be loaded. It replays them with {@link AgentSession.update} before it returns. */
  loadSession(
    handler: (session: AgentSession, params: v1.LoadSessionRequest, how: How) => Awaitable<v1.LoadSessionResponse | void>,
  ): this;
  /** The handler of sessions that are to go on without a replay. What it says of the session follows the answer. */
  resumeSession(
    handler: (session: AgentSession, params: v1.ResumeSessionRequest, how: How) => Awaitable<v1.ResumeSessionResponse | void>,
  ): this;
  /**
   * The handler of any other method: called with the session it is about, which need not be open, or the client, and the
   * params. Refused at once where it could never be called.
   */
  on: On<v1.ClientRequests, v1.ClientNotifications, AgentSession, ClientPeer, this>;
  /** Serves one client until it closes its side; under Node on standard input and output, where nothing else is given. */
  serve(transport?: Transport, options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** The client, as its agent sees it. */
export interface ClientPeer extends Peer<"agent", v1.AgentRequests, v1.AgentNotifications> {
  /** What the client can do for the agent. */
  readonly capabilities: v1.ClientCapabilities;
  /** Its name and version, as far as it told. */
  readonly info: Partial<v1.Implementation>;
  /** Open sessions by their ids. */
  readonly sessions: ReadonlyMap<string, AgentSession>;
}

/** A session, on the agent's side. */
export interface AgentSession {
  /** Its id. */
  readonly id: string;
  /** The client that opened it. */
  readonly client: ClientPeer;
  /** Whether it is open. One that is only to be deleted, say, is not: of it there is the id. */
  readonly open: boolean;
  /** The working directory, an absolute path; empty where it is not open. */
  readonly cwd: string;
  /** The working directory and all further roots. */
  readonly roots: readonly string[];
  /** The MCP servers that the client wants the agent to use. */
  readonly mcpServers: readonly v1.McpServer[];
  /** What came as `_meta` with the request that opened it. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /** All that the client has been told of it: its plan, modes, tool calls; a new object each time. Nothing where it is not open. */
  readonly snapshot: SessionSnapshot<1> | undefined;
  /** Whatever the agent wants to keep with it. */
  data: any;
  /** Tells the client of something in this session, also between turns. In a handler that opens it, it follows the answer. */
  update(update: v1.SessionUpdate, options?: { signal?: AbortSignal | undefined } & MetaOption): Promise<void>;
  /** As the client's, with the session's id added. What asks the user is withdrawn when the client cancels the turn. */
  request: SessionRequest<v1.AgentRequests>;
  /** As the client's, with the session's id added. */
  notify: SessionNotify<v1.AgentNotifications>;
}

/**
 * One prompt, until it is answered. Each call waits while the client is slow to read, rejects with the reason of `signal`
 * once the turn is cancelled, and with `Misuse` when the rules forbid it, as reading through a client without files.
 */
export class Turn {
  private constructor();
  /** The session that the prompt is for. */
  readonly session: AgentSession;
  /** The client that sent it. */
  readonly client: ClientPeer;
  /** The id of the request that the prompt came with. */
  readonly id: RequestId;
  /** What came as `_meta` with the prompt. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /** The prompt as it came. */
  readonly blocks: readonly v1.ContentBlock[];
  /** Its text, put together. */
  readonly text: string;
  /** Whether the client has cancelled the turn, or is gone. */
  readonly cancelled: boolean;
  /** Aborts when the client cancels the turn, or is gone. */
  readonly signal: AbortSignal;
  /** Says something to the user. Pieces with the same id are one message. */
  message(what: Content, options?: { messageId?: string | undefined } & MetaOption): Promise<void>;
  /** Shows what the agent thinks. */
  thought(what: Content, options?: { messageId?: string | undefined } & MetaOption): Promise<void>;
  /** Shows the plan, whole; text stands for a step of medium priority that has not begun. */
  plan(entries: readonly (string | v1.PlanEntry)[], options?: MetaOption): Promise<void>;
  /** Tells the client of anything else. */
  update(update: v1.SessionUpdate, options?: MetaOption): Promise<void>;
  /**
   * Reports a tool call. With `run`, it is completed when that returns, and failed when that throws; without, use
   * `await using` and say {@link ToolCall.complete}: a block cannot tell its end from an exception, so what was not
   * completed has failed.
   */
  toolCall(title: string, options?: ToolCallOptions): Promise<ToolCall>;
  toolCall<T>(title: string, options: ToolCallOptions, run: (call: ToolCall) => Awaitable<T>): Promise<T>;
  /** Asks the user to allow a tool call: once or not at all, where `options` say nothing else. */
  askPermission(
    call: ToolCall | v1.ToolCallUpdate,
    options?: readonly v1.PermissionOption[],
    how?: MetaOption,
  ): Promise<Permission>;
  /** The text of a file, with what the user has not saved yet: `limit` lines from `line`, which counts from 1. */
  readTextFile(path: string, options?: { line?: number | undefined; limit?: number | undefined } & MetaOption): Promise<string>;
  /**
   * The text of a file: from the client where it offers files, else, under Node, from the agent's own disk; for agents that
   * run where their client does. One that serves clients elsewhere would give them its own files.
   */
  readText(path: string): Promise<string>;
  /** Writes a text file through the client; one that is not there is made. */
  writeTextFile(path: string, content: string, options?: MetaOption): Promise<void>;
  /** Runs a command in a terminal of the client's. It is released by `await using`, after `run`, or when the turn ends. */
  terminal(command: string, args?: readonly string[], options?: TerminalOptions): Promise<Terminal>;
  terminal<T>(
    command: string,
    args: readonly string[],
    options: TerminalOptions,
    run: (terminal: Terminal) => Awaitable<T>,
  ): Promise<T>;
}

/** What a tool call is when it is first reported. */
export interface ToolCallOptions extends MetaOption {
  /** Made up, unless given. */
  id?: string | undefined;
  /** What sort of work it is, which clients choose an icon by. */
  kind?: v1.ToolKind | undefined;
  /** `in_progress`; one that is to ask for permission begins as `pending`. */
  status?: v1.ToolCallStatus | undefined;
  /** The name of the tool in the program. */
  name?: string | undefined;
  /** What it shows from the start. */
  content?: readonly v1.ToolCallContent[] | undefined;
  /** A path alone will do. */
  locations?: readonly (string | v1.ToolCallLocation)[] | undefined;
  /** What the tool was given. */
  rawInput?: unknown;
}

/** A tool call that reports how far it is. */
export class ToolCall {
  private constructor();
  /** Its id, which no other call of the session has. */
  readonly id: string;
  /** What it does, for people. */
  readonly title: string;
  /** As the client was told. */
  readonly status: v1.ToolCallStatus;
  /** Reports changes; content and locations take the place of the earlier ones. */
  update(changes: Omit<v1.ToolCallUpdate, "toolCallId" | "_meta">): Promise<void>;
  /** Adds text to what the call shows. */
  text(text: string): Promise<void>;
  /** Adds a change to a file; without `oldText`, the file is new. */
  diff(path: string, newText: string, oldText?: string): Promise<void>;
  /** Adds a terminal, live. */
  show(terminal: Terminal): Promise<void>;
  /** Reports it as completed. */
  complete(options?: { rawOutput?: unknown }): Promise<void>;
  /** Reports it as failed, and why. */
  fail(text?: string): Promise<void>;
  /** Asks the user to allow it. If it is pending, it is in progress from then on, or fails at its end. */
  askPermission(options?: readonly v1.PermissionOption[], how?: MetaOption): Promise<Permission>;
  /** Reports it as failed, unless it has ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the user said. */
export class Permission {
  private constructor();
  /** The option that was chosen, if one was. */
  readonly optionId: string | undefined;
  /** Of which kind the option is: for this time or for ever, to allow or to reject. */
  readonly kind: v1.PermissionOptionKind | undefined;
  /** Whether the call may go on. */
  readonly allowed: boolean;
  /** What came as `_meta` with the answer. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
}

/** How a command is run. */
export interface TerminalOptions extends MetaOption {
  /** Environment variables to add. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Its working directory, an absolute path; the client's choice, unless given. */
  cwd?: string | undefined;
  /** Bytes of output that are kept; the beginning is dropped. */
  outputByteLimit?: number | undefined;
}

/** A command that the client runs. */
export class Terminal {
  private constructor();
  /** Its id. */
  readonly id: string;
  /** Waits for its end. */
  wait(): Promise<v1.WaitForTerminalExitResponse>;
  /** What the command has printed so far, and its exit status once it has ended. */
  output(): Promise<v1.TerminalOutputResponse>;
  /**
   * Yields what the command prints, while it does. It is asked for every `interval` milliseconds (200), and what the client
   * has dropped in between is missing.
   */
  follow(options?: { interval?: number | undefined }): AsyncGenerator<string, void, void>;
  /** Ends the command, and keeps the terminal. */
  kill(): Promise<void>;
  /** Releases it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
