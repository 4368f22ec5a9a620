/// <reference lib="esnext.disposable" />
/** Clients: what they offer to agents, and ways to connect to an agent. */
import type {
  Awaitable,
  ChildLike,
  Content,
  HostOptions,
  How,
  MetaOption,
  NamedCallOptions,
  On,
  Peer,
  SessionNotify,
  SessionRequest,
  Transport,
  UpdateOf,
} from "./shared.js";
import type { PermissionDecision, PermissionPolicy, PermissionRules, SessionSnapshot, SessionView, Version } from "./index.js";
import type { RequestId, v1, v2 } from "./types.js";

export type { PermissionDecision, PermissionRules, SessionEntry, SessionView, SessionViewChanges } from "./index.js";
export { PermissionPolicy, cutOutput } from "./index.js";
export * from "./shared.js";

/** Reads and writes files for agents; the functions that it has are advertised. */
export interface FileAccess {
  /** Called before a session is opened with its directories. */
  begin?(session: ClientSession<Version>): void;
  /** Called when an open session was opened again: it now has the directories with which `made` began. */
  adopt?(session: ClientSession<Version>, made: ClientSession<Version>): void;
  /** Returns the text of a file, or of the requested lines. */
  readTextFile?(session: ClientSession<Version>, params: v1.ReadTextFileRequest, how: How): Awaitable<string>;
  /** Writes a file. */
  writeTextFile?(session: ClientSession<Version>, params: v1.WriteTextFileRequest, how: How): Awaitable<void>;
}

/** Runs commands for agents. */
export interface TerminalAccess {
  /** Starts a command and returns the id of its terminal. */
  create(session: ClientSession<Version>, params: v1.CreateTerminalRequest, how: How): Awaitable<string>;
  /** Returns the output of the command so far. */
  output(session: ClientSession<Version>, id: string, how: How): Awaitable<v1.TerminalOutputResponse>;
  /** Waits until the command has ended, and returns how it ended. */
  waitForExit(session: ClientSession<Version>, id: string, how: How): Awaitable<v1.WaitForTerminalExitResponse>;
  /** Kills the command and keeps its output. */
  kill(session: ClientSession<Version>, id: string, how: How): Awaitable<void>;
  /** Kills the command and removes the terminal. */
  release(session: ClientSession<Version>, id: string, how: How): Awaitable<void>;
  /**
   * Called when the session or its connection has ended. A terminal that is created after that is released immediately.
   */
  end?(session: ClientSession<Version>): Awaitable<void>;
}

/** A question of an agent, whether a tool call may run. */
export interface PermissionRequest<V extends Version = 1> {
  /** The session of the request. */
  readonly session: ClientSession<V>;
  /** The id of the request. */
  readonly id: RequestId;
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /** The title: of the request (version 2), of the tool call in the request, or from earlier updates. */
  readonly title: string | undefined;
  /** Why the agent asks (version 2). */
  readonly description: string | undefined;
  /** What the agent asks about, as it said it (version 2). */
  readonly subject: v2.RequestPermissionSubject | undefined;
  /**
   * The tool call that waits for the answer. If the agent asks about something else, such as a command that it runs itself
   * (version 2), a tool call that says so.
   */
  readonly toolCall: v1.ToolCallUpdate;
  /** The options to choose from. */
  readonly options: readonly v1.PermissionOption[];
  /** Aborts when the turn is cancelled; the request has been answered by then. */
  readonly signal: AbortSignal;
  /**
   * The id of the option that allows the tool call once; undefined if there is none, even if there is one that allows
   * it always.
   */
  allow(): string | undefined;
  /** The id of the option that allows the tool call always, if there is one. */
  allowAlways(): string | undefined;
  /** The id of the option that rejects the tool call, once if there is such an option, otherwise always. */
  reject(): string | undefined;
}

/** The answer to a permission request. */
export type Choice = string | v1.PermissionOption | v1.RequestPermissionResponse | null | undefined;

/** The notifications of agents; updates are those of the agreed version. */
type Updates<V extends Version> = Omit<v1.AgentNotifications, "session/update"> & {
  "session/update": { params: NotificationOf<V> };
};
/** An update with its session, of the versions that may be agreed on. */
type NotificationOf<V extends Version> =
  | (1 extends V ? v1.SessionNotification : never)
  | (2 extends V ? v2.UpdateSessionNotification : never);

/** The options of a client. */
export interface ClientOptions<V extends Version = 1> extends HostOptions<ClientSession<V>, V> {
  /**
   * Answers permission requests: returns an option, its id, a complete result, or undefined for no choice. {@link
   * rejectAll} by default.
   */
  permission?: ((request: PermissionRequest<V>) => Awaitable<Choice>) | undefined;
  /**
   * A policy, or what one is made of. It answers the requests that a rule of it allows or denies, and `permission` gets
   * the others. Each session is kept as a conversation then (`view`), which says what a request is about. Node only.
   */
  permissionPolicy?: PermissionPolicy | PermissionRules | string | undefined;
  /** Called with each decision of the policy, also with those that leave a request to `permission`. */
  onDecision?: ((session: ClientSession<V>, decision: PermissionDecision) => unknown) | undefined;
  /** Reads and writes files, such as {@link Files} or {@link ReadOnlyFiles}. */
  files?: FileAccess | undefined;
  /** Runs commands, such as {@link Terminals}. */
  terminals?: TerminalAccess | undefined;
  /**
   * Capabilities to advertise in addition to those that follow from handlers, files and terminals; `connect` refuses
   * one that promises a request without a handler.
   */
  capabilities?: v1.ClientCapabilities | undefined;
  /**
   * Called with the updates that no loop receives: between turns, in turns that are only awaited, and of sessions that
   * are not open. Updates that an agent sends right after it has opened a session arrive here before `await
   * agent.newSession()` returns: distinguish sessions by `session.id`, or read {@link ClientSession.snapshot}
   * afterwards. Updates are those of the agreed version; {@link ClientSession.view} shows both alike.
   */
  onUpdate?: ((session: ClientSession<V>, update: UpdateOf<V>) => unknown) | undefined;
  /** Whether to keep each session as a conversation, which {@link ClientSession.view} shows (false). */
  view?: boolean | undefined;
}

/**
 * A client. Without options, agents may do nothing through it. With the option `versions: [1, 2]` it speaks to agents of
 * both versions, with the same handlers and calls. Version 2 has no files and terminals of clients: agents are not offered
 * them.
 */
export class Client<V extends Version = 1> {
  constructor(name?: string, version?: string, options?: ClientOptions<V>);
  /** Answers permission requests. */
  permission: NonNullable<ClientOptions<V>["permission"]>;
  /** Answers the permission requests that a rule of it allows or denies; set it before connecting, for its view. */
  get permissionPolicy(): PermissionPolicy | undefined;
  set permissionPolicy(policy: ClientOptions<V>["permissionPolicy"]);
  /** Reads and writes files; a change applies to later connections. */
  files: FileAccess | undefined;
  /** Runs commands; a change applies to later connections. */
  terminals: TerminalAccess | undefined;
  /**
   * Registers a handler for any other method. It is called with the session of the request, or with the agent, and with
   * the params. A handler that could never be called is refused immediately. Handlers for files, or for all five
   * terminal methods, advertise these.
   */
  on: On<v1.AgentRequests, Updates<V>, ClientSession<V>, AgentPeer<V>, this>;
}

/** Allows every tool call, once if there is such an option, otherwise always. */
export function allowAll(request: PermissionRequest<Version>): string | undefined;
/** Rejects every tool call. */
export function rejectAll(request: PermissionRequest<Version>): string | undefined;

/** The options of a connection to an agent; `meta` is the `_meta` of `initialize`. */
export interface ConnectOptions extends MetaOption {
  /**
   * Milliseconds to wait for the answer to `initialize` (30,000). The call rejects once the agent has been closed, up
   * to twice `grace` later. The same applies to `signal`.
   */
  timeout?: number | undefined;
  /** Milliseconds that handlers and a process have to end when the connection is closed (5,000). */
  grace?: number | undefined;
  /** Cancels connecting when it aborts before the agent has answered. */
  signal?: AbortSignal | undefined;
}

/** Connects to the agent at the other end of a transport, and sends `initialize`. */
export function connect<V extends Version = 1>(
  transport: Transport,
  client?: Client<V>,
  options?: ConnectOptions,
): Promise<AgentPeer<V>>;

/** The options for an agent's process. */
export interface SpawnOptions extends ConnectOptions {
  /** The working directory; by default that of this process. */
  cwd?: string | URL | undefined;
  /** The environment; by default that of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Where the standard error goes; by default to that of this process. A function is called with each line; the last
   * lines are then in {@link AgentEnded}, and in the message of a {@link NoResult} for a timeout.
   */
  stderr?: "inherit" | "ignore" | "pipe" | number | ((line: string) => unknown) | undefined;
  /**
   * Whether the agent gets its own process group (true). Then Ctrl-C in a terminal reaches only this process, and
   * closing ends everything that is left of the agent and of wrappers such as npx and sh.
   */
  processGroup?: boolean | undefined;
}

/**
 * Starts an agent as a child process, from a program and its arguments, and sends `initialize`. Closing it closes its
 * input; if it has not ended after `grace`, it is terminated and then killed. Node only.
 */
export function spawnAgent<V extends Version = 1>(
  command: readonly string[],
  client?: Client<V>,
  options?: SpawnOptions,
): Promise<AgentPeer<V>>;

/** The options for opening a session. */
export interface OpenOptions extends NamedCallOptions {
  /** The MCP servers for the agent to use. */
  mcpServers?: readonly v1.McpServer[] | undefined;
  /** Directories in addition to the working directory, if the agent supports them. */
  additionalDirectories?: readonly string[] | undefined;
}

/** A connected agent, as seen by its client. */
export interface AgentPeer<V extends Version = 1> extends Peer<"client", v1.ClientRequests, v1.ClientNotifications, V> {
  /** The complete answer to `initialize`, in the shape of version 1. */
  readonly greeting: v1.InitializeResponse | undefined;
  /** The capabilities that the agent advertised, by the names of version 1. */
  readonly capabilities: v1.AgentCapabilities;
  /** The login methods that the agent offers. */
  readonly authMethods: readonly v1.AuthMethod[];
  /** The process of the agent, if there is one. */
  readonly process: ChildLike | undefined;
  /** The open sessions by id. */
  readonly sessions: ReadonlyMap<string, ClientSession<V>>;
  /** Creates a session in a working directory, which is an absolute path. */
  newSession(cwd: string, options?: OpenOptions): Promise<ClientSession<V>>;
  /**
   * Loads an earlier session: await the result, or first iterate over it to receive the replayed updates. Loading an
   * open session returns its existing object.
   */
  loadSession(id: string, cwd: string, options?: OpenOptions): Exchange<ClientSession<V>, V>;
  /** Resumes an earlier session without a replay. Resuming an open session returns its existing object. */
  resumeSession(id: string, cwd: string, options?: OpenOptions): Promise<ClientSession<V>>;
  /** Iterates over the sessions that the agent stores; pages are requested when they are needed. */
  listSessions(cwd?: string, options?: NamedCallOptions): AsyncGenerator<v1.SessionInfo, void, void>;
  /** Asks the agent to delete a session, if it supports that. */
  deleteSession(id: string, options?: NamedCallOptions): Promise<v1.DeleteSessionResponse>;
  /** Logs in with one of the agent's login methods. */
  authenticate(methodId: string, options?: NamedCallOptions): Promise<v1.AuthenticateResponse>;
  /** Logs out, if the agent supports it. */
  logout(options?: NamedCallOptions): Promise<v1.LogoutResponse>;
  /** Closes the connection, and ends the process if there is one. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session, on the client's side. */
export interface ClientSession<V extends Version = 1> {
  /** The id of the session. */
  readonly id: string;
  /** The agent of the session. */
  readonly agent: AgentPeer<V>;
  /** Whether the session is open. */
  readonly open: boolean;
  /** The working directory, an absolute path. */
  readonly cwd: string;
  /** The working directory and all additional directories, to which {@link Files} confines the agent. */
  readonly roots: readonly string[];
  /** The complete answer to the call that opened the session. */
  readonly result: Partial<v1.NewSessionResponse>;
  /**
   * Everything that is known about the session, such as its modes and options; a new object each time. Undefined if the
   * session is not open.
   */
  readonly snapshot: SessionSnapshot<V> | undefined;
  /**
   * The session as a conversation: all that a client draws, whoever has received the updates. Undefined unless the
   * client has the option `view`. After the end of the session it stays as it was.
   */
  readonly view: SessionView | undefined;
  /** Any data that the client attaches to the session. */
  data: any;
  /**
   * Creates a prompt of text, a content block, or several of them. It is sent when it is first iterated over or
   * awaited.
   */
  prompt(what: Content | readonly Content[], options?: NamedCallOptions): PromptTurn<V>;
  /** Cancels the work of the session. This also answers its open permission requests. */
  cancel(options?: MetaOption): Promise<void>;
  /** Cancels one tool call, if the agent allows that (version 2). */
  cancelToolCall(toolCallId: string, options?: NamedCallOptions): Promise<v2.CancelToolCallResponse>;
  /** Sets the mode of the session. */
  setMode(modeId: string, options?: NamedCallOptions): Promise<v1.SetSessionModeResponse>;
  /** Sets a config option, and returns all options with their current values. */
  setConfigOption(configId: string, value: string | boolean, options?: NamedCallOptions): Promise<v1.SessionConfigOption[]>;
  /** Closes the session, if the agent supports it. */
  close(options?: NamedCallOptions): Promise<v1.CloseSessionResponse>;
  [Symbol.asyncDispose](): Promise<void>;
  /** Like the agent's function of the same name, with the session id added. */
  request: SessionRequest<v1.ClientRequests>;
  /** Like the agent's function of the same name, with the session id added. */
  notify: SessionNotify<v1.ClientNotifications>;
}

/**
 * A request that causes updates before its answer. Iterate over the updates, or await the answer. Leaving a loop early
 * cancels it, and so does the signal.
 */
export interface Exchange<T, V extends Version = 1> extends PromiseLike<T> {
  /** The session of the request. */
  readonly session: ClientSession<V>;
  [Symbol.asyncIterator](): AsyncGenerator<UpdateOf<V>, void, void>;
  /** Iterates over the complete params of each update, including `_meta`. */
  notifications(): AsyncGenerator<NotificationOf<V>, void, void>;
}

/** A prompt and its turn, which ends when the work that it has started does. */
export interface PromptTurn<V extends Version = 1> extends Exchange<v1.PromptResponse, V> {
  /** The answer, once the turn is over. */
  readonly result: v1.PromptResponse | undefined;
  /** The stop reason, once the turn is over. */
  readonly stopReason: v1.StopReason | undefined;
  /** The id of the prompt's message, once the turn is over (version 2). */
  readonly messageId: string | undefined;
  /**
   * Cancels the turn. The iteration continues until the agent ends the turn. A prompt that has not been sent is not
   * sent, and ends as `cancelled`; a turn that has ended does not change.
   */
  cancel(): Promise<void>;
  /** Runs the turn to its end and returns the concatenated text of the agent's messages, as they are at its end. */
  readText(): Promise<string>;
}

/** The additional argument of `may`. */
export interface FileAsked {
  /** The directory of the session that contains the file, with all links resolved. */
  readonly root: string;
  /** The session. */
  readonly session: ClientSession<Version>;
}

/** The options of {@link Files} and {@link ReadOnlyFiles}. */
export interface FilesOptions {
  /** Maximum size of a file or a text, in bytes (10,000,000). */
  most?: number | undefined;
  /**
   * Decides on each file that is to be read or written: only `true` allows it. The path is absolute and has no links.
   * The default is {@link guarded}, which a custom function may call: `guarded(path, writing, asked) ||
   * askTheUser(path)`.
   */
  may?: ((path: string, writing: boolean, asked: FileAsked) => Awaitable<boolean>) | undefined;
}

/**
 * The default for `may`: everything may be read; nothing may be written into directories of version control (`.git`),
 * or to files that editors, their extensions and the shell in them run without asking again. Node only.
 */
export function guarded(path: string, writing: boolean, asked: { readonly root: string }): boolean;

/**
 * Lets agents read the UTF-8 text files in the directories of their sessions, which are those at the time when the
 * session was opened. The requests of one session for a file take effect in order. Node only.
 *
 * On Linux with /proc, a link never leads outside, whatever is exchanged meanwhile. On macOS and Windows, and on Linux
 * without /proc, links are checked before and after a file is opened: nothing outside is read or written, but replacing
 * directories by links at the right moments can create a new, empty file or directory outside. Hard links are followed
 * on every system.
 */
export class ReadOnlyFiles {
  constructor(options?: FilesOptions);
  /** Called before the session is opened. Without this call, a session begins with its first file. */
  begin(session: ClientSession<Version>): void;
  /** Called when an open session was opened again: it now has the directories with which `made` began. */
  adopt(session: ClientSession<Version>, made: ClientSession<Version>): void;
  /** Returns the text of a file, or of the requested lines. */
  readTextFile(session: ClientSession<Version>, params: v1.ReadTextFileRequest, how?: How): Promise<string>;
}

/**
 * Lets agents read and write files. Missing directories are created. A file keeps its mode, its owner and all its
 * names. A write that fails leaves the old text; if the process is killed during a write, the file may have a beginning
 * of the new text before the rest of the old one. Node only.
 */
export class Files extends ReadOnlyFiles {
  /** Writes a file. */
  writeTextFile(session: ClientSession<Version>, params: v1.WriteTextFileRequest): Promise<void>;
}

/** The options of {@link Terminals}. */
export interface TerminalsOptions {
  /**
   * Maximum number of bytes of a command's output to keep (1 MiB). The end of the output is kept, cut at a character.
   */
  outputByteLimit?: number | undefined;
  /** Maximum number of commands at a time (64). */
  most?: number | undefined;
  /** The environment of the commands; by default that of this process. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Whether the commands end with this process, however it ends (true). A shell waits for that, so no signal is handled
   * here; on Windows they end only if this process ends normally.
   */
  endsWithProcess?: boolean | undefined;
  /** Called with the output of a command while it prints it. */
  onOutput?: ((session: ClientSession<Version>, id: string, text: string) => unknown) | undefined;
}

/**
 * Runs the commands of agents as child processes without input. An agent that gets this can do anything. A command
 * ends, with everything that is still in its process group, when its terminal is released, when its session ends, and
 * when the connection ends. Processes that it has moved to their own group (setsid), or that run as another user, are
 * not ended. Node only.
 */
export class Terminals {
  constructor(options?: TerminalsOptions);
  /** Starts a command and returns the id of its terminal. */
  create(session: ClientSession<Version>, params: v1.CreateTerminalRequest): Promise<string>;
  /** Returns the output so far, and the exit status once the command has ended. */
  output(session: ClientSession<Version>, id: string): v1.TerminalOutputResponse;
  /** Waits until the command has ended, and returns how it ended. */
  waitForExit(session: ClientSession<Version>, id: string): Promise<v1.WaitForTerminalExitResponse>;
  /** Kills the command and keeps its output. */
  kill(session: ClientSession<Version>, id: string): void;
  /** Kills the command and removes the terminal, after two seconds even if the command cannot be killed. */
  release(session: ClientSession<Version>, id: string): Promise<void>;
  /** Ends the commands of a session, including those that are being started; nothing is started for it afterwards. */
  end(session: ClientSession<Version>): Promise<void>;
}
