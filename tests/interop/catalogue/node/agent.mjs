// The agent of the catalogue on libacp/agent: node agent.mjs --version 1|2 [--login].
// A prompt whose first text is `step: ID` plays the turn of that step; ../steps.json says what its client has to see.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Agent, ErrorCode, PeerError, RequestError } from "libacp/agent";
import { BEGINNING, CHOICES, listed, turns } from "./catalogue-turns.mjs";

const { values } = parseArgs({ options: { version: { type: "string" }, login: { type: "boolean" } } });

const agent = new Agent("catalogue", "1.0", {
  authMethods: values.login ? [{ id: "key", name: "Key" }] : [],
  capabilities: {
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { additionalDirectories: {} },
  },
  versions: [Number(values.version)],
});
/** Clients that have logged in. */
const users = new WeakSet();
/** How many requests were given up. */
let givenUp = 0;
/** All sessions, also those that are closed. */
const kept = new Map();

class Kept {
  mode = "ask";
  options = { ...BEGINNING };
  history = [];

  constructor({ id, cwd }) {
    this.info = { sessionId: id, cwd };
  }

  opened() {
    const availableModes = ["ask", "code"].map((id) => ({ id, name: id }));
    return { modes: { currentModeId: this.mode, availableModes }, configOptions: listed(this.options) };
  }
}

agent.on("authenticate", (client) => void users.add(client));
agent.on("logout", (client) => void users.delete(client));
agent.newSession((session) => {
  if (values.login && !users.has(session.client)) throw new RequestError(ErrorCode.AUTH_REQUIRED, "Log in first");
  session.data = new Kept(session);
  kept.set(session.id, session.data);
  return session.data.opened();
});

function find(session) {
  const { id: sessionId } = session;
  if (!kept.has(sessionId)) throw new RequestError(ErrorCode.RESOURCE_NOT_FOUND, "There is no such session", { sessionId });
  session.data = kept.get(sessionId);
  return session.data;
}

agent.loadSession(async (session) => {
  for (const update of find(session).history) await session.update(update);
  return session.data.opened();
});
agent.resumeSession((session) => find(session).opened());
agent.on("session/list", (_, { cwd }) => ({
  sessions: [...kept.values()].map(({ info }) => info).filter((info) => cwd == null || info.cwd === cwd),
}));
agent.on("session/delete", (session) => void kept.delete(session.id));
agent.on("session/set_mode", async (session, { modeId }) => {
  session.data.mode = modeId;
  await session.update({ sessionUpdate: "current_mode_update", currentModeId: modeId });
});
agent.on("session/set_config_option", (session, { configId, value }) => {
  session.data.options[configId] = value;
  return { configOptions: listed(session.data.options) };
});
agent.on("_libacp.dev/echo", (_, params) => params);
agent.on("_libacp.dev/note", (client, params) => client.notify("_libacp.dev/noted", params));
agent.on("_libacp.dev/wait", async (client, _, { signal }) => {
  await client.notify("_libacp.dev/noted", { note: "waiting" });
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  givenUp += 1;
});
agent.on("_libacp.dev/given-up", () => ({ count: givenUp }));

// The turns

const askPermission = (title, how) => async (turn) => {
  const { allowed } = await turn.toolCall(title, { status: "pending" }, async (call) => {
    const permission = await call.askPermission(undefined, how);
    if (!permission.allowed) await call.fail();
    return permission;
  });
  await turn.message(allowed ? "allowed" : "rejected");
};
const notes = (turn) => join(turn.session.cwd, "notes.txt");
/** Those that the high-level API has a form of its own for, beside those that all agents play alike. */
const TURNS = {
  ...turns({
    version: 1, // whatever is spoken: the library says it in the words of the other
    kept: (turn) => turn.session.data,
    further: (turn) => turn.session.roots.slice(1),
    client: (turn) => turn.client.info.name,
    request: (turn, method, params) => turn.session.request(method, params),
    notify: (turn, method, params) => turn.client.notify(method, params),
    remembered: (kind, content) => ({ sessionUpdate: `${kind}_chunk`, content }),
    Refusal: RequestError,
  }),
  async "update.plan"(turn) {
    for (const status of ["in_progress", "completed"]) await turn.plan([{ content: "look", priority: "high", status }, "answer"]);
  },
  async "update.tool_call"(turn) {
    const begin = { kind: "search", status: "pending", locations: [notes(turn)], rawInput: { deep: true } };
    await turn.toolCall("Look around", begin, async (call) => {
      await call.update({ status: "in_progress" });
      await call.text("found it");
      await call.complete({ rawOutput: { found: 1 } });
    });
  },
  async "update.tool_call.failed"(turn) {
    await turn.toolCall("Try", {}, (call) => call.fail("It broke."));
    await turn.message("Never mind.");
  },
  async "update.diff"(turn) {
    await turn.toolCall("Edit notes.txt", { kind: "edit" }, (call) => call.diff(notes(turn), "one\n2\nthree\n", "one\ntwo\nthree\n"));
  },
  "update.mode": (turn) => turn.update({ sessionUpdate: "current_mode_update", currentModeId: "code" }),
  async "update.options"(turn) {
    turn.session.data.options.model = "large";
    await turn.update({ sessionUpdate: "config_option_update", configOptions: listed(turn.session.data.options) });
  },
  "perm.selected": askPermission("allow"),
  "perm.rejected": askPermission("reject"),
  "perm.cancelled": askPermission("wait"),
  "meta.permission": askPermission("meta", { meta: { "libacp.dev/trace": "abc" } }),
  async "cancel-request.agent"(turn) {
    const asked = { toolCall: { toolCallId: "wait", title: "wait" }, options: CHOICES };
    const how = { signal: AbortSignal.timeout(20) };
    await turn.session.request("session/request_permission", asked, how).catch((error) => error);
    await turn.message("given up");
  },
  "fs.read": async (turn) => turn.message(await turn.readTextFile(notes(turn))),
  async "fs.read-range"(turn) {
    await turn.message((await turn.readTextFile(notes(turn), { line: 2, limit: 1 })).trimEnd());
  },
  async "fs.missing"(turn) {
    const problem = await turn.readTextFile(join(turn.session.cwd, "none.txt")).catch((error) => error);
    await turn.message(problem instanceof PeerError ? `error ${problem.code}` : `no error: ${problem}`);
  },
  async "fs.write"(turn) {
    await turn.writeTextFile(join(turn.session.cwd, "out.txt"), "a\r\nä😀");
    await turn.message("written");
  },
  async "term.run"(turn) {
    const env = { GREETING: "hello" };
    const printed = await turn.terminal("sh", ["-c", 'echo "$GREETING"; exit 3'], { env }, async (terminal) => {
      const { exitCode } = await terminal.wait();
      return `${(await terminal.output()).output.trim()} ${exitCode}`;
    });
    await turn.message(printed);
  },
  async "term.kill"(turn) {
    const { signal } = await turn.terminal("sleep", ["30"], {}, async (terminal) => {
      await terminal.kill();
      return terminal.wait();
    });
    await turn.message(signal ? "killed" : "not killed");
  },
  async "ext.client"(turn) {
    await turn.message(`echo ${(await turn.client.request("_libacp.dev/echo", { value: 42 })).value}`);
  },
  async "view.same"(turn) {
    await turn.thought("Hm.");
    await turn.message("First.");
    await turn.toolCall("Look", {}, (call) => call.text("found"));
    await turn.message("Second.");
  },
};

agent.prompt((turn) => {
  const said = turn.blocks.filter(({ type }) => type === "text");
  turn.session.data.history.push(...said.map((content) => ({ sessionUpdate: "user_message_chunk", content })));
  return TURNS[turn.blocks[0].text.replace("step: ", "")](turn);
});

await agent.serve();
