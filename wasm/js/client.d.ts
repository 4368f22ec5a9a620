/// <reference lib="esnext.disposable" />
/** A client: what it lets agents do, and ways to an agent. */
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
} from "./shared.js";
import type { SessionSnapshot } from "./index.js";
import type { RequestId, v1 } from "./types.js";

export * from "./shared.js";

/** What reads and writes files for agents; what it has, agents are told. */
export interface FileAccess {
  /** A session is about to be opened with its directories. */
  begin?(session: ClientSession): void;
  /** A session that is open was opened once more: it has the directories that `made` began with. */
  adopt?(session: ClientSession, made: ClientSession): void;
  /** The text of a file, or of the lines that are asked for. */
  readTextFile?(session: ClientSession, params: v1.ReadTextFileRequest, how: How): Awaitable<string>;
  /** Writes a file. */
  writeTextFile?(session: ClientSession, params: v1.WriteTextFileRequest, how: How): Awaitable<void>;
}

/** What runs commands for agents. */
export interface TerminalAccess {
  /** Starts a command; the terminal's id. */
  create(session: ClientSession, params: v1.CreateTerminalRequest, how: How): Awaitable<string>;
  /** What a command has printed so far. */
  output(session: ClientSession, id: string, how: How): Awaitable<v1.TerminalOutputResponse>;
  /** Waits for its end. */
  waitForExit(session: ClientSession, id: string, how: How): Awaitable<v1.WaitForTerminalExitResponse>;
  /** Ends it, and keeps what it has printed. */
  kill(session: ClientSession, id: string, how: How): Awaitable<void>;
  /** Ends it, and forgets it. */
  release(session: ClientSession, id: string, how: How): Awaitable<void>;
  /** The session is over, or its connection. A terminal that is made after that is released at once. */
  end?(session: ClientSession): Awaitable<void>;
}

/** What an agent asks the user to allow. */
export interface PermissionRequest {
  /** The session that asks. */
  readonly session: ClientSession;
  /** The id of the request. */
  readonly id: RequestId;
  /** What came as `_meta` with the request. */
  readonly meta: Readonly<Record<string, unknown>> | null | undefined;
  /** What is to be allowed, for people; the title of the tool call that is known where the request has none. */
  readonly title: string | undefined;
  /** What is to be allowed. */
  readonly toolCall: v1.ToolCallUpdate;
  /** What the user can choose. */
  readonly options: readonly v1.PermissionOption[];
  /** Aborts when the turn is cancelled; the answer has been given then. */
  readonly signal: AbortSignal;
  /** The option that allows it this time; nothing where there is none, as an option that allows it always is another answer. */
  allow(): string | undefined;
  /** The option that allows it always, if there is one. */
  allowAlways(): string | undefined;
  /** The option that refuses it, for this time if there is one. */
  reject(): string | undefined;
}

/** What is decided about a tool call. */
export type Choice = string | v1.PermissionOption | v1.RequestPermissionResponse | null | undefined;

/** What a client is, and what agents may do through it. */
export interface ClientOptions extends HostOptions<ClientSession> {
  /**
   * Decides on tool calls: an option, its id, or nothing for no choice; a whole answer, where its `_meta` matters.
   * {@link rejectAll}, unless given.
   */
  permission?: ((request: PermissionRequest) => Awaitable<Choice>) | undefined;
  /** What reads and writes files, such as {@link Files} or {@link ReadOnlyFiles}. */
  files?: FileAccess | undefined;
  /** What runs commands, such as {@link Terminals}. */
  terminals?: TerminalAccess | undefined;
  /** What does not follow from handlers, files and terminals; `connect` refuses what nothing serves. */
  capabilities?: v1.ClientCapabilities | undefined;
  /**
   * Gets the updates that nobody iterates over: between turns, in turns that are only awaited, and of sessions that are not
   * open. What an agent says right after it has opened a session comes here before `await agent.newSession()` goes on:
   * tell sessions apart by `session.id`, or read {@link ClientSession.snapshot} afterwards.
   */
  onUpdate?: ((session: ClientSession, update: v1.SessionUpdate) => unknown) | undefined;
}

/** A client. Without options, agents may do nothing at all through it. */
export class Client {
  constructor(name?: string, version?: string, options?: ClientOptions);
  /** Decides on tool calls. */
  permission: NonNullable<ClientOptions["permission"]>;
  /** What reads and writes files, for connections that are opened from now on. */
  files: FileAccess | undefined;
  /** What runs commands, for connections that are opened from now on. */
  terminals: TerminalAccess | undefined;
  /** The handler of any other method: called with the session it is about, or the agent, and the params. Refused at once where it
   * could never be called. Handlers of files, or of all five methods of terminals, offer these.
   */
  on: On<v1.AgentRequests, v1.AgentNotifications, ClientSession, AgentPeer, this>;
}

/** Allows every tool call, and always where the agent offers nothing less. */
export function allowAll(request: PermissionRequest): string | undefined;
/** Allows no tool call. */
export function rejectAll(request: PermissionRequest): string | undefined;

/** How a connection begins and ends; `meta` goes out with `initialize`. */
export interface ConnectOptions extends MetaOption {
  /**
   * Milliseconds that the agent has for its answer to `initialize` (30,000). The call rejects when the agent has been
   * closed too: up to twice `grace` later. The same holds for `signal`.
   */
  timeout?: number | undefined;
  /** Milliseconds that handlers, and a process, have to end when the connection is closed (5,000). */
  grace?: number | undefined;
  /** Gives up when it aborts before the agent has answered. */
  signal?: AbortSignal | undefined;
}

/** The agent at the other end of a transport, after `initialize`. */
export function connect(transport: Transport, client?: Client, options?: ConnectOptions): Promise<AgentPeer>;

/** How an agent's process is started. */
export interface SpawnOptions extends ConnectOptions {
  /** Its working directory; this process's, unless given. */
  cwd?: string | URL | undefined;
  /** Its environment; this process's, unless given. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Where its standard error goes: where this process's does, unless given. A function is called with each line, and the
   * last ones are in {@link AgentEnded}, and in the message of a {@link NoResult} that came of an agent's silence.
   */
  stderr?: "inherit" | "ignore" | "pipe" | number | ((line: string) => unknown) | undefined;
  /**
   * Whether it gets a process group of its own (true): then Ctrl-C in a terminal reaches this process alone, and closing
   * ends all that is left of the agent and what it was started by, as npx and sh.
   */
  processGroup?: boolean | undefined;
}

/**
 * An agent as a child process, after `initialize`: a program and its arguments. Closing it closes its input, and after
 * `grace` helps it to end. Node only.
 */
export function spawnAgent(command: readonly string[], client?: Client, options?: SpawnOptions): Promise<AgentPeer>;

/** How a session is opened. */
export interface OpenOptions extends NamedCallOptions {
  /** MCP servers that the agent is to use. */
  mcpServers?: readonly v1.McpServer[] | undefined;
  /** Directories beside the working directory, for agents that can. */
  additionalDirectories?: readonly string[] | undefined;
}

/** The agent, as its client sees it. */
export interface AgentPeer extends Peer<"client", v1.ClientRequests, v1.ClientNotifications> {
  /** What the agent can do. */
  readonly capabilities: v1.AgentCapabilities;
  /** Its name and version, as far as it told. */
  readonly info: Partial<v1.Implementation>;
  /** The ways to log in that it offers. */
  readonly authMethods: readonly v1.AuthMethod[];
  /** Its process, where there is one. */
  readonly process: ChildLike | undefined;
  /** Open sessions by their ids. */
  readonly sessions: ReadonlyMap<string, ClientSession>;
  /** Opens a session in a working directory, an absolute path. */
  newSession(cwd: string, options?: OpenOptions): Promise<ClientSession>;
  /**
   * Opens an earlier session: await it, or iterate over it first for the updates that are replayed. One that is open
   * already stays the same object.
   */
  loadSession(id: string, cwd: string, options?: OpenOptions): Exchange<ClientSession>;
  /** The same without a replay. */
  resumeSession(id: string, cwd: string, options?: OpenOptions): Promise<ClientSession>;
  /** The sessions that the agent keeps, page by page as they are wanted. */
  listSessions(cwd?: string, options?: NamedCallOptions): AsyncGenerator<v1.SessionInfo, void, void>;
  /** Deletes a session that the agent keeps, for agents that can. */
  deleteSession(id: string, options?: NamedCallOptions): Promise<v1.DeleteSessionResponse>;
  /** Logs in, in one of the ways that the agent offers. */
  authenticate(methodId: string, options?: NamedCallOptions): Promise<v1.AuthenticateResponse>;
  /** Logs out, for agents that can. */
  logout(options?: NamedCallOptions): Promise<v1.LogoutResponse>;
  /** Ends the connection, and the process where there is one. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session, on the client's side. */
export interface ClientSession {
  /** Its id. */
  readonly id: string;
  /** The agent that it is with. */
  readonly agent: AgentPeer;
  /** Whether it is open. */
  readonly open: boolean;
  /** The working directory, an absolute path. */
  readonly cwd: string;
  /** The working directory and all further roots; what {@link Files} confines the agent to. */
  readonly roots: readonly string[];
  /** The answer to the call that opened it. */
  readonly result: Partial<v1.NewSessionResponse>;
  /** All that is known of it, such as its modes and options; a new object each time. Nothing once it is closed. */
  readonly snapshot: SessionSnapshot<1> | undefined;
  /** Whatever the client wants to keep with it. */
  data: any;
  /** A prompt: text, a block, or several. It is sent when it is first iterated over or awaited. */
  prompt(what: Content | readonly Content[], options?: NamedCallOptions): PromptTurn;
  /** Cancels what runs. Open requests for permission are answered by that. */
  cancel(options?: MetaOption): Promise<void>;
  /** Switches to one of its modes. */
  setMode(modeId: string, options?: NamedCallOptions): Promise<v1.SetSessionModeResponse>;
  /** Sets an option. Returns all of them as they are now. */
  setConfigOption(configId: string, value: string | boolean, options?: NamedCallOptions): Promise<v1.SessionConfigOption[]>;
  /** Closes it, for agents that can. */
  close(options?: NamedCallOptions): Promise<v1.CloseSessionResponse>;
  [Symbol.asyncDispose](): Promise<void>;
  /** As the agent's, with the session's id added. */
  request: SessionRequest<v1.ClientRequests>;
  /** As the agent's, with the session's id added. */
  notify: SessionNotify<v1.ClientNotifications>;
}

/**
 * A request with updates before its answer. Iterate over the updates, or await the answer. Leaving a loop early cancels,
 * and so does the signal.
 */
export interface Exchange<T> extends PromiseLike<T> {
  /** The session that it is in. */
  readonly session: ClientSession;
  [Symbol.asyncIterator](): AsyncGenerator<v1.SessionUpdate, void, void>;
  /** The same, with what came beside each update, as `_meta`. */
  notifications(): AsyncGenerator<v1.SessionNotification, void, void>;
}

/** A prompt and its turn. */
export interface PromptTurn extends Exchange<v1.PromptResponse> {
  /** The answer, once the turn is over. */
  readonly result: v1.PromptResponse | undefined;
  /** Why the turn ended, once it has. */
  readonly stopReason: v1.StopReason | undefined;
  /**
   * Cancels the turn. The iteration goes on to its end, which the agent decides. A prompt that has not been sent is never
   * sent, and ends as `cancelled`; one that has ended stays as it is.
   */
  cancel(): Promise<void>;
  /** Iterates over it, and returns what the agent says as one text. */
  readText(): Promise<string>;
}

/** What is asked beside the path of a file. */
export interface FileAsked {
  /** The directory of the session that the file is in, without links. */
  readonly root: string;
  /** The session. */
  readonly session: ClientSession;
}

/** How agents may use files. */
export interface FilesOptions {
  /** Bytes that a file or a text may have (10,000,000). */
  most?: number | undefined;
  /**
   * Decides on each file that is to be read or written: only `true` allows it. The path is absolute and has no links. It
   * is {@link guarded} unless given, and may ask that: `guarded(path, writing, asked) || askTheUser(path)`.
   */
  may?: ((path: string, writing: boolean, asked: FileAsked) => Awaitable<boolean>) | undefined;
}

/**
 * What holds without a `may` of one's own: all may be read; nothing may be written into folders of version control
 * (`.git`), or where editors, their extensions and the shell in them run it without asking again. Node only.
 */
export function guarded(path: string, writing: boolean, asked: { readonly root: string }): boolean;

/**
 * Lets agents read the UTF-8 text files in the directories of their sessions, as these were when the session was opened.
 * Of one session, what is asked of a file happens in that order. Node only.
 *
 * On Linux with /proc, a link never leads outside, whatever is exchanged meanwhile. On macOS and Windows, and on Linux
 * without /proc, links are looked for before and after a file is opened: nothing outside is read or written, but whoever
 * exchanges folders for links at the right moments can have a new, empty file or folder made outside. Hard links are
 * followed everywhere.
 */
export class ReadOnlyFiles {
  constructor(options?: FilesOptions);
  /** The session is about to be opened. A session that is not told of begins with its first file. */
  begin(session: ClientSession): void;
  /** A session that is open was opened once more: it has the directories that `made` began with. */
  adopt(session: ClientSession, made: ClientSession): void;
  /** The text of a file, or of the lines that are asked for. */
  readTextFile(session: ClientSession, params: v1.ReadTextFileRequest, how?: How): Promise<string>;
}

/**
 * Lets agents write them too. Folders that are missing are made. A file keeps its mode, its owner and all its names. A
 * write that fails leaves the old text; where the process is killed in the middle of one, a beginning of the new text may
 * stand before the rest of the old one. Node only.
 */
export class Files extends ReadOnlyFiles {
  /** Writes a file. */
  writeTextFile(session: ClientSession, params: v1.WriteTextFileRequest): Promise<void>;
}

/** How agents may run commands. */
export interface TerminalsOptions {
  /** Bytes that are kept of what a command prints, the last ones, in whole characters (1 MiB). */
  outputByteLimit?: number | undefined;
  /** Commands at a time (64). */
  most?: number | undefined;
  /** Their environment; this process's, unless given. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Whether they end with this process, however it ends (true). A shell that waits for that sees to it, so no signal is
   * handled here; on Windows they end where this process ends by itself.
   */
  endsWithProcess?: boolean | undefined;
  /** Called with what a command prints, as it comes. */
  onOutput?: ((session: ClientSession, id: string, text: string) => unknown) | undefined;
}

/**
 * Runs what agents ask for, as child processes without input: whoever hands this to an agent lets it do anything. A
 * command ends, with all that is still in its process group, when it is released, when its session is over, and when the
 * connection is. What it has moved to a group of its own (setsid), and what runs as another user, is not ended. Node only.
 */
export class Terminals {
  constructor(options?: TerminalsOptions);
  /** Starts a command; the terminal's id. */
  create(session: ClientSession, params: v1.CreateTerminalRequest): Promise<string>;
  /** What it has printed so far. */
  output(session: ClientSession, id: string): v1.TerminalOutputResponse;
  /** Waits for its end. */
  waitForExit(session: ClientSession, id: string): Promise<v1.WaitForTerminalExitResponse>;
  /** Ends it, and keeps what it has printed. */
  kill(session: ClientSession, id: string): void;
  /** Ends it, and forgets it; after two seconds also where it may not be ended. */
  release(session: ClientSession, id: string): Promise<void>;
  /** Ends what a session has left, and what is just being started for it: it starts nothing any more. */
  end(session: ClientSession): Promise<void>;
}
