/// <reference lib="esnext.disposable" />
/** Agents: handlers for the requests of clients, and a way to serve clients. */
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
  UpdateOf,
} from "./shared.js";
import type { SessionSnapshot, Version } from "./index.js";
import type { RequestId, v1, v2 } from "./types.js";

export * from "./shared.js";

/** The options of an agent. */
export interface AgentOptions<V extends Version = 1> extends HostOptions<AgentSession<V>, V> {
  /**
   * Capabilities to advertise in addition to those that follow from the registered handlers, such as `{
   * promptCapabilities: { image: true } }`; `serve` refuses one that promises a request without a handler.
   */
  capabilities?: v1.AgentCapabilities | undefined;
  /** The login methods to offer; they need a handler for `authenticate`. */
  authMethods?: readonly v1.AuthMethod[] | undefined;
  /**
   * Whether chunks of messages and thoughts are merged while the client is slow to read (false). Their text is joined, so
   * that the client has fewer messages to handle, and nothing else changes. Chunks that differ in more than their text are
   * not merged.
   */
  mergeChunks?: boolean | undefined;
}

/** Why a turn ended: a stop reason, a complete result, or undefined for `end_turn`. */
export type Ending = void | undefined | v1.StopReason | Partial<v1.PromptResponse>;
/** The handler of a request to cancel one thing, in version 2. */
type CancelHandler<V extends Version, M extends keyof Cancels> = (
  session: AgentSession<V>,
  params: Cancels[M]["params"],
  how: How,
) => Awaitable<Cancels[M]["result"] | void>;
/** Requests that an agent serves in version 2 only. */
type Cancels = Pick<v2.ClientRequests, "tool_call/cancel" | "terminal/cancel">;
// Stands for a promise of an ending. In an async function the compiler takes a lone "refusal" for a stop reason only where
// all that is expected is a promise, and in other functions where it is a stop reason: the second half is both, and no value is.
type Promised = Promise<Ending> | ((v1.StopReason | Partial<v1.PromptResponse>) & Promise<Ending>);

/**
 * An agent. One can serve any number of clients, and each client any number of sessions. Handlers say what it can do: one
 * for `session/load` tells clients that sessions can be loaded. With the option `versions: [1, 2]` the same handlers serve
 * clients of both versions.
 *
 *     const agent = new Agent("echo", "1.0");
 *     agent.prompt(async (turn) => {
 *       await turn.message(turn.text);
 *     });
 *     await agent.serve();
 */
export class Agent<V extends Version = 1> {
  constructor(name: string, version?: string, options?: AgentOptions<V>);
  /**
   * Registers the handler for prompts. If the client cancels the turn or disconnects, `turn.signal` aborts and the
   * calls of the turn reject with its reason; the turn then ends as `cancelled`, however the handler ends. These
   * rejections need not be handled. If a client of version 1 breaks TURN-03, its second prompt is delivered and both
   * handlers run; `policies: { warning: "strict" }` refuses it. In version 2 it waits for the end of the first.
   */
  prompt(handler: (turn: Turn<V>) => Promised): this;
  prompt(handler: (turn: Turn<V>) => Awaitable<Ending>): this;
  /**
   * Registers the handler for new sessions. Its return value is added to the result; a `sessionId` replaces the
   * generated one. Updates that it sends for the session follow the answer, and are not sent if the handler fails.
   */
  newSession(
    handler: (session: AgentSession<V>, params: v1.NewSessionRequest, how: How) => Awaitable<Partial<v1.NewSessionResponse> | void>,
  ): this;
  /**
   * Registers the handler for loading sessions. It replays the conversation with {@link AgentSession.update} before it
   * returns.
   */
  loadSession(
    handler: (session: AgentSession<V>, params: v1.LoadSessionRequest, how: How) => Awaitable<v1.LoadSessionResponse | void>,
  ): this;
  /**
   * Registers the handler for resuming sessions, which replays nothing. Updates that it sends for the session follow
   * the answer.
   */
  resumeSession(
    handler: (session: AgentSession<V>, params: v1.ResumeSessionRequest, how: How) => Awaitable<v1.ResumeSessionResponse | void>,
  ): this;
  /**
   * Registers the handler for cancelling one tool call, whatever becomes of the turn. With it, clients of version 2 are told
   * that each tool call can be cancelled until it ends. It returns once the tool will end; the tool call then ends with {@link
   * ToolCall.cancelled}. It needs version 2 among the `versions`.
   */
  onCancelTool(handler: CancelHandler<V, "tool_call/cancel">): this;
  /** The same for {@link Work.displayTerminal | terminals of the agent}. */
  onCancelTerminal(handler: CancelHandler<V, "terminal/cancel">): this;
  /**
   * Registers a handler for any other method. It is called with the session of the request, which need not be open, or
   * with the client, and with the params. A handler that could never be called is refused immediately.
   */
  on: On<v1.ClientRequests & Cancels, v1.ClientNotifications, AgentSession<V>, ClientPeer<V>, this>;
  /** Serves one client until it closes its side; under Node by default on standard input and output. */
  serve(transport?: Transport, options?: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** A connected client, as seen by its agent. */
export interface ClientPeer<V extends Version = 1> extends Peer<"agent", v1.AgentRequests, v1.AgentNotifications, V> {
  /** The complete params of `initialize`, in the shape of version 1; undefined before it. */
  readonly greeting: v1.InitializeRequest | undefined;
  /** The capabilities that the client advertised, by the names of version 1. */
  readonly capabilities: v1.ClientCapabilities;
  /** The open sessions by id. */
  readonly sessions: ReadonlyMap<string, AgentSession<V>>;
}

/** A session, on the agent's side. */
export interface AgentSession<V extends Version = 1> {
  /** The id of the session. */
  readonly id: string;
  /** The client that opened the session. */
  readonly client: ClientPeer<V>;
  /**
   * Whether the session is open. It is not if a request only names it, as to delete it; then only the id is available.
   */
  readonly open: boolean;
  /** The working directory, an absolute path; empty if the session is not open. */
  readonly cwd: string;
  /** The working directory and all additional directories. */
  readonly roots: readonly string[];
  /** The MCP servers that the client has given. */
  readonly mcpServers: readonly v1.McpServer[];
  /** The `_meta` of the request that opened the session. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /**
   * Everything that the client was told about the session, such as its plan, modes and tool calls; a new object each
   * time. Undefined if the session is not open.
   */
  readonly snapshot: SessionSnapshot<V> | undefined;
  /** Any data that the agent attaches to the session. */
  data: any;
  /**
   * Sends a `session/update`, also between turns. While a handler opens the session, updates follow its answer; the replay
   * of a load goes before it. In version 2 an update of version 1 is sent as what says the same.
   */
  update(update: UpdateOf<V> | v1.SessionUpdate, options?: { signal?: AbortSignal | undefined } & MetaOption): Promise<void>;
  /**
   * Does work that no prompt has asked for, and resolves to how it has ended. In version 2 the client sees the session
   * work meanwhile; in version 1, only what is said. Prompts wait for its end. If the client cancels the session's work
   * or closes the session, or disconnects, `work.signal` aborts. This is no error: the work ends as `cancelled`, however
   * `run` ends; an error of it that is not about the cancellation goes to `onError`. Rejects with
   * `Misuse` while a prompt is served or other work goes on (LIFE-25), and with what `run` throws.
   */
  work(run: (work: Work<V>) => Awaitable<Ending>): Promise<v1.PromptResponse>;
  /**
   * Puts a tool call or a terminal of the agent into the background: the client sees it go on beside the session's work,
   * a cancel of the turn leaves it alone, and its end is reported whenever it comes. One that was shown by an update of the
   * agent's own is named by its id. Rejects with `Misuse` for what was not shown (LIFE-32). In version 1 nothing is sent.
   */
  background(what: ToolCall | DisplayTerminal | v2.BackgroundWork): Promise<void>;
  /**
   * A plan with an id of its own; the plan of {@link Work.plan} is `main`. A client of version 1 shows the one that was set
   * last.
   */
  plan(id: string): Plan;
  /**
   * Sends a request like the client's `request`, with the session id added. Requests that ask the user are cancelled
   * when the client cancels the turn.
   */
  request: SessionRequest<v1.AgentRequests>;
  /** Sends a notification like the client's `notify`, with the session id added. */
  notify: SessionNotify<v1.AgentNotifications>;
}

/**
 * Work in a session: that on a prompt ({@link Turn}), or the agent's own ({@link AgentSession.work}). Each call waits while the
 * client is slow to read. It rejects with the reason of `signal` once the work is cancelled, and with `Misuse` if the rules
 * forbid the call, such as reading a file of a client that does not support it.
 */
export class Work<V extends Version = 1> {
  protected constructor();
  /** The session of the work. */
  readonly session: AgentSession<V>;
  /** The client of the session. */
  readonly client: ClientPeer<V>;
  /** Whether the client has cancelled the work or is gone. */
  readonly cancelled: boolean;
  /** Aborts when the client cancels the work or is gone. */
  readonly signal: AbortSignal;
  /** Sends a chunk of a message to the user. Chunks with the same id form one message. */
  message(what: Content, options?: { messageId?: string | undefined } & MetaOption): Promise<void>;
  /** Sends a chunk of the agent's reasoning. */
  thought(what: Content, options?: { messageId?: string | undefined } & MetaOption): Promise<void>;
  /** Sends the complete plan; a string stands for a pending entry of medium priority. */
  plan(entries: readonly (string | v1.PlanEntry)[], options?: MetaOption): Promise<void>;
  /** Sends any other `session/update`. */
  update(update: UpdateOf<V> | v1.SessionUpdate, options?: MetaOption): Promise<void>;
  /**
   * Reports a tool call. With `run`, it is completed when `run` returns, and failed when `run` throws. Without `run`,
   * use `await using` and call {@link ToolCall.complete}: the end of a block cannot be distinguished from an exception,
   * so a tool call that was not completed has failed.
   */
  toolCall(title: string, options?: ToolCallOptions): Promise<ToolCall>;
  toolCall<T>(title: string, options: ToolCallOptions, run: (call: ToolCall) => Awaitable<T>): Promise<T>;
  /**
   * Asks the user for permission to run a tool call, with the options to allow or reject it once, unless `options` are
   * given.
   */
  askPermission(
    call: ToolCall | v1.ToolCallUpdate,
    options?: readonly v1.PermissionOption[],
    how?: MetaOption,
  ): Promise<Permission>;
  /**
   * Reads a text file through the client, with changes that the user has not saved: `limit` lines starting at `line`,
   * which counts from 1.
   */
  readTextFile(path: string, options?: { line?: number | undefined; limit?: number | undefined } & MetaOption): Promise<string>;
  /**
   * Reads a text file: through the client if it supports that, otherwise, under Node, from the agent's disk. It is
   * meant for agents that run on the machine of their client; an agent that serves remote clients would give them its
   * own files.
   */
  readText(path: string): Promise<string>;
  /** Writes a text file through the client; a missing file is created. */
  writeTextFile(path: string, content: string, options?: MetaOption): Promise<void>;
  /**
   * Runs a command in a terminal of the client. The terminal is released by `await using`, after `run`, or when the
   * turn ends.
   */
  terminal(command: string, args?: readonly string[], options?: TerminalOptions): Promise<Terminal>;
  terminal<T>(
    command: string,
    args: readonly string[],
    options: TerminalOptions,
    run: (terminal: Terminal) => Awaitable<T>,
  ): Promise<T>;
  /**
   * Shows a terminal that the agent itself runs: what it prints is written, and then its exit. A tool call shows it with
   * {@link ToolCall.show}. In version 1 those tool calls get its last output as text, so write larger pieces.
   */
  displayTerminal(command: string, options?: DisplayTerminalOptions): Promise<DisplayTerminal>;
}

/** One prompt, until it is answered. */
export class Turn<V extends Version = 1> extends Work<V> {
  private constructor();
  /** The id of the request. */
  readonly id: RequestId;
  /** The `_meta` of the prompt. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /** The content blocks of the prompt, as received. */
  readonly blocks: readonly v1.ContentBlock[];
  /** The concatenated text of the prompt. */
  readonly text: string;
  /**
   * Keeps the prompt out of the conversation for now. Call it before the handler awaits anything: otherwise the prompt is
   * inserted then. An error of the handler before {@link insert} refuses the prompt, so that its message was never there.
   * Without effect in version 1. Throws `Misuse` if it is inserted already (LIFE-24).
   */
  hold(): void;
  /**
   * Inserts the prompt into the conversation, and so answers it. The first message, thought, plan, tool call or terminal does
   * that as well, and so does the end of the handler. Without effect if it is inserted, and in version 1.
   */
  insert(): void;
}

/** The options of a terminal of the agent. */
export interface DisplayTerminalOptions extends MetaOption {
  /** The id; generated by default. */
  id?: string | undefined;
  /** The working directory, an absolute path. */
  cwd?: string | undefined;
}

/** A terminal that the agent runs itself, as the client shows it. */
export class DisplayTerminal {
  private constructor();
  /** The id, which is unique in the session. */
  readonly id: string;
  /** Adds output: text, or bytes as the command has printed them. */
  write(data: string | Uint8Array): Promise<void>;
  /** Reports that the command has ended. */
  exit(status?: { exitCode?: number | null | undefined; signal?: string | null | undefined }): Promise<void>;
}

/** A plan with an id, of a session. */
export class Plan {
  private constructor();
  /** The id of the plan. */
  readonly id: string;
  /** Sets all entries; a string stands for a pending entry of medium priority. */
  set(entries: readonly (string | v2.PlanEntry)[], options?: MetaOption): Promise<void>;
  /** Removes the plan. Without the draft `plan_operations`, it is left without entries. */
  remove(options?: MetaOption): Promise<void>;
}

/** The options for the first report of a tool call. */
export interface ToolCallOptions extends MetaOption {
  /** The id; generated by default. */
  id?: string | undefined;
  /** The kind of work, by which clients choose an icon. */
  kind?: v1.ToolKind | undefined;
  /** The status; `in_progress` by default. A tool call that will ask for permission starts as `pending`. */
  status?: v1.ToolCallStatus | undefined;
  /** The programmatic name of the tool. */
  name?: string | undefined;
  /** The initial content. */
  content?: readonly v1.ToolCallContent[] | undefined;
  /** The affected files; a location may be given as a path. */
  locations?: readonly (string | v1.ToolCallLocation)[] | undefined;
  /** The input of the tool. */
  rawInput?: unknown;
}

/** A tool call that reports its progress. */
export class ToolCall {
  private constructor();
  /** The id, which is unique in the session. */
  readonly id: string;
  /** The title, for users. */
  readonly title: string;
  /** The status that was last reported. */
  readonly status: v1.ToolCallStatus | "cancelled";
  /** Reports changes; content and locations replace the earlier ones. */
  update(changes: Omit<v1.ToolCallUpdate, "toolCallId" | "_meta">): Promise<void>;
  /**
   * Adds to the content without sending the rest again, as {@link text} does: text, or what a tool call may show. In version
   * 1 the content is sent as a whole, at most its last 64 KiB.
   */
  append(what: string | v1.ToolCallContent, options?: MetaOption): Promise<void>;
  /** Adds text to the content. */
  text(text: string): Promise<void>;
  /** Adds a change of a file to the content; without `oldText`, the file is new. */
  diff(path: string, newText: string, oldText?: string): Promise<void>;
  /** Adds a live terminal to the content, of the client or of the agent. */
  show(terminal: Terminal | DisplayTerminal): Promise<void>;
  /** Reports the tool call as completed. */
  complete(options?: { rawOutput?: unknown }): Promise<void>;
  /** Reports the tool call as failed, with a reason. */
  fail(text?: string): Promise<void>;
  /** Reports the tool call as ended because it was cancelled; in version 1, as failed. */
  cancelled(): Promise<void>;
  /**
   * Asks the user for permission to run the tool call. A pending call is in_progress after that, or failed at its end.
   */
  askPermission(options?: readonly v1.PermissionOption[], how?: MetaOption): Promise<Permission>;
  /** Reports the tool call as failed, unless it has ended. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The answer to a permission request. */
export class Permission {
  private constructor();
  /** The id of the chosen option, if one was chosen. */
  readonly optionId: string | undefined;
  /** The kind of the chosen option: to allow or reject, once or always. */
  readonly kind: v1.PermissionOptionKind | undefined;
  /** Whether the answer allows the tool call. */
  readonly allowed: boolean;
  /** The `_meta` of the answer. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
}

/** The options of a command. */
export interface TerminalOptions extends MetaOption {
  /** Environment variables to add. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The working directory, an absolute path; chosen by the client by default. */
  cwd?: string | undefined;
  /** Maximum number of bytes of output to keep; the beginning is dropped. */
  outputByteLimit?: number | undefined;
}

/** A command that the client runs. */
export class Terminal {
  private constructor();
  /** The id of the terminal. */
  readonly id: string;
  /** Waits until the command has ended, and returns how it ended. */
  wait(): Promise<v1.WaitForTerminalExitResponse>;
  /** Returns the output so far, and the exit status once the command has ended. */
  output(): Promise<v1.TerminalOutputResponse>;
  /**
   * Yields the output while the command prints it. It is requested every `interval` milliseconds (200); output that the
   * client has discarded in between is missing.
   */
  follow(options?: { interval?: number | undefined }): AsyncGenerator<string, void, void>;
  /** Kills the command and keeps the terminal. */
  kill(): Promise<void>;
  /** Releases the terminal. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
