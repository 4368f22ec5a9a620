// An agent on the official TypeScript SDK that does what the full agents do, and looks at all that its client answers:
// `node full-agent.mjs [--login] --report FILE`. The file ends with `N passed, N failed`.
import { writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk";
import { Checks } from "./checks.mjs";
import { Conversation, Store } from "./full-store.mjs";
import { tour } from "./full-tour.mjs";

const { values } = parseArgs({ options: { login: { type: "boolean" }, report: { type: "string" } } });
const COMMANDS = [
  { name: "wait", description: "Wait to be cancelled" },
  { name: "tour", description: "Show everything", input: { hint: "anything" } },
];
const { initialize, authenticate, logout, session } = acp.methods.agent;
const client = acp.methods.client;
const checks = new Checks();
const store = new Store();
const stops = new Map();
const counts = {};
let offered;
let loggedIn = !values.login;

const say = (sessionId, update) => connection.client.notify(client.session.update, { sessionId, update });

const check = () => {
  if (!loggedIn) throw new acp.RequestError(-32000, "Log in first");
};

function kept(sessionId) {
  const conversation = store.find(sessionId);
  if (!conversation) throw new acp.RequestError(-32002, "There is no such session");
  return conversation;
}

const tellCommands = ({ id }) => say(id, { sessionUpdate: "available_commands_update", availableCommands: COMMANDS });

/** What every answer that opens a session has. */
const opened = (conversation) => ({ modes: conversation.modes, configOptions: conversation.configOptions(true) });

/** Stops the turn of a session, and waits for its end. */
async function stop(sessionId) {
  const turn = stops.get(sessionId);
  turn?.stop();
  await turn?.over;
}

async function prompt({ sessionId, prompt }) {
  const text = prompt.map((block) => block.text ?? "").join("");
  if (text === "refuse") return { stopReason: "refusal" };
  const conversation = kept(sessionId);
  conversation.add("user_message_chunk", prompt);
  const turn = {};
  turn.stopped = new Promise((resolve) => (turn.stop = resolve));
  turn.over = new Promise((resolve) => (turn.end = resolve));
  stops.set(sessionId, turn);
  try {
    if (text === "wait") {
      const call = { toolCallId: `wait-${conversation.history.length}` };
      await say(sessionId, { sessionUpdate: "tool_call", ...call, title: "Wait", kind: "other", status: "in_progress" });
      await turn.stopped;
      await say(sessionId, { sessionUpdate: "tool_call_update", ...call, status: "failed" });
      return { stopReason: "cancelled" };
    }
    await tour({ client: connection.client, say, checks, conversation, prompt, offered });
    const content = { type: "text", text: "That was all." };
    await say(sessionId, { sessionUpdate: "agent_message_chunk", content, messageId: "end" });
    conversation.add("agent_message_chunk", [content]);
    return { stopReason: "end_turn" };
  } finally {
    stops.delete(sessionId);
    turn.end();
  }
}

const handlers = {
  [initialize]({ clientCapabilities, clientInfo, protocolVersion }) {
    offered = clientCapabilities;
    checks.same("version", protocolVersion, 1);
    checks.true("name, title and version of the client", clientInfo.name && clientInfo.title && clientInfo.version);
    checks.same("files", offered.fs, { readTextFile: true, writeTextFile: true });
    checks.same("terminals", offered.terminal, true);
    checks.same("terminals to log in", offered.auth, { terminal: true });
    checks.same("elicitation", offered.elicitation, { form: {}, url: {} });
    checks.same("sessions", offered.session, { configOptions: { boolean: {} }, notices: {}, compaction: {} });
    return {
      protocolVersion: 1,
      agentInfo: { name: "full-typescript", title: "Everything, on the official SDK", version: "1" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { additionalDirectories: {}, resume: {}, list: {}, delete: {}, close: {} },
        auth: { logout: {} },
      },
      authMethods: values.login ? [{ id: "key", name: "Key" }, { type: "terminal", id: "shell", name: "By hand" }] : [],
    };
  },
  [authenticate]({ methodId }) {
    checks.same("way to log in", methodId, "key");
    loggedIn = true;
    return {};
  },
  [logout]() {
    loggedIn = false;
    return {};
  },
  [session.new]({ cwd, additionalDirectories, mcpServers }) {
    check();
    const conversation = new Conversation(cwd, additionalDirectories ?? [], mcpServers);
    store.add(conversation);
    // The SDK has no call for what is to follow an answer.
    setTimeout(() => tellCommands(conversation), 5);
    return { sessionId: conversation.id, ...opened(conversation) };
  },
  async [session.load]({ sessionId, mcpServers }) {
    check();
    const conversation = kept(sessionId);
    checks.same("servers of a session that is loaded", mcpServers.map(({ name }) => name), ["files", "web", "old"]);
    for (const update of conversation.history) await say(sessionId, update);
    await tellCommands(conversation);
    return opened(conversation);
  },
  async [session.resume]({ sessionId }) {
    check();
    const conversation = kept(sessionId);
    await tellCommands(conversation);
    return opened(conversation);
  },
  [session.list]({ cwd, cursor }) {
    check();
    return store.page(cwd, cursor);
  },
  [session.delete]({ sessionId }) {
    store.remove(sessionId);
    return {};
  },
  async [session.close]({ sessionId }) {
    await stop(sessionId);
    return {};
  },
  async [session.setMode]({ sessionId, modeId }) {
    kept(sessionId).mode = modeId;
    await say(sessionId, { sessionUpdate: "current_mode_update", currentModeId: modeId });
    return {};
  },
  async [session.setConfigOption]({ sessionId, configId, value, type }) {
    checks.same("type of a value", type ?? "id", typeof value === "boolean" ? "boolean" : "id");
    const conversation = kept(sessionId);
    conversation.options[configId] = value;
    const configOptions = conversation.configOptions(true);
    await say(sessionId, { sessionUpdate: "config_option_update", configOptions });
    return { configOptions };
  },
  [session.prompt]: prompt,
};

const app = acp.agent({ name: "full-typescript" });
app.onNotification(session.cancel, ({ params }) => {
  counts[session.cancel] = (counts[session.cancel] ?? 0) + 1;
  stops.get(params.sessionId)?.stop();
});
for (const [method, handler] of Object.entries(handlers)) {
  app.onRequest(method, ({ params }) => {
    counts[method] = (counts[method] ?? 0) + 1;
    return handler(params);
  });
}
app.onRequest("_libacp.dev/echo", (params) => params, ({ params }) => params);
app.onNotification("_libacp.dev/note", (params) => params, ({ params: { sessionId, note } }) =>
  say(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `noted: ${note}` } }),
);
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;
// Everything that a client can ask for was asked for.
const left = Object.keys(handlers).filter((method) => !counts[method] && (values.login || ![authenticate, logout].includes(method)));
checks.same("methods that were not called", left, []);
checks.same("turns that were cancelled", counts[session.cancel], 1);
if (values.report) writeFileSync(values.report, `${checks.lines().join("\n")}\n`);
