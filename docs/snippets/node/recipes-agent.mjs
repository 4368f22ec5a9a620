// An agent with a login, modes, an option and sessions that last: what the recipes show, in one program.
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, ErrorCode, RequestError } from "libacp/agent";

const agent = new Agent("recipes", "1.0", {
  // ANCHOR: methods
  authMethods: [{ id: "token", name: "Token", description: "The token in RECIPES_TOKEN" }],
  // ANCHOR_END: methods
});

// ANCHOR: store
const STORE = process.env.RECIPES_STORE ?? "sessions";
const place = (id) => join(STORE, `${id}.json`);

// In one step, so that two changes at once cannot mix.
function save({ id, cwd, data }) {
  mkdirSync(STORE, { recursive: true });
  writeFileSync(`${place(id)}.new`, JSON.stringify({ ...data, cwd }));
  // Whoever reads it finds the old text or the new one.
  renameSync(`${place(id)}.new`, place(id));
}

function read(id) {
  // An id is the client's text: it must not lead out of the folder, nor to another file.
  if (/^[0-9a-f]{32}$/.test(id)) {
    try {
      return JSON.parse(readFileSync(place(id), "utf8"));
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
  throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "No such session", { sessionId: id });
}

// ANCHOR_END: store
// ANCHOR: login
const users = new WeakSet(); // the clients that have logged in

agent.on("authenticate", (client) => {
  if (!process.env.RECIPES_TOKEN) throw new RequestError(ErrorCode.AUTH_REQUIRED, "RECIPES_TOKEN is not set");
  users.add(client);
});

function mustBeUser(client) {
  if (!users.has(client)) throw new RequestError(ErrorCode.AUTH_REQUIRED, "Log in first");
}

// ANCHOR_END: login
// ANCHOR: options
/** What a session can be set to, as it is now. */
const settings = ({ data: { mode, model } }) => ({
  modes: {
    currentModeId: mode,
    availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }],
  },
  configOptions: [
    {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: model,
      options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }],
    },
  ],
});

agent.on("session/set_mode", (session, { modeId }) => {
  session.data.mode = modeId; // one of those above: others are refused before this is called
  save(session);
});

agent.on("session/set_config_option", (session, { configId, value }) => {
  session.data[configId] = value;
  save(session);
  return { configOptions: settings(session).configOptions };
});

// ANCHOR_END: options
// ANCHOR: sessions
agent.newSession((session) => {
  mustBeUser(session.client);
  session.data = { mode: "ask", model: "small", said: [] };
  return settings(session); // with the id that the library has made up
});

agent.loadSession(async (session) => {
  mustBeUser(session.client);
  session.data = read(session.id);
  for (const [who, text] of session.data.said) {
    await session.update({ sessionUpdate: `${who}_message_chunk`, content: { type: "text", text } });
  }
  return settings(session);
});

agent.resumeSession((session) => {
  mustBeUser(session.client);
  session.data = read(session.id);
  return settings(session); // the client has the past still: nothing is replayed
});

agent.on("session/list", (client, { cwd }) => {
  mustBeUser(client);
  mkdirSync(STORE, { recursive: true });
  const ids = readdirSync(STORE).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  const sessions = ids.map((id) => ({ sessionId: id, cwd: read(id).cwd, updatedAt: statSync(place(id)).mtime.toISOString() }));
  const wanted = sessions.filter((each) => cwd === undefined || cwd === null || each.cwd === cwd);
  return { sessions: wanted.sort((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1)) };
});

// ANCHOR_END: sessions
agent.prompt(async (turn) => {
  const { mode, model, said } = turn.session.data;
  const text = `${mode}, ${model}: ${turn.text}`;
  await turn.message(text);
  said.push(["user", turn.text], ["agent", text]);
  save(turn.session);
});

await agent.serve();
