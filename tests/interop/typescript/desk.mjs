// What a client on the official SDK does for an agent, and what it has heard of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import * as acp from "@agentclientprotocol/sdk";

const { session, fs, terminal, elicitation } = acp.methods.client;
const PATIENCE = 5000;

export class Desk {
  /** Whether what is to be allowed is rejected. */
  rejects = false;
  #updates = [];
  #commands = new Map();
  #terminals = new Map();
  #count = 0;
  #waiting = new Set();

  clear() {
    this.#updates = [];
    this.notes = [];
    this.pages = [];
    this.completed = [];
  }

  /** An application of the SDK's that has all handlers. */
  client() {
    this.clear();
    const app = acp.client({ name: "full-client" });
    // First: the SDK awaits each handler that does not match, so a later place lets answers overtake.
    app.onNotification(session.update, ({ params }) => this.#take(params));
    app.onNotification(elicitation.complete, ({ params }) => this.completed.push(params.elicitationId));
    app.onNotification("_libacp.dev/note", (params) => params, ({ params }) => this.notes.push(params));
    app.onRequest("_libacp.dev/echo", (params) => params, ({ params }) => params);
    app.onRequest(session.requestPermission, ({ params }) => this.#choose(params));
    app.onRequest(elicitation.create, ({ params }) => this.#answer(params));
    app.onRequest(fs.writeTextFile, ({ params }) => void writeFileSync(params.path, params.content) ?? {});
    app.onRequest(fs.readTextFile, ({ params: { path, line = 1, limit } }) => {
      const lines = readFileSync(path, "utf8").match(/[^\n]*\n|[^\n]+$/g) ?? [];
      return { content: lines.slice(line - 1, limit === undefined ? undefined : line - 1 + limit).join("") };
    });
    app.onRequest(terminal.create, ({ params }) => this.#start(params));
    app.onRequest(terminal.waitForExit, ({ params }) => this.#terminals.get(params.terminalId).exited);
    app.onRequest(terminal.output, ({ params }) => {
      const { printed, status } = this.#terminals.get(params.terminalId);
      return { output: printed, truncated: false, exitStatus: status };
    });
    app.onRequest(terminal.kill, ({ params }) => void this.#terminals.get(params.terminalId).child.kill() ?? {});
    app.onRequest(terminal.release, ({ params }) => void this.#release(params.terminalId) ?? {});
    return app;
  }

  /** How many terminals are there. */
  get terminals() {
    return this.#terminals.size;
  }

  /** What was heard of a session, in order, but for its commands. */
  updates(sessionId) {
    return this.#updates.filter((each) => each.sessionId === sessionId).map(({ update }) => update);
  }

  /** The same, once it is so. */
  async until(sessionId, isSo) {
    const late = Date.now() + PATIENCE;
    while (!isSo(this.updates(sessionId))) {
      if (Date.now() > late) throw new Error(`nothing more was heard of ${sessionId}: ${JSON.stringify(this.updates(sessionId))}`);
      await this.#news();
    }
    return this.updates(sessionId);
  }

  /** The commands of a session, once they were told. */
  async commands(sessionId) {
    const late = Date.now() + PATIENCE;
    while (!this.#commands.has(sessionId) && Date.now() < late) await this.#news();
    const commands = this.#commands.get(sessionId) ?? [];
    this.#commands.delete(sessionId);
    return commands;
  }

  #news() {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      setTimeout(resolve, 100);
    });
  }

  #take({ sessionId, update }) {
    if (update.sessionUpdate === "available_commands_update") this.#commands.set(sessionId, update.availableCommands);
    else this.#updates.push({ sessionId, update });
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #choose({ options }) {
    const { optionId } = options.find(({ kind }) => kind === (this.rejects ? "reject_once" : "allow_once"));
    return { outcome: { outcome: "selected", optionId } };
  }

  #answer({ mode, elicitationId }) {
    if (mode === "form") return { action: "accept", content: { colour: "blue" } };
    this.pages.push(elicitationId);
    return { action: "accept" };
  }

  #start({ command, args, env, cwd }) {
    const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(command, args ?? [], { cwd: cwd ?? undefined, env: { ...process.env, ...added }, stdio: ["ignore", "pipe", "pipe"] });
    const made = { child, printed: "" };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (made.printed += data));
    made.exited = once(child, "close").then(([exitCode, signal]) => (made.status = { exitCode, signal }));
    const terminalId = `terminal-${++this.#count}`;
    this.#terminals.set(terminalId, made);
    return { terminalId };
  }

  #release(terminalId) {
    this.#terminals.get(terminalId).child.kill();
    this.#terminals.delete(terminalId);
  }
}
