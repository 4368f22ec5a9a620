// The client of the catalogue on libacp/client: node client.mjs --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...
// It takes an agent through the steps of ../steps.json and prints a line for each. A step with `see` is a prompt in a
// session of its own, after which the view has to show that; what else there is to do has a function here.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Files, Misuse, Terminals, spawnAgent } from "libacp/client";
import { NotOffered, Wrong, checkWritten, commandLine, diff, fill, furnish, playAll, refused, same, short } from "./catalogue-steps.mjs";

const options = commandLine();
const { version, work, argv } = options;
/** Bytes of a message that views keep: that of the largest step. */
const LARGE = 16 * 1024 * 1024;
const listed = join(work, "listed");
/** The agents: one that nobody needs to log in to, and one that asks for it. */
let agent;
let guarded;
let asked;
let noted;
let noteCame = new Promise((resolve) => (noted = resolve));

/** Elicitations that are complete. */
const completed = [];

const client = new Client("catalogue", "1.0", {
  permission(request) {
    asked?.();
    const { signal } = request;
    if (request.title === "wait" && !signal.aborted) {
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    }
    const traced = request.title === "meta" && request.meta?.["libacp.dev/trace"] === "abc";
    return request.title === "allow" || traced ? request.allow() : request.reject();
  },
  files: new Files(),
  terminals: new Terminals(),
  capabilities: { elicitation: { form: {}, url: {} }, session: { configOptions: { boolean: {} } } },
  view: true,
  limits: { viewContent: LARGE, viewBytes: 4 * LARGE },
  versions: [version],
});
client.on("elicitation/create", (_, { mode, message }) => {
  if (mode === "url") return { action: "accept" };
  return message === "Which colour?" ? { action: "accept", content: { colour: "blue" } } : { action: "decline" };
});
client.on("elicitation/complete", (_, { elicitationId }) => void completed.push(elicitationId));
client.on("_libacp.dev/echo", (_, params) => params);
client.on("_libacp.dev/noted", (_, params) => noted(params));

/** The next note of the agent's has to be this. */
async function noteSays(expected) {
  const { note } = await noteCame;
  noteCame = new Promise((resolve) => (noted = resolve));
  if (note.startsWith("not offered: ")) throw new NotOffered(note.slice(13));
  same("note", expected, note);
}

/** All that the steps ask about, in both versions. */
function seen(session) {
  const view = session.view.getSnapshot();
  const messages = view.entries.filter(({ type }) => type === "message");
  const text = (role) => messages.filter((each) => each.role === role).map((each) => each.text).join("");
  return {
    stop: view.stopReason,
    state: view.state,
    text: text("agent"),
    thoughts: text("thought"),
    plan: view.entries.find(({ type }) => type === "plan")?.plan.entries,
    tools: view.entries.filter(({ type }) => type === "tool_call").map(tool),
    commands: (view.commands ?? []).map(({ name, input }) => [name, input?.hint]),
    mode: view.modes?.currentModeId,
    options: Object.fromEntries((view.configOptions ?? []).map(({ configId, currentValue }) => [configId, currentValue])),
    usage: view.usage,
    title: view.title,
    terminals: view.terminals.map(({ output, exitStatus }) => ({ output, exit: exitStatus?.exitCode })),
    unknown: view.entries.filter(({ type }) => type === "update").map(({ update }) => update),
    transcript: view.entries.flatMap((each) => {
      if (each.type === "message") return [[each.role, each.text]];
      return each.type === "tool_call" ? [[each.type, each.title]] : [];
    }),
  };
}

function tool({ title, kind, status, content, rawInput, rawOutput, locations }) {
  const shown = content.filter(({ type, content: block }) => type === "content" && block.type === "text");
  return {
    title,
    kind,
    status,
    text: shown.map(({ content: block }) => block.text).join(""),
    input: rawInput,
    output: rawOutput,
    locations: locations.map(({ path }) => path),
    diffs: content.filter(({ type }) => type === "diff").map(diff),
  };
}

/** Plays the turn of a step in a new session, and looks at what is shown afterwards. */
async function see(step) {
  const session = await agent.newSession(work);
  const meta = { "libacp.dev/trace": "abc" };
  const { stopReason } = await session.prompt([`step: ${step.id}`, ...fill(step.with ?? [], work)], { meta });
  const shown = { ...seen(session), completed };
  // Prompts end as version 1 says it, which knows no others.
  same("stop reason", step.id === "enum.stop" ? "end_turn" : shown.stop, stopReason);
  if (shown.text.startsWith("not offered: ")) throw new NotOffered(shown.text.slice(13));
  same("", fill(step.see, work), shown);
  same("open questions", 0, session.view.getSnapshot().questions.length);
  checkWritten(step, work);
}

/** Plays the turn of a step, and looks at the text that has come with it. */
async function says(session, id, expected) {
  const before = seen(session).text.length;
  await session.prompt(`step: ${id}`);
  same("text", expected, seen(session).text.slice(before));
}

async function remembered() {
  const session = await agent.newSession(work);
  await says(session, "session.load.replay", "Remembered.");
  return session;
}

async function configure(step, id, value, expected) {
  const session = await agent.newSession(work);
  const found = await session.setConfigOption(id, value);
  same("options", value, found.find((each) => each.id === id)?.currentValue);
  same("view", value, seen(session).options[id]);
  await says(session, step.id, expected);
}

async function list(cwd) {
  const found = {};
  for await (const each of agent.listSessions(cwd)) found[each.sessionId] = each.cwd;
  return found;
}

const STEPS = {
  async "auth.login"() {
    guarded = await spawnAgent([...argv, "--login"], client);
    same("ways", ["key"], guarded.authMethods.map(({ id }) => id));
    await refused("session/new", -32000, guarded.newSession(work));
    await guarded.authenticate("key");
    await guarded.newSession(work);
  },
  async "auth.logout"() {
    await guarded.logout();
    await refused("session/new", -32000, guarded.newSession(work));
    await guarded.close();
  },
  async "auth.none"() {
    agent = await spawnAgent(argv, client);
    same("ways", [], agent.authMethods);
    await agent.newSession(work);
  },
  "init.version": async () => same("version", version, agent.connection.version),
  "init.info": async () => same("info", { name: "catalogue", version: "1.0" }, agent.info),
  async "init.capabilities"() {
    const sessionCapabilities = { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} };
    const promptCapabilities = { image: true, embeddedContext: true };
    same("capabilities", { loadSession: true, promptCapabilities, sessionCapabilities }, agent.capabilities);
  },
  async "session.new"() {
    const [one, other] = [await agent.newSession(work), await agent.newSession(work)];
    if (!one.id || one.id === other.id) throw new Wrong(`ids: expected two, got ${one.id} and ${other.id}`);
    same("", { mode: "ask", options: { model: "small", web: false } }, seen(one));
  },
  async "session.list"() {
    const [one, other] = [await agent.newSession(listed), await agent.newSession(work)];
    same("all sessions", { [one.id]: listed, [other.id]: work }, await list());
    same("sessions of a folder", [one.id], Object.keys(await list(listed)));
  },
  async "session.load.replay"(step) {
    const session = await remembered();
    const before = seen(session);
    await session.close();
    const again = await agent.loadSession(session.id, work);
    same("", step.see, seen(again));
    same("before", before.transcript, seen(again).transcript);
    await says(again, "session.load.replay", "Remembered.");
  },
  "session.load.unknown": () => refused("session/load", -32002, agent.loadSession("nobody", work)),
  async "session.resume"() {
    const session = await remembered();
    await session.close();
    const again = await agent.resumeSession(session.id, work);
    same("options", "small", again.result.configOptions.find(({ id }) => id === "model").currentValue);
    await says(again, "session.resume", "Remembered.");
  },
  async "session.close"() {
    const session = await agent.newSession(work);
    const turn = session.prompt("step: session.close");
    for await (const _ of turn) await session.close();
    same("stop reason", "cancelled", turn.stopReason);
  },
  async "session.delete"() {
    const session = await remembered();
    await session.close();
    await agent.deleteSession(session.id);
    if (session.id in (await list())) throw new Wrong("the session is still listed");
  },
  async "session.multi"() {
    const sessions = [await agent.newSession(work), await agent.newSession(work)];
    const counted = ({ id }) => Array.from({ length: 20 }, (_, number) => `${id} ${number};`).join("");
    await Promise.all(sessions.map((each) => says(each, "session.multi", counted(each))));
  },
  async "session.folders"() {
    await says(await agent.newSession(work, { additionalDirectories: [listed] }), "session.folders", listed);
  },
  async "mode.set"() {
    const session = await agent.newSession(work);
    await session.setMode("code");
    same("mode", "code", seen(session).mode);
    await says(session, "mode.set", "code small false");
  },
  "config.select": (step) => configure(step, "model", "large", "ask large false"),
  "config.boolean": (step) => configure(step, "web", true, "ask small true"),
  "config.grouped": (step) => configure(step, "style", "haiku", "haiku"),
  async "perm.cancelled"() {
    const session = await agent.newSession(work);
    const wasAsked = new Promise((resolve) => (asked = resolve));
    const turn = Promise.resolve(session.prompt("step: perm.cancelled"));
    await wasAsked;
    same("open questions", 1, session.view.getSnapshot().questions.length);
    await session.cancel();
    same("stop reason", "cancelled", (await turn).stopReason);
    same("open questions", 0, session.view.getSnapshot().questions.length);
  },
  async "cancel.prompt"() {
    const session = await agent.newSession(work);
    const turn = session.prompt("step: cancel.prompt");
    for await (const _ of turn) await turn.cancel();
    same("stop reason", "cancelled", turn.stopReason);
    await says(session, "session.load.replay", "Remembered.");
  },
  async "cancel-request.client"() {
    const stop = new AbortController();
    const waiting = agent.request("_libacp.dev/wait", {}, { signal: stop.signal }).catch(() => {});
    await noteSays("waiting");
    stop.abort();
    await waiting;
    while ((await agent.request("_libacp.dev/given-up", {})).count < 1) await sleep(10);
  },
  async "cancel-request.unknown"() {
    try {
      await agent.notify("$/cancel_request", { requestId: "nobody" });
    } catch (error) {
      throw error instanceof Misuse ? new NotOffered(error.message) : error;
    }
    same("echo", { value: 1 }, await agent.request("_libacp.dev/echo", { value: 1 }));
  },
  async "ext.request"() {
    const params = { value: [1, null, { a: "ä" }] };
    same("echo", params, await agent.request("_libacp.dev/echo", params));
  },
  async "ext.notification"() {
    await agent.notify("_libacp.dev/note", { note: "hello" });
    await noteSays("hello");
  },
  async "error.handler"() {
    const session = await agent.newSession(work);
    await refused("the prompt", -32042, session.prompt("step: error.handler"));
    await says(session, "session.load.replay", "Remembered.");
  },
  "error.unknown-method": () => refused("a method", -32601, agent.request("_libacp.dev/none", {})),
  async "conn.close"() {
    const other = await spawnAgent(argv, client);
    const waiting = other.request("_libacp.dev/wait", {}).then(short, (error) => error);
    try {
      await noteSays("waiting");
    } finally {
      await other.close();
    }
    const ended = await waiting;
    if (!(ended instanceof Error)) throw new Wrong(`the request has an answer: ${ended}`);
    same("status", 0, other.process.exitCode);
  },
  async "stdio.eof-exit"() {
    await agent.close();
    same("status", 0, agent.process.exitCode);
  },
};

async function play(step) {
  const peer = agent ?? guarded;
  if (!agent && !step.id.startsWith("auth.")) throw new Wrong("there is no agent");
  const missing = (step.needs ?? []).find((need) => (need.includes("/") || need === "logout") && peer && !peer.can(need));
  if (missing) throw new NotOffered(missing);
  await (STEPS[step.id] ?? see)(step);
}

furnish(work);
await playAll(options, play);
await guarded?.close();
await agent?.close();
