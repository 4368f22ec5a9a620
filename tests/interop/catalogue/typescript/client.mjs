// The client of the catalogue on the official TypeScript SDK:
// node client.mjs --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...
// It takes an agent through the steps of ../steps.json and prints a line for each.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Fold } from "./catalogue-fold.mjs";
import { NotOffered, Wrong, checkWritten, commandLine, fill, furnish, playAll, refused, same, short } from "./catalogue-steps.mjs";

const options = commandLine();
const { version, work, argv } = options;
const two = version === 2;
const acp = await import(two ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk");
const { agent: to, client: of } = acp.methods;
const listed = join(work, "listed");
const any = (params) => params;
const OFFERED = {
  elicitation: { form: {}, url: {} },
  ...(!two && { fs: { readTextFile: true, writeTextFile: true }, terminal: true, session: { configOptions: { boolean: {} } } }),
};
const ALL = two
  ? { session: { prompt: { image: {}, embeddedContext: {} }, delete: {}, additionalDirectories: {} } }
  : {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    };
/** What is heard of sessions by their ids, and who waits for the end of work. */
const folds = new Map();
const news = new Map();
const notes = [];
const completed = [];
let wake = () => {};
let asked = () => {};
let questions = 0;

/** The next note of the agent's has to be this. */
async function noteSays(expected) {
  while (notes.length === 0) await new Promise((resolve) => (wake = resolve));
  const { note } = notes.shift();
  if (note.startsWith("not offered: ")) throw new NotOffered(note.slice(13));
  same("note", expected, note);
}

async function permit({ title, toolCall, subject, options: choices, _meta }, signal) {
  const about = title ?? toolCall.title ?? subject?.toolCall?.title;
  questions += 1;
  asked();
  try {
    if (about === "wait") {
      await new Promise((resolve) => {
        stopWaiting = resolve;
        signal.addEventListener("abort", resolve);
        if (signal.aborted) resolve();
      });
      return { outcome: { outcome: "cancelled" } };
    }
    const traced = about === "meta" && _meta?.["libacp.dev/trace"] === "abc";
    const kind = about === "allow" || traced ? "allow_once" : "reject_once";
    return { outcome: { outcome: "selected", optionId: choices.find((each) => each.kind === kind).optionId } };
  } finally {
    questions -= 1;
  }
}
let stopWaiting;

const terminals = new Map();
function start({ command, args, env }) {
  const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const child = spawn(command, args ?? [], { env: { ...process.env, ...added }, stdio: ["ignore", "pipe", "inherit"] });
  const made = { child, output: "" };
  child.stdout.on("data", (data) => (made.output += data));
  made.exited = once(child, "close").then(([exitCode, signal]) => (made.exitStatus = { exitCode, signal }));
  const terminalId = `terminal-${terminals.size}`;
  terminals.set(terminalId, made);
  return { terminalId };
}

function read({ path, line = 1, limit }) {
  try {
    const lines = readFileSync(path, "utf8").match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return { content: lines.slice(line - 1, limit == null ? undefined : line - 1 + limit).join("") };
  } catch {
    throw new acp.RequestError(-32002, "There is no such file");
  }
}

function client() {
  const app = acp.client({ name: "catalogue" });
  // First: the SDK awaits each handler that does not match, so a later place lets answers overtake.
  app.onNotification(of.session.update, ({ params: { sessionId, update } }) => {
    if (!folds.has(sessionId)) folds.set(sessionId, new Fold());
    folds.get(sessionId).take(update);
    news.get(sessionId)?.();
  });
  app.onNotification("_libacp.dev/noted", any, ({ params }) => (notes.push(params), wake()));
  app.onRequest("_libacp.dev/echo", any, ({ params }) => params);
  app.onRequest(of.session.requestPermission, ({ params, signal }) => permit(params, signal));
  app.onRequest(of.elicitation.create, ({ params: { mode, message } }) => {
    if (mode === "url") return { action: "accept" };
    return message === "Which colour?" ? { action: "accept", content: { colour: "blue" } } : { action: "decline" };
  });
  app.onNotification(of.elicitation.complete, ({ params }) => void completed.push(params.elicitationId));
  if (two) return app;
  app.onRequest(of.fs.readTextFile, ({ params }) => read(params));
  app.onRequest(of.fs.writeTextFile, ({ params }) => (writeFileSync(params.path, params.content), {}));
  app.onRequest(of.terminal.create, ({ params }) => start(params));
  const named = (work) => ({ params }) => work(terminals.get(params.terminalId));
  app.onRequest(of.terminal.waitForExit, named(({ exited }) => exited));
  app.onRequest(of.terminal.output, named(({ output, exitStatus }) => ({ output, exitStatus, truncated: false })));
  app.onRequest(of.terminal.kill, named(({ child }) => (child.kill(), {})));
  app.onRequest(of.terminal.release, named(({ child }) => (child.kill(), {})));
  return app;
}

/** An agent's process, and what it has said of itself. */
class Agent {
  async start(argv) {
    this.child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    this.exited = once(this.child, "exit");
    this.connection = client().connect(acp.ndJsonStream(Writable.toWeb(this.child.stdin), Readable.toWeb(this.child.stdout)));
    const info = { name: "catalogue", version: "1.0" };
    const hello = two ? { info, capabilities: OFFERED } : { clientInfo: info, clientCapabilities: OFFERED };
    this.hello = await this.ask(to.initialize, { protocolVersion: version, ...hello });
    this.ways = (this.hello.authMethods ?? []).map(({ id, methodId }) => methodId ?? id);
    return this;
  }

  ask(method, params, how) {
    return this.connection.agent.request(method, params, how);
  }

  tell(method, params) {
    return this.connection.agent.notify(method, params);
  }

  async end() {
    this.connection.close();
    this.child.stdin.destroy();
    const [code] = await this.exited;
    return code;
  }

  async open(method = to.session.new, params = {}) {
    const result = await this.ask(method, { cwd: work, mcpServers: [], ...params });
    const id = params.sessionId ?? result.sessionId;
    if (!folds.has(id)) folds.set(id, new Fold());
    folds.get(id).open(result);
    return id;
  }

  /** Sends a prompt; how its work has ended. */
  async prompt(sessionId, text, blocks = []) {
    const fold = folds.get(sessionId);
    const prompt = [{ type: "text", text }, ...blocks];
    // In version 2 the agent says it, and the end of the work is an update.
    if (!two) fold.say("user", undefined, [prompt[0]]);
    fold.shown.stop = undefined;
    const result = await this.ask(to.session.prompt, { sessionId, prompt, _meta: { "libacp.dev/trace": "abc" } });
    if (!two) return (fold.shown.stop = result.stopReason);
    while (fold.shown.state !== "idle" || !fold.shown.stop) await new Promise((resolve) => news.set(sessionId, resolve));
    if (fold.shown.stop === "error") throw Object.assign(new Error(fold.shown.error?.message), { code: fold.shown.error?.code });
    return fold.shown.stop;
  }

  async says(sessionId, id, expected) {
    const before = folds.get(sessionId).seen.text.length;
    await this.prompt(sessionId, `step: ${id}`);
    same("text", expected, folds.get(sessionId).seen.text.slice(before));
  }

  async list(params = {}) {
    const { sessions } = await this.ask(to.session.list, params);
    return Object.fromEntries(sessions.map(({ sessionId, cwd }) => [sessionId, cwd]));
  }
}

let agent;
let guarded;

async function see(step) {
  const id = await agent.open();
  await agent.prompt(id, `step: ${step.id}`, fill(step.with ?? [], work));
  // Answers overtake what has no handler in the first place.
  while (step.see.completed && completed.length === 0) await sleep(2);
  const seen = { ...folds.get(id).seen, completed };
  if (seen.text.startsWith("not offered: ")) throw new NotOffered(seen.text.slice(13));
  same("", fill(step.see, work), seen);
  same("open questions", 0, questions);
  checkWritten(step, work);
}

async function closed() {
  const sessionId = await agent.open();
  await agent.says(sessionId, "session.load.replay", "Remembered.");
  await agent.ask(to.session.close, { sessionId });
  return sessionId;
}

/** Starts a turn, and does something once it has said a word. */
async function during(id, act) {
  const sessionId = await agent.open();
  const turn = agent.prompt(sessionId, `step: ${id}`);
  while (folds.get(sessionId).seen.text === "") await sleep(2);
  await act(sessionId);
  same("stop reason", "cancelled", await turn);
  return sessionId;
}

async function configure(step, configId, value, expected) {
  const sessionId = await agent.open();
  const type = typeof value === "boolean" ? { type: "boolean" } : two ? { type: "id" } : {};
  const { configOptions } = await agent.ask(to.session.setConfigOption, { sessionId, configId, value, ...type });
  const fold = folds.get(sessionId).open({ configOptions });
  same("options", value, configId === "mode" ? fold.shown.mode : fold.shown.options[configId]);
  await agent.says(sessionId, step.id, expected);
}

const load = (sessionId) =>
  two ? agent.open(to.session.resume, { sessionId, replayFrom: { type: "start" } }) : agent.open(to.session.load, { sessionId });

const STEPS = {
  async "auth.login"() {
    guarded = await new Agent().start([...argv, "--login"]);
    same("ways", ["key"], guarded.ways);
    await refused("session/new", -32000, guarded.open());
    await guarded.ask(two ? to.auth.login : to.authenticate, { methodId: "key" });
    await guarded.open();
  },
  async "auth.logout"() {
    await guarded.ask(two ? to.auth.logout : to.logout, {});
    await refused("session/new", -32000, guarded.open());
    await guarded.end();
  },
  async "auth.none"() {
    agent = await new Agent().start(argv);
    same("ways", [], agent.ways);
    await agent.open();
  },
  "init.version": async () => same("version", version, agent.hello.protocolVersion),
  "init.info": async () => same("info", { name: "catalogue", version: "1.0" }, agent.hello.agentInfo ?? agent.hello.info),
  "init.capabilities": async () => same("capabilities", ALL, agent.hello.agentCapabilities ?? agent.hello.capabilities),
  async "session.new"() {
    const [one, other] = [await agent.open(), await agent.open()];
    if (!one || one === other) throw new Wrong(`ids: expected two, got ${one} and ${other}`);
    same("", { mode: "ask", options: { model: "small", web: false } }, folds.get(one).seen);
  },
  async "session.list"() {
    const [one, other] = [await agent.open(to.session.new, { cwd: listed }), await agent.open()];
    same("all sessions", { [one]: listed, [other]: work }, await agent.list());
    same("sessions of a folder", [one], Object.keys(await agent.list({ cwd: listed })));
  },
  async "session.load.replay"(step) {
    const sessionId = await closed();
    const { transcript } = folds.get(sessionId).seen;
    folds.delete(sessionId);
    await load(sessionId);
    same("", step.see, folds.get(sessionId).seen);
    same("before", transcript, folds.get(sessionId).seen.transcript);
    await agent.says(sessionId, "session.load.replay", "Remembered.");
  },
  "session.load.unknown": () => refused("the load", -32002, load("nobody")),
  async "session.resume"() {
    const sessionId = await closed();
    folds.delete(sessionId);
    await agent.open(to.session.resume, { sessionId });
    same("", { transcript: [], options: { model: "small" } }, folds.get(sessionId).seen);
    await agent.says(sessionId, "session.resume", "Remembered.");
  },
  "session.close": () => during("session.close", (sessionId) => agent.ask(to.session.close, { sessionId })),
  async "session.delete"() {
    const sessionId = await closed();
    await agent.ask(to.session.delete, { sessionId });
    if (sessionId in (await agent.list())) throw new Wrong("the session is still listed");
  },
  async "session.multi"() {
    const ids = [await agent.open(), await agent.open()];
    const counted = (id) => Array.from({ length: 20 }, (_, number) => `${id} ${number};`).join("");
    await Promise.all(ids.map((id) => agent.says(id, "session.multi", counted(id))));
  },
  async "session.folders"() {
    await agent.says(await agent.open(to.session.new, { additionalDirectories: [listed] }), "session.folders", listed);
  },
  async "mode.set"(step) {
    if (two) return configure(step, "mode", "code", "code small false");
    const sessionId = await agent.open();
    await agent.ask(to.session.setMode, { sessionId, modeId: "code" });
    await agent.says(sessionId, step.id, "code small false");
    same("mode", "code", folds.get(sessionId).seen.mode);
  },
  "config.select": (step) => configure(step, "model", "large", "ask large false"),
  "config.boolean": (step) => configure(step, "web", true, "ask small true"),
  "config.grouped": (step) => configure(step, "style", "haiku", "haiku"),
  async "perm.cancelled"() {
    const sessionId = await agent.open();
    const wasAsked = new Promise((resolve) => (asked = resolve));
    const turn = agent.prompt(sessionId, "step: perm.cancelled");
    await wasAsked;
    await agent.tell(to.session.cancel, { sessionId });
    stopWaiting();
    same("stop reason", "cancelled", await turn);
    same("open questions", 0, questions);
  },
  async "cancel.prompt"() {
    const id = await during("cancel.prompt", (sessionId) => agent.tell(to.session.cancel, { sessionId }));
    await agent.says(id, "session.load.replay", "Remembered.");
  },
  async "cancel-request.client"() {
    const stop = new AbortController();
    const waiting = agent.ask("_libacp.dev/wait", {}, { cancellationSignal: stop.signal }).catch(() => {});
    await noteSays("waiting");
    stop.abort();
    await waiting;
    while ((await agent.ask("_libacp.dev/given-up", {})).count < 1) await sleep(10);
  },
  async "cancel-request.unknown"() {
    await agent.tell("$/cancel_request", { requestId: "nobody" });
    same("echo", { value: 1 }, await agent.ask("_libacp.dev/echo", { value: 1 }));
  },
  async "ext.request"() {
    const params = { value: [1, null, { a: "ä" }] };
    same("echo", params, await agent.ask("_libacp.dev/echo", params));
  },
  async "ext.notification"() {
    await agent.tell("_libacp.dev/note", { note: "hello" });
    await noteSays("hello");
  },
  async "error.handler"() {
    const sessionId = await agent.open();
    await refused("the prompt", -32042, agent.prompt(sessionId, "step: error.handler"));
    await agent.says(sessionId, "session.load.replay", "Remembered.");
  },
  "error.unknown-method": () => refused("a method", -32601, agent.ask("_libacp.dev/none", {})),
  async "conn.close"() {
    const other = await new Agent().start(argv);
    const waiting = other.ask("_libacp.dev/wait", {}).then(short, (error) => error);
    await noteSays("waiting");
    const status = await other.end();
    const ended = await waiting;
    if (!(ended instanceof Error)) throw new Wrong(`the request has an answer: ${ended}`);
    same("status", 0, status);
  },
  "stdio.eof-exit": async () => same("status", 0, await agent.end()),
};

furnish(work);
await playAll(options, async (step) => {
  if (!agent && !step.id.startsWith("auth.")) throw new Wrong("there is no agent");
  await (STEPS[step.id] ?? see)(step);
});
process.exit(0);
