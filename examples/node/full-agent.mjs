// An agent that offers and uses everything that version 1 has: node full-agent.mjs [--login], as a client's child process.
// Any prompt gets a tour of all that its client offers; "wait" waits to be cancelled, "refuse" is refused. With --login it
// serves nobody who has not logged in.
import { Agent, ErrorCode, RequestError } from "libacp/agent";
import { Conversation, MODES, Store } from "./full-store.mjs";
import { tour, wait } from "./full-turn.mjs";

const COMMANDS = [
  { name: "wait", description: "Wait to be cancelled" },
  { name: "tour", description: "Show everything", input: { hint: "anything" } },
];
const needsLogin = process.argv.includes("--login");
const store = new Store();
/** Clients that have logged in. */
const users = new WeakSet();
const agent = new Agent("full-node", "1.0", {
  title: "Everything, in JavaScript",
  capabilities: {
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { additionalDirectories: {} },
  },
});

// Who may come in

agent.on("initialize", (client, { clientCapabilities }) => {
  if (!needsLogin) return {};
  const authMethods = [{ id: "key", name: "Key", description: "The key of this machine" }];
  if (clientCapabilities?.auth?.terminal) {
    authMethods.push({ type: "terminal", id: "shell", name: "Log in by hand", args: ["--log-in"] });
  }
  return { authMethods };
});
agent.on("authenticate", (client, { methodId }) => {
  if (methodId !== "key") throw new RequestError(ErrorCode.INVALID_PARAMS, "There is no such way to log in");
  users.add(client);
});
agent.on("logout", (client) => {
  users.delete(client);
});

function check(client) {
  if (needsLogin && !users.has(client)) throw new RequestError(ErrorCode.AUTH_REQUIRED, "Log in first");
}

// Sessions

const takesBooleans = ({ capabilities }) => capabilities.session?.configOptions?.boolean != null;

/** What every answer that opens a session has; the commands follow it. */
async function opened(session, conversation) {
  session.data = conversation;
  await session.update({ sessionUpdate: "available_commands_update", availableCommands: COMMANDS });
  return { modes: conversation.modes, configOptions: conversation.configOptions(takesBooleans(session.client)) };
}

function kept(id) {
  const conversation = store.find(id);
  if (!conversation) throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such session", { sessionId: id });
  return conversation;
}

agent.newSession((session) => {
  check(session.client);
  const conversation = new Conversation(session);
  store.add(conversation);
  return opened(session, conversation);
});
agent.loadSession(async (session) => {
  check(session.client);
  const conversation = kept(session.id);
  for (const update of conversation.history) await session.update(update);
  return opened(session, conversation);
});
agent.on("session/resume", (session) => {
  check(session.client);
  return opened(session, kept(session.id));
});
agent.on("session/list", (client, { cwd, cursor }) => {
  check(client);
  return store.page(cwd, cursor);
});
agent.on("session/delete", (_, { sessionId }) => store.remove(sessionId));
agent.on("session/close", (session) => session.data.touch());
agent.on("session/set_mode", async (session, { modeId }) => {
  if (!Object.hasOwn(MODES, modeId)) throw new RequestError(ErrorCode.INVALID_PARAMS, "There is no such mode");
  session.data.mode = modeId;
  await session.update({ sessionUpdate: "current_mode_update", currentModeId: modeId });
});
agent.on("session/set_config_option", async (session, { configId, value }) => {
  if (!session.data.set(configId, value)) {
    throw new RequestError(ErrorCode.INVALID_PARAMS, "There is no such option or value");
  }
  const configOptions = session.data.configOptions(takesBooleans(session.client));
  await session.update({ sessionUpdate: "config_option_update", configOptions });
  return { configOptions };
});

// Turns

agent.prompt(async (turn) => {
  // What is refused is no part of the conversation.
  if (turn.text === "refuse") return "refusal";
  const conversation = turn.session.data;
  conversation.add("user_message_chunk", turn.blocks);
  if (turn.text === "wait") await wait(turn);
  await tour(turn, conversation);
  await turn.message("That was all.", { messageId: "end" });
  conversation.add("agent_message_chunk", [{ type: "text", text: "That was all." }]);
});

// The extension of these examples

agent.on("_libacp.dev/echo", (_, params) => params);
agent.on("_libacp.dev/note", async (client, { sessionId, note }) => {
  // What the params of an extension mean is not known to the library, so the session is looked up here.
  const content = { type: "text", text: `noted: ${note}` };
  await client.sessions.get(sessionId)?.update({ sessionUpdate: "agent_message_chunk", content });
});

await agent.serve();
