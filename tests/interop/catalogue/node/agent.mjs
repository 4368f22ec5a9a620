// The agent of the catalogue on libacp/agent: node agent.mjs --version 1|2 [--login].
// A prompt whose first text is `step: ID` plays the turn of that step; ../steps.json says what its client has to see.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Agent, ErrorCode, PeerError, RequestError } from "libacp/agent";

const { values } = parseArgs({ options: { version: { type: "string" }, login: { type: "boolean" } } });
const DIGITS = "0123456789".repeat(100_000);
const COLOURS = { type: "string", oneOf: ["red", "blue"].map((each) => ({ const: each, title: each })) };
const FORM = { type: "object", properties: { colour: COLOURS }, required: ["colour"] };

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
  options = { model: "small", web: false };
  history = [];

  constructor({ id, cwd }) {
    this.info = { sessionId: id, cwd };
  }

  opened() {
    const availableModes = ["ask", "code"].map((id) => ({ id, name: id }));
    return { modes: { currentModeId: this.mode, availableModes }, configOptions: this.listed() };
  }

  listed() {
    const models = ["small", "large"].map((value) => ({ value, name: value }));
    return [
      { type: "select", id: "model", name: "Model", currentValue: this.options.model, options: models },
      { type: "boolean", id: "web", name: "Search the web", currentValue: this.options.web },
    ];
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
  return { configOptions: session.data.listed() };
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

const remember = async (turn) => {
  await turn.message("Remembered.");
  const content = { type: "text", text: "Remembered." };
  turn.session.data.history.push({ sessionUpdate: "agent_message_chunk", content });
};
const waitToBeCancelled = async (turn) => {
  await turn.message("Waiting.");
  await new Promise((_, reject) => turn.signal.addEventListener("abort", () => reject(turn.signal.reason)));
};
const showBlock = async (turn) => {
  const { type, mimeType, data, resource, uri, name } = turn.blocks[1];
  const shown = { image: [mimeType, data], resource: [resource?.uri, resource?.text], resource_link: [uri, name] };
  await turn.message([type, ...shown[type]].join(" "));
};
const stop = (turn) => turn.text.replace("step: stop.", "");
const settings = async (turn) => {
  const { mode, options } = turn.session.data;
  await turn.message(`${mode} ${options.model} ${options.web}`);
};
const askPermission = (title) => async (turn) => {
  const { allowed } = await turn.toolCall(title, { status: "pending" }, async (call) => {
    const permission = await call.askPermission();
    if (!permission.allowed) await call.fail();
    return permission;
  });
  await turn.message(allowed ? "allowed" : "rejected");
};
const notes = (turn) => join(turn.session.cwd, "notes.txt");
const elicit = (message) => async (turn) => {
  const params = { mode: "form", message, requestedSchema: FORM };
  const { action, content } = await turn.session.request("elicitation/create", params);
  await turn.message([action, ...Object.values(content ?? {})].join(" "));
};
const COMMANDS = [
  { name: "wait", description: "Wait" },
  { name: "tour", description: "Tour", input: { hint: "where to" } },
];
const USAGE = { used: 1000, size: 200000, cost: { amount: 0.25, currency: "EUR" } };

const TURNS = {
  "init.client": (turn) => turn.message(`client ${turn.client.info.name}`),
  "session.load.replay": remember,
  "session.resume": remember,
  "session.close": waitToBeCancelled,
  "cancel.prompt": waitToBeCancelled,
  async "session.multi"(turn) {
    for (let number = 0; number < 20; number += 1) {
      await turn.message(`${turn.session.id} ${number};`);
      await sleep(1);
    }
  },
  "session.folders": (turn) => turn.message(turn.session.roots.slice(1).join(" ")),
  async "prompt.stream"(turn) {
    for (let number = 0; number < 10; number += 1) await turn.message(`${number} `, { messageId: "stream" });
    await turn.message('ä😀\u2028\u0001"\\.', { messageId: "stream" });
  },
  "prompt.image": showBlock,
  "prompt.resource": showBlock,
  "prompt.link": showBlock,
  async "update.thought"(turn) {
    await turn.thought("Let me ");
    await turn.thought("see.");
    await turn.message("Seen.");
  },
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
  "update.commands": (turn) => turn.update({ sessionUpdate: "available_commands_update", availableCommands: COMMANDS }),
  "update.mode": (turn) => turn.update({ sessionUpdate: "current_mode_update", currentModeId: "code" }),
  async "update.options"(turn) {
    turn.session.data.options.model = "large";
    await turn.update({ sessionUpdate: "config_option_update", configOptions: turn.session.data.listed() });
  },
  "update.usage": (turn) => turn.update({ sessionUpdate: "usage_update", ...USAGE }),
  "update.title": (turn) => turn.update({ sessionUpdate: "session_info_update", title: "A walk" }),
  async "update.unknown"(turn) {
    await turn.update({ sessionUpdate: "_libacp.dev/weather", sky: "blue" });
    await turn.message("Nice.");
  },
  "stop.end_turn": stop,
  "stop.max_tokens": stop,
  "stop.max_turn_requests": stop,
  "stop.refusal": stop,
  "mode.set": settings,
  "config.select": settings,
  "config.boolean": settings,
  "perm.selected": askPermission("allow"),
  "perm.rejected": askPermission("reject"),
  "perm.cancelled": askPermission("wait"),
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
  async "term.display"(turn) {
    const about = { terminalId: "shown" };
    await turn.update({ sessionUpdate: "terminal_update", ...about, command: "make", cwd: turn.session.cwd });
    for (const line of ["line one\nline", " two\n"]) {
      await turn.update({ sessionUpdate: "terminal_output_chunk", ...about, data: Buffer.from(line).toString("base64") });
    }
    await turn.update({ sessionUpdate: "terminal_update", ...about, exitStatus: { exitCode: 0 } });
  },
  "elicit.form": elicit("Which colour?"),
  "elicit.decline": elicit("Anything else?"),
  async "ext.client"(turn) {
    await turn.message(`echo ${(await turn.client.request("_libacp.dev/echo", { value: 42 })).value}`);
  },
  "meta.prompt": (turn) => turn.message(`trace ${turn.meta?.["libacp.dev/trace"]}`),
  "error.handler"() {
    throw new RequestError(-32042, "No such thing", { thing: "x" });
  },
  "big.update-1m": (turn) => turn.message(DIGITS),
  async "big.prompt-1m"(turn) {
    const { text } = turn.blocks[1];
    await turn.message(`${text.length} ${text === DIGITS ? "the same" : "different"}`);
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
