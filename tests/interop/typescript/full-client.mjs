// A client on the official TypeScript SDK that looks at all that a full agent offers and does:
// `node full-client.mjs [--login] -- AGENT ARGV...`. It ends with `N passed, N failed`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk";
import { Checks } from "./checks.mjs";
import { Desk } from "./desk.mjs";

const { values, positionals } = parseArgs({ options: { login: { type: "boolean" } }, allowPositionals: true });
const EXTENSION = "libacp.dev/full";
const { agent: ask } = acp.methods;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "full-client-")));
const further = join(folder, "further");
mkdirSync(further);
const checks = new Checks();
const desk = new Desk();
const everything = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  auth: { terminal: true },
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  _meta: { [EXTENSION]: true },
};
const MCP = [
  { name: "files", command: "/bin/true", args: ["-v"], env: [{ name: "A", value: "b" }] },
  { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "X", value: "y" }] },
  { type: "sse", name: "old", url: "https://example.com/sse", headers: [] },
];

/** A process of the agent's, with a client that offers all of this, while `work` runs. */
async function talking(capabilities, work) {
  const [command, ...args] = positionals;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const connection = desk.client().connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const { agent } = connection;
  try {
    const clientInfo = { name: "full-client", version: "1" };
    const told = await agent.request(ask.initialize, { protocolVersion: 1, clientCapabilities: capabilities, clientInfo });
    await work(agent, told);
  } finally {
    connection.close();
    child.stdin.destroy();
    const late = setTimeout(() => child.kill("SIGKILL"), 2000);
    const [code] = await exited;
    clearTimeout(late);
    checks.same("the agent ends by itself", code, 0);
  }
}

const setup = (more) => ({ cwd: folder, mcpServers: [], ...more });
const prompt = (agent, sessionId, text, ...more) =>
  agent.request(ask.session.prompt, { sessionId, prompt: [{ type: "text", text }, ...more] });
const current = (options) => Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue]));
/** Messages that the agent has said. */
const said = (updates) => updates.filter((each) => each.sessionUpdate === "agent_message_chunk").map((each) => each.content.text);

async function logsIn(agent, { authMethods }) {
  checks.same("ways to log in", authMethods?.map(({ id, type }) => [id, type ?? "agent"]), [["key", "agent"], ["shell", "terminal"]]);
  await checks.refused("session/new before the login", -32000, agent.request(ask.session.new, setup()));
  await checks.refused("a way that is not there", -32602, agent.request(ask.authenticate, { methodId: "none" }));
  checks.same("authenticate", await agent.request(ask.authenticate, { methodId: "key" }), {});
}

async function logsOut(agent) {
  checks.same("logout", await agent.request(ask.logout, {}), {});
  await checks.refused("session/new after the logout", -32000, agent.request(ask.session.new, setup()));
}

function capabilities({ agentCapabilities: can, agentInfo }) {
  checks.true("a name and a title", agentInfo.name.startsWith("full-") && agentInfo.title.length > 0 && agentInfo.version.length > 0);
  checks.same("loadSession", can.loadSession, true);
  checks.same("prompts", can.promptCapabilities, { image: true, audio: true, embeddedContext: true });
  checks.same("MCP", can.mcpCapabilities, { http: true, sse: true });
  const sessions = ["additionalDirectories", "close", "delete", "list", "resume"];
  checks.same("sessions", Object.keys(can.sessionCapabilities).sort(), sessions);
  checks.true("logout", can.auth?.logout != null);
}

/** All that a turn shows when the client offers everything. */
async function tours(agent, sessionId) {
  const blocks = [
    { type: "image", mimeType: "image/png", data: "aGk=" },
    { type: "audio", mimeType: "audio/wav", data: "aGk=" },
    { type: "resource_link", uri: "file:///a", name: "a" },
    { type: "resource", resource: { uri: "file:///a", text: "a" } },
  ];
  desk.clear();
  const { stopReason } = await prompt(agent, sessionId, "tour", ...blocks);
  checks.same("stop reason", stopReason, "end_turn");
  const updates = desk.updates(sessionId);
  const kinds = new Set(updates.map((each) => each.sessionUpdate));
  const expected = ["agent_message_chunk", "agent_thought_chunk", "compaction_summary_chunk", "compaction_update", "notice"];
  expected.push("plan", "session_info_update", "tool_call", "tool_call_update", "usage_update");
  checks.same("kinds of updates", [...kinds].sort(), expected);
  const texts = said(updates);
  checks.same("what came in", texts[0], "blocks: text,image,audio,resource_link,resource; servers: files,web,old; directories: further");
  checks.same("the answers to its questions", texts.slice(1).filter(Boolean), ["colour: accept blue", "page: accept", "echo: 42", "That was all."]);
  const shown = updates.filter((each) => each.sessionUpdate === "agent_message_chunk").map((each) => each.content.type);
  checks.same("content of messages", new Set(shown), new Set(["text", "image", "audio", "resource_link", "resource"]));
  const ids = updates.filter(({ messageId }) => messageId).map(({ messageId }) => messageId);
  checks.same("ids of messages", [...new Set(ids)], ["thought-1", "answer-1", "answer-2", "end"]);
  tools(updates);
  const plans = updates.filter((each) => each.sessionUpdate === "plan").map(({ entries }) => entries.map(({ status }) => status));
  checks.same("plans", plans, [["in_progress", "pending"], ["completed"]]);
  const { used, size, cost } = updates.find((each) => each.sessionUpdate === "usage_update");
  checks.same("usage", { used, size, cost }, { used: 1000, size: 200000, cost: { amount: 0.25, currency: "EUR" } });
  const { title, updatedAt } = updates.find((each) => each.sessionUpdate === "session_info_update");
  checks.true("session info", title === "tour" && !Number.isNaN(Date.parse(updatedAt)));
  const compaction = updates.flatMap(({ compactionId, status }) => (compactionId && status ? [status] : []));
  checks.same("compaction", compaction, ["in_progress", "completed"]);
  checks.same("pages that are settled", desk.completed.length, 1);
  checks.same("the page", desk.completed, desk.pages);
  checks.same("notes", desk.notes, [{ sessionId, note: "from the agent" }]);
  checks.same("written file", readFileSync(join(folder, "full.txt"), "utf8"), "one\ntwo\nthree\n");
  checks.same("terminals that were not released", desk.terminals, 0);
}

function tools(updates) {
  const calls = updates.filter((each) => each.sessionUpdate === "tool_call");
  const titles = calls.map(({ title, kind }) => [title, kind]);
  checks.same("tool calls", titles, [["Look around", "search"], ["Edit full.txt", "edit"], ["Run commands", "execute"]]);
  const after = calls.map((call) => {
    const changes = updates.filter((each) => each.sessionUpdate === "tool_call_update" && each.toolCallId === call.toolCallId);
    return Object.assign({}, call, ...changes);
  });
  checks.same("their ends", after.map(({ status }) => status), ["completed", "completed", "completed"]);
  const [look, edit, execute] = after;
  checks.same("raw input and output", [look.rawInput, look.rawOutput, look.name], [{ deep: true }, { found: 5 }, "look"]);
  const contents = look.content.map(({ type, content }) => [type, content.type]);
  checks.same("content of a tool call", contents, ["text", "image", "audio", "resource_link", "resource"].map((each) => ["content", each]));
  const [diff, read] = edit.content;
  checks.same("diff", [diff.type, diff.oldText, diff.newText], ["diff", "one\n", "one\ntwo\nthree\n"]);
  checks.same("location", edit.locations.map(({ path }) => path), [join(folder, "full.txt")]);
  checks.same("line that was read", read.content.text, "two\n");
  const [terminal, printed, killed] = execute.content;
  checks.same("terminal", terminal.type, "terminal");
  checks.same("what was printed", printed.content.text, "hello 3");
  checks.true("what was killed", killed.content.text.startsWith("killed: SIG"));
}

async function settings(agent, sessionId, { modes, configOptions }) {
  checks.same("modes", [modes.currentModeId, modes.availableModes.map(({ id }) => id)], ["ask", ["ask", "code"]]);
  checks.same("options", current(configOptions), { model: "small", web: false });
  const groups = configOptions[0].options.map(({ group, options }) => [group, options.map(({ value }) => value)]);
  checks.same("groups of values", groups, [["local", ["small", "large"]], ["hosted", ["huge"]]]);
  desk.clear();
  checks.same("set_mode", await agent.request(ask.session.setMode, { sessionId, modeId: "code" }), {});
  const wrong = agent.request(ask.session.setMode, { sessionId, modeId: "none" });
  await checks.refused("a mode that is not there", -32602, wrong);
  const set = (configId, value, type) => agent.request(ask.session.setConfigOption, { sessionId, configId, value, ...type });
  checks.same("a select", current((await set("model", "huge")).configOptions), { model: "huge", web: false });
  const booleans = await set("web", true, { type: "boolean" });
  checks.same("a switch", current(booleans.configOptions), { model: "huge", web: true });
  await checks.refused("a value that is not there", -32602, set("model", "none"));
  const updates = await desk.until(sessionId, (all) => all.filter((each) => each.sessionUpdate === "config_option_update").length === 2);
  const told = updates.map((each) => each.currentModeId ?? current(each.configOptions));
  checks.same("what is told of them", told, ["code", { model: "huge", web: false }, { model: "huge", web: true }]);
}

async function cancels(agent, sessionId) {
  desk.clear();
  const waiting = prompt(agent, sessionId, "wait");
  await desk.until(sessionId, (all) => all.some((each) => each.sessionUpdate === "tool_call"));
  await agent.notify(ask.session.cancel, { sessionId });
  checks.same("a turn that was cancelled", (await waiting).stopReason, "cancelled");
  checks.same("its tool call", desk.updates(sessionId).at(-1).status, "failed");
  checks.same("a turn that is refused", (await prompt(agent, sessionId, "refuse")).stopReason, "refusal");
}

async function keeps(agent, sessionId) {
  const second = (await agent.request(ask.session.new, setup())).sessionId;
  const third = (await agent.request(ask.session.new, setup({ cwd: further }))).sessionId;
  const pages = [await agent.request(ask.session.list, {})];
  while (pages.at(-1).nextCursor != null) pages.push(await agent.request(ask.session.list, { cursor: pages.at(-1).nextCursor }));
  const listed = pages.map(({ sessions }) => sessions.map((each) => each.sessionId));
  checks.same("pages", listed, [[sessionId, second], [third]]);
  checks.same("a listed session", [pages[0].sessions[0].title, pages[0].sessions[0].additionalDirectories], ["tour", [further]]);
  const inFurther = await agent.request(ask.session.list, { cwd: further });
  checks.same("sessions of a directory", inFurther.sessions.map((each) => each.sessionId), [third]);

  const waiting = prompt(agent, second, "wait");
  await desk.until(second, (all) => all.some((each) => each.sessionUpdate === "tool_call"));
  checks.same("close", await agent.request(ask.session.close, { sessionId: second }), {});
  checks.same("the turn of a session that was closed", (await waiting).stopReason, "cancelled");
  const again = await agent.request(ask.session.resume, { sessionId: second, cwd: folder });
  checks.same("resume", [again.modes.currentModeId, current(again.configOptions)], ["ask", { model: "small", web: false }]);
  checks.same("delete of an open session", await agent.request(ask.session.delete, { sessionId: third }), {});
  await agent.request(ask.session.close, { sessionId: second });
  checks.same("delete of a closed session", await agent.request(ask.session.delete, { sessionId: second }), {});
  checks.same("delete of no session", await agent.request(ask.session.delete, { sessionId: "none" }), {});
  const left = await agent.request(ask.session.list, {});
  checks.same("what is left", left.sessions.map((each) => each.sessionId), [sessionId]);
  const gone = agent.request(ask.session.load, { sessionId: second, ...setup() });
  await checks.refused("load of what is deleted", -32002, gone);
  await loads(agent, sessionId);
}

async function loads(agent, sessionId) {
  desk.clear();
  const loaded = await agent.request(ask.session.load, { sessionId, ...setup({ mcpServers: MCP, additionalDirectories: [further] }) });
  const replayed = desk.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate.endsWith("_message_chunk"));
  const whole = replayed.map(({ sessionUpdate, content }) => [sessionUpdate.split("_")[0], content.text ?? content.type]);
  const asked = ["tour", "image", "audio", "resource_link", "resource"].map((each) => ["user", each]);
  checks.same("replay", whole, [...asked, ["agent", "That was all."], ["user", "wait"]]);
  checks.same("what was set", [loaded.modes.currentModeId, current(loaded.configOptions)], ["code", { model: "huge", web: true }]);
  checks.same("commands", (await desk.commands(sessionId)).map(({ name }) => name), ["wait", "tour"]);
}

async function extends_(agent, sessionId) {
  desk.clear();
  checks.same("an extension", await agent.request("_libacp.dev/echo", { sessionId, deep: [1, null] }), { sessionId, deep: [1, null] });
  await agent.notify("_libacp.dev/note", { sessionId, note: "hello" });
  checks.same("a notification of one's own", said(await desk.until(sessionId, (all) => all.length > 0)), ["noted: hello"]);
  await checks.refused("an extension that is not there", -32601, agent.request("_libacp.dev/none", {}));
}

await talking(everything, async (agent, told) => {
  capabilities(told);
  if (values.login) await logsIn(agent, told);
  else checks.true("no way to log in", !told.authMethods?.length);
  const opened = await agent.request(ask.session.new, setup({ mcpServers: MCP, additionalDirectories: [further] }));
  const { sessionId } = opened;
  checks.same("commands", (await desk.commands(sessionId)).map(({ name }) => name), ["wait", "tour"]);
  await settings(agent, sessionId, opened);
  await tours(agent, sessionId);
  await cancels(agent, sessionId);
  await extends_(agent, sessionId);
  await keeps(agent, sessionId);
  if (values.login) await logsOut(agent);
});
// A client that offers nothing, and one that rejects.
await talking({}, async (agent, told) => {
  checks.same("ways to log in without terminals", told.authMethods?.map(({ id }) => id) ?? [], values.login ? ["key"] : []);
  if (values.login) await agent.request(ask.authenticate, { methodId: "key" });
  const { sessionId, configOptions } = await agent.request(ask.session.new, setup());
  checks.same("options without switches", current(configOptions), { model: "small" });
  desk.clear();
  desk.rejects = true;
  checks.same("a turn without anything", (await prompt(agent, sessionId, "tour")).stopReason, "end_turn");
  const ends = desk.updates(sessionId).flatMap(({ status }) => (["completed", "failed"].includes(status) ? [status] : []));
  checks.same("tool calls without anything", ends, ["completed", "failed"]);
});
rmSync(folder, { recursive: true });
checks.end();
