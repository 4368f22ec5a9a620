// A client: what it lets agents do, and how it decides. Read next: agentpeer.js, exchange.js.
import { AgentPeer, noSession } from "./agentpeer.js";
import { whenLoaded } from "./connection.js";
import { Host, merged } from "./host.js";

/** What an agent asks the user to allow. */
export class PermissionRequest {
  constructor(session, { toolCall, options }, signal) {
    this.session = session;
    this.toolCall = toolCall;
    this.options = options;
    this.signal = signal;
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

const MORE = ["permission", "files", "terminals", "onUpdate"];
const TERMINALS = {
  output: "terminal/output",
  waitForExit: "terminal/wait_for_exit",
  kill: "terminal/kill",
  release: "terminal/release",
};
const FILES = { readTextFile: "fs/read_text_file", writeTextFile: "fs/write_text_file" };

export class Client extends Host {
  constructor(name = "libacp", version = "0", settings = {}) {
    super(name, version, settings, MORE);
    const { permission = rejectAll, files, terminals, capabilities = {}, onUpdate } = settings;
    Object.assign(this, { permission, files, terminals, onUpdate });
    const offered = terminals ? { terminal: true } : {};
    const fs = Object.keys(FILES).filter((method) => typeof files?.[method] === "function");
    if (fs.length > 0) offered.fs = Object.fromEntries(fs.map((method) => [method, true]));
    this.capabilities = merged(offered, capabilities);
    this.on("session/request_permission", async (session, params, { signal }) => {
      const choice = await this.permission(new PermissionRequest(session, params, signal));
      const optionId = choice?.optionId ?? choice;
      return { outcome: optionId == null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    });
    // The connection refuses what was not offered, so these have something to call.
    this.on("fs/read_text_file", async (session, params, how) => ({
      content: await this.files.readTextFile(session, params, how),
    }));
    this.on("fs/write_text_file", async (session, params, how) => {
      await this.files.writeTextFile(session, params, how);
    });
    this.on("terminal/create", async (session, params, how) => {
      if (session._isClosing || session._isOver) throw noSession();
      const terminalId = await this.terminals.create(session, params, how);
      if (!session._isOver) return { terminalId };
      // The session has ended meanwhile.
      await this.terminals.release(session, terminalId, how);
      throw noSession();
    });
    for (const [name, method] of Object.entries(TERMINALS)) {
      this.on(method, (session, { terminalId }, how) => this.terminals[name](session, terminalId, how));
    }
  }
}

export async function connect(transport, client = new Client(), { timeout = 30_000, grace = 5000, signal } = {}) {
  await whenLoaded();
  signal?.throwIfAborted();
  const agent = new AgentPeer(client, transport, grace);
  try {
    await agent._run({ timeout, signal });
  } catch (error) {
    await agent.close();
    throw error;
  }
  return agent;
}

export { AgentPeer };
export * from "./shared.js";
