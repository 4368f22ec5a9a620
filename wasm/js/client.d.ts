/// <reference lib="esnext.disposable" />
/** A client: what it lets agents do, and ways to an agent. */
import type {
  Awaitable,
  ChildLike,
  Content,
  HostOptions,
  On,
  Peer,
  SessionNotify,
  SessionRequest,
  Transport,
} from "./shared.js";
import type { v1 } from "./types.js";

export * from "./shared.js";

type How = { signal: AbortSignal };

/** What reads and writes files for agents; what it has, agents are told. */
export interface FileAccess {
  readTextFile?(session: ClientSession, params: v1.ReadTextFileRequest, how: How): Awaitable<string>;
  writeTextFile?(session: ClientSession, params: v1.WriteTextFileRequest, how: How): Awaitable<void>;
}

/** What runs commands for agents. */
export interface TerminalAccess {
  /** Starts a command; the terminal's id. */
  create(session: ClientSession, params: v1.CreateTerminalRequest, how: How): Awaitable<string>;
  output(session: ClientSession, id: string, how: How): Awaitable<v1.TerminalOutputResponse>;
  waitForExit(session: ClientSession, id: string, how: How): Awaitable<v1.WaitForTerminalExitResponse>;
  kill(session: ClientSession, id: string, how: How): Awaitable<void>;
  release(session: ClientSession, id: string, how: How): Awaitable<void>;
  /** The session is over. */
  end?(session: ClientSession): Awaitable<void>;
}

/** What an agent asks the user to allow. */
export interface PermissionRequest {
  readonly session: ClientSession;
  readonly toolCall: v1.ToolCallUpdate;
  readonly options: readonly v1.PermissionOption[];
  /** Aborts when the turn is cancelled; the answer has been given then. */
  readonly signal: AbortSignal;
  /** The option that allows it, for this time if there is one. */
  allow(): string | undefined;
  /** The option that refuses it, for this time if there is one. */
  reject(): string | undefined;
}

export interface ClientOptions extends HostOptions {
  /** Decides on tool calls: an option, its id, or nothing for no choice. {@link rejectAll}, unless given. */
  permission?: ((request: PermissionRequest) => Awaitable<string | v1.PermissionOption | null | undefined>) | undefined;
  files?: FileAccess | undefined;
  terminals?: TerminalAccess | undefined;
  /** What does not follow from files and terminals. */
  capabilities?: v1.ClientCapabilities | undefined;
  /** Gets the updates that nobody iterates over: between turns, and in turns that are only awaited. */
  onUpdate?: ((session: ClientSession, update: v1.SessionUpdate) => unknown) | undefined;
}

/** A client. Without options, agents may do nothing at all through it. */
export class Client {
  constructor(name?: string, version?: string, options?: ClientOptions);
  /** The handler of any other method: called with the session it is about, or the agent, and the params. */
  on: On<v1.AgentRequests, v1.AgentNotifications, ClientSession, AgentPeer, this>;
}

export function allowAll(request: PermissionRequest): string | undefined;
export function rejectAll(request: PermissionRequest): string | undefined;

export interface ConnectOptions {
  /** Milliseconds that the agent has for its answer to `initialize` (30,000). */
  timeout?: number | undefined;
  /** Milliseconds that handlers, and a process, have to end when the connection is closed (5,000). */
  grace?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** The agent at the other end of a transport, after `initialize`. */
export function connect(transport: Transport, client?: Client, options?: ConnectOptions): Promise<AgentPeer>;

export interface SpawnOptions extends ConnectOptions {
  cwd?: string | URL | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where its standard error goes: where this process's does, unless given. */
  stderr?: "inherit" | "ignore" | "pipe" | number | undefined;
}

/**
 * An agent as a child process, after `initialize`: a program and its arguments. Closing it closes its input, and after
 * `grace` helps it to end. Node only.
 */
export function spawnAgent(command: readonly string[], client?: Client, options?: SpawnOptions): Promise<AgentPeer>;

export interface OpenOptions {
  mcpServers?: readonly v1.McpServer[] | undefined;
  additionalDirectories?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** The agent, as its client sees it. */
export interface AgentPeer extends Peer<"client", v1.ClientRequests, v1.ClientNotifications> {
  readonly capabilities: v1.AgentCapabilities;
  /** Its name and version, as far as it told. */
  readonly info: Partial<v1.Implementation>;
  readonly authMethods: readonly v1.AuthMethod[];
  /** Its process, where there is one. */
  readonly process: ChildLike | undefined;
  /** Open sessions by their ids. */
  readonly sessions: ReadonlyMap<string, ClientSession>;
  /** Opens a session in a working directory, an absolute path. */
  newSession(cwd: string, options?: OpenOptions): Promise<ClientSession>;
  /** Opens an earlier session: await it, or iterate over it first for the updates that are replayed. */
  loadSession(id: string, cwd: string, options?: OpenOptions): Exchange<ClientSession>;
  /** The same without a replay. */
  resumeSession(id: string, cwd: string, options?: OpenOptions): Promise<ClientSession>;
  /** The sessions that the agent keeps, page by page as they are wanted. */
  listSessions(cwd?: string): AsyncGenerator<v1.SessionInfo, void, void>;
  deleteSession(id: string): Promise<void>;
  authenticate(methodId: string): Promise<void>;
  logout(): Promise<void>;
  /** Ends the connection, and the process where there is one. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session, on the client's side. */
export interface ClientSession {
  readonly id: string;
  readonly agent: AgentPeer;
  readonly cwd: string;
  /** The working directory and all further roots; what {@link Files} confines the agent to. */
  readonly roots: readonly string[];
  /** The answer to the call that opened it. */
  readonly result: Partial<v1.NewSessionResponse>;
  /** Whatever the client wants to keep with it. */
  data: any;
  /** A prompt: text, a block, or several. It is sent when it is first iterated over or awaited. */
  prompt(what: Content | readonly Content[], options?: { signal?: AbortSignal | undefined }): PromptTurn;
  /** Cancels what runs. Open requests for permission are answered by that. */
  cancel(): Promise<void>;
  setMode(modeId: string): Promise<void>;
  /** Sets an option; all of them as they are now. */
  setConfigOption(configId: string, value: string | boolean): Promise<v1.SessionConfigOption[]>;
  /** Closes it, for agents that can. */
  close(): Promise<void>;
  /** As the agent's, with the session's id added. */
  request: SessionRequest<v1.ClientRequests>;
  notify: SessionNotify<v1.ClientNotifications>;
}

/**
 * A request with updates before its answer. Iterate over the updates, or await the answer. Leaving a loop early cancels,
 * and so does the signal.
 */
export interface Exchange<T> extends PromiseLike<T> {
  readonly session: ClientSession;
  [Symbol.asyncIterator](): AsyncGenerator<v1.SessionUpdate, void, void>;
}

/** A prompt and its turn. */
export interface PromptTurn extends Exchange<v1.PromptResponse> {
  /** The answer, once the turn is over. */
  readonly result: v1.PromptResponse | undefined;
  readonly stopReason: v1.StopReason | undefined;
  /** Cancels the turn. The iteration goes on to its end, which the agent decides. */
  cancel(): Promise<void>;
}

/**
 * Lets agents read the UTF-8 text files in the roots of their sessions, links resolved, of `most` bytes at most. Node only.
 */
export class ReadOnlyFiles {
  constructor(options?: { most?: number });
  readTextFile(session: ClientSession, params: v1.ReadTextFileRequest): Promise<string>;
}

/** Lets agents write them too. Folders that are missing are made. Node only. */
export class Files extends ReadOnlyFiles {
  writeTextFile(session: ClientSession, params: v1.WriteTextFileRequest): Promise<void>;
}

/**
 * Runs what agents ask for, as child processes without input: whoever hands this to an agent lets it do anything. Of the
 * output, the last `outputByteLimit` bytes are kept (1 MiB) and whole characters only. There are `most` at a time (64).
 * Node only.
 */
export class Terminals {
  constructor(options?: { outputByteLimit?: number; most?: number; env?: Readonly<Record<string, string | undefined>> });
  create(session: ClientSession, params: v1.CreateTerminalRequest): Promise<string>;
  output(session: ClientSession, id: string): v1.TerminalOutputResponse;
  waitForExit(session: ClientSession, id: string): Promise<v1.WaitForTerminalExitResponse>;
  kill(session: ClientSession, id: string): void;
  release(session: ClientSession, id: string): Promise<void>;
  end(session: ClientSession): Promise<void>;
}
