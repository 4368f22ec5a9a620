// A client: what it lets agents do, and how it decides. Read next: agentpeer.js, exchange.js.
import { AgentPeer, noSession } from "./agentpeer.js";
import { isLoaded, whenLoaded } from "./connection.js";
import { Host } from "./host.js";
import { PermissionPolicy } from "./policy.js";

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

const ASK = "session/request_permission";
const HOOKS = ["onUpdate", "onDecision"];
const MORE = ["permission", "permissionPolicy", "files", "terminals", "view", ...HOOKS];
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
const TERMINALS = ["terminal/create", ...Object.keys(BY_ID)];

export class Client extends Host {
  #permission;
  #policy;
  #view;
  #files;
  #terminals;
  #ready;

  constructor(name = "libacp", version = "0", settings = {}) {
    super("client", name, version, settings, MORE);
    for (const hook of HOOKS) {
      mustBeFunction(hook, settings[hook]);
      this[hook] = settings[hook];
    }
    this.#view = settings.view;
    this.permission = settings.permission;
    this.permissionPolicy = settings.permissionPolicy;
    this.files = settings.files;
    this.terminals = settings.terminals;
  }

  get permission() {
    return this.#permission ?? rejectAll;
  }

  set permission(permission) {
    mustBeFunction("permission", permission);
    this.#free("permission", permission, [ASK]);
    this.#permission = permission;
  }

  get permissionPolicy() {
    // It cannot be read before the module is there.
    if (this.#policy && !(this.#policy instanceof PermissionPolicy) && isLoaded()) this.#policy = new PermissionPolicy(this.#policy);
    return this.#policy;
  }

  set permissionPolicy(policy) {
    this.#free("permissionPolicy", policy, [ASK]);
    this.#policy = policy ?? undefined;
    // What a request is about may have been told before.
    this.options.view = this.#view || this.permissionPolicy !== undefined || undefined;
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
    const asks = method === ASK && ((this.#permission && "permission") ?? (this.#policy && "permissionPolicy"));
    const option = asks || this.#own.get(method)?.option;
    if (option) throw new TypeError(`${method} is served by the option ${option}; there can be one or the other`);
    return super.on(method, handler);
  }

  /** The handler of a method, whoever has given it. */
  serves(method) {
    const own = method === ASK ? this.#decide : this.#own.get(method)?.handler;
    return this.handlers.get(method) ?? own;
  }

  methods() {
    return [...super.methods(), ...this.#own.keys(), ASK];
  }

  offered() {
    // A policy that nobody could read before is refused here, too.
    void this.permissionPolicy;
    return super.offered();
  }

  /** An option may not take the place of a handler without a word. */
  #free(option, value, methods) {
    const taken = value === undefined ? undefined : methods.find((method) => this.handlers.has(method));
    if (taken) throw new TypeError(`${option}: ${taken} has a handler already; there can be one or the other`);
  }

  #decide = async (session, params, how) => {
    const decision = this.permissionPolicy?.decide(session.agent.connection, params);
    if (decision && this.onDecision) session.agent._call("onDecision", this.onDecision, session, decision);
    if (decision && decision.action !== "ask") return chosen(decision.optionId);
    const request = new PermissionRequest(session, params, how);
    const choice = await this.permission(request);
    if (choice?.outcome !== undefined) return choice;
    return chosen(choice?.optionId ?? choice);
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

/** The answer that is an option, named by its id, or none. */
function chosen(optionId) {
  if (optionId == null) return { outcome: { outcome: "cancelled" } };
  if (typeof optionId === "string") return { outcome: { outcome: "selected", optionId } };
  throw new TypeError(`permission: expected an option, its id, a whole answer, or nothing, found ${typeof optionId}`);
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

export { AgentPeer, PermissionPolicy };
export { cutOutput } from "./connection.js";
export * from "./shared.js";
