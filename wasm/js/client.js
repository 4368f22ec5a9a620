// A client: what it lets agents do, and how it decides. Read next: agentpeer.js, exchange.js.
import { AgentPeer, noSession } from "./agentpeer.js";
import { whenLoaded } from "./connection.js";
import { Host, merged } from "./host.js";
import { SHOWN, TERMINALS } from "./methods.js";

/** What an agent asks the user to allow. */
export class PermissionRequest {
  constructor(session, { toolCall, options, title, description, subject, _meta }, how = {}) {
    this.session = session;
    this.id = how.id;
    this.toolCall = toolCall;
    this.title = title ?? toolCall.title ?? session._titles?.get(toolCall.toolCallId);
    this.description = description ?? undefined;
    this.subject = subject ?? undefined;
    this.options = options;
    this.meta = _meta;
    this.signal = how.signal;
  }

  allow() {
    return this.#pick("allow_once");
  }

  allowAlways() {
    return this.#pick("allow_always");
  }

  reject() {
    return this.#pick("reject_once") ?? this.#pick("reject_always");
  }

  #pick(kind) {
    return this.options.find((option) => option.kind === kind)?.optionId;
  }
}

export const rejectAll = (request) => request.reject();

export const allowAll = (request) => request.allow() ?? request.allowAlways();

const MORE = ["permission", "files", "terminals", "onUpdate", "view"];
const FILES = {
  "fs/read_text_file": ["readTextFile", async (files, session, params, how) => ({ content: await files.readTextFile(session, params, how) })],
  "fs/write_text_file": ["writeTextFile", async (files, session, params, how) => void (await files.writeTextFile(session, params, how))],
};
const BY_ID = {
  "terminal/output": "output",
  "terminal/wait_for_exit": "waitForExit",
  "terminal/kill": "kill",
  "terminal/release": "release",
};

export class Client extends Host {
  #permission;
  #files;
  #terminals;
  #ready;

  constructor(name = "libacp", version = "0", settings = {}) {
    super("client", name, version, settings, MORE);
    mustBeFunction("onUpdate", settings.onUpdate);
    this.onUpdate = settings.onUpdate;
    this.options.view = settings.view;
    this.capabilities = settings.capabilities ?? {};
    this.permission = settings.permission;
    this.files = settings.files;
    this.terminals = settings.terminals;
  }

  get permission() {
    return this.#permission ?? rejectAll;
  }

  set permission(permission) {
    mustBeFunction("permission", permission);
    this.#free("permission", permission, ["session/request_permission"]);
    this.#permission = permission;
  }

  get files() {
    return this.#files;
  }

  set files(files) {
    this.#free("files", files, Object.keys(FILES).filter((method) => typeof files?.[FILES[method][0]] === "function"));
    this.#files = files;
    this.#ready = undefined;
  }

  get terminals() {
    return this.#terminals;
  }

  set terminals(terminals) {
    this.#free("terminals", terminals, TERMINALS);
    this.#terminals = terminals;
    this.#ready = undefined;
  }

  on(method, handler) {
    const option = { "session/request_permission": this.#permission && "permission" }[method] ?? this.#own.get(method)?.option;
    if (option) throw new TypeError(`${method} is served by the option ${option}; there can be one or the other`);
    return super.on(method, handler);
  }

  /** The handler of a method, whoever has given it. */
  serves(method) {
    const own = method === "session/request_permission" ? this.#decide : this.#own.get(method)?.handler;
    return this.handlers.get(method) ?? own;
  }

  methods() {
    return [...super.methods(), ...this.#own.keys(), "session/request_permission"];
  }

  /** What agents are told that they can use. */
  offered() {
    const served = this.methods();
    const shown = served.map((method) => SHOWN[method] ?? {});
    const terminal = served.includes("terminal/create") ? [{ terminal: true }] : [];
    return [{}, ...shown, ...terminal, this.capabilities].reduce(merged);
  }

  /** Refuses what would not be called, and what nothing would serve: terminals are offered as a whole. */
  mustServe() {
    this.mustKeep((method) => this.serves(method));
    const missing = TERMINALS.filter((method) => !this.serves(method));
    const [some] = TERMINALS.filter((method) => this.handlers.has(method));
    if (!some || missing.length === 0) return;
    throw new TypeError(`${some} has a handler, but an agent needs all of terminals; missing: ${missing.join(", ")}`);
  }

  /** An option may not take the place of a handler without a word. */
  #free(option, value, methods) {
    const taken = value === undefined ? undefined : methods.find((method) => this.handlers.has(method));
    if (taken) throw new TypeError(`${option}: ${taken} has a handler already; there can be one or the other`);
  }

  #decide = async (session, params, how) => {
    const request = new PermissionRequest(session, params, how);
    const choice = await this.permission(request);
    if (choice?.outcome !== undefined) return choice;
    const optionId = choice?.optionId ?? choice;
    if (optionId == null) return { outcome: { outcome: "cancelled" } };
    if (typeof optionId === "string") return { outcome: { outcome: "selected", optionId } };
    throw new TypeError(`permission: expected an option, its id, a whole answer, or nothing, found ${typeof optionId}`);
  };

  /** Handlers for what files and terminals do. */
  get #own() {
    return (this.#ready ??= new Map([...this.#forFiles(), ...this.#forTerminals()]));
  }

  *#forFiles() {
    const files = this.#files;
    for (const [method, [name, handler]] of Object.entries(FILES)) {
      if (typeof files?.[name] !== "function") continue;
      yield [method, { option: "files", handler: (session, params, how) => handler(files, session, params, how) }];
    }
  }

  *#forTerminals() {
    const terminals = this.#terminals;
    if (!terminals) return;
    const create = async (session, params, how) => {
      if (session._isClosing || session._isOver) throw noSession();
      const terminalId = await terminals.create(session, params, how);
      if (!session._isOver) return { terminalId };
      // The session has ended meanwhile.
      await terminals.release(session, terminalId, how);
      throw noSession();
    };
    yield ["terminal/create", { option: "terminals", handler: create }];
    for (const [method, name] of Object.entries(BY_ID)) {
      const handler = (session, { terminalId }, how) => terminals[name](session, terminalId, how);
      yield [method, { option: "terminals", handler }];
    }
  }
}

function mustBeFunction(name, value) {
  if (value === undefined || typeof value === "function") return;
  throw new TypeError(`${name}: expected a function, found ${typeof value}`);
}

export async function connect(transport, client = new Client(), { timeout = 30_000, grace = 5000, signal, meta } = {}) {
  await whenLoaded();
  signal?.throwIfAborted();
  const agent = new AgentPeer(client, transport, grace);
  try {
    await agent._run({ timeout, signal, meta });
  } catch (error) {
    await agent.close();
    throw error;
  }
  return agent;
}

export { AgentPeer };
export * from "./shared.js";
