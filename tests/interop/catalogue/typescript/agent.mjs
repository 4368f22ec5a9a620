// The agent of the catalogue on the official TypeScript SDK: node agent.mjs --version 1|2 [--login].
// A prompt whose first text is `step: ID` plays the turn of that step; ../steps.json says what its client has to see.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WORDS } from "./catalogue-words.mjs";

const { values } = parseArgs({ options: { version: { type: "string" }, login: { type: "boolean" } } });
const two = values.version === "2";
const acp = await import(two ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk");
const words = WORDS[values.version];
const { agent: of, client: to } = acp.methods;
const DIGITS = "0123456789".repeat(100_000);
const COLOURS = { type: "string", oneOf: ["red", "blue"].map((each) => ({ const: each, title: each })) };
const FORM = { type: "object", properties: { colour: COLOURS }, required: ["colour"] };
const CHOICES = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const kept = new Map();
let loggedIn = !values.login;
let clientName;
let givenUp = 0;

const say = (sessionId, update) => connection.client.notify(to.session.update, { sessionId, update });

/** A prompt, until its end. */
class Turn {
  stop = new AbortController();
  messageId = randomUUID();

  constructor(session, blocks, meta) {
    Object.assign(this, { session, blocks, meta, text: blocks[0].text.replace("step: ", "") });
    this.cancelled = new Promise((_, reject) => {
      this.stop.signal.addEventListener("abort", () => reject(this.stop.signal.reason));
    });
    this.cancelled.catch(() => {});
  }

  get notes() {
    return join(this.session.cwd, "notes.txt");
  }

  update(update) {
    this.stop.signal.throwIfAborted();
    return say(this.session.id, update);
  }

  message(what) {
    return this.update(words.message("agent_message", what, this.messageId));
  }

  thought(what) {
    return this.update(words.message("agent_thought", what, "thought"));
  }

  async tool(title, members, run, status = "completed") {
    const id = randomUUID();
    await this.update(words.tool(id, { title, status: "in_progress", ...members }, true));
    const last = await run?.((more) => this.update(words.tool(id, more)), id);
    await this.update(words.tool(id, { status, ...last }));
  }

  ask(method, params) {
    const how = { cancellationSignal: this.stop.signal };
    return connection.client.request(method, { sessionId: this.session.id, ...params }, how);
  }

  /** Plays it; the stop reason. */
  async run() {
    try {
      return (await Promise.race([TURNS[this.text](this), this.cancelled])) ?? "end_turn";
    } catch (error) {
      if (this.stop.signal.aborted) return "cancelled";
      throw error;
    }
  }
}

const remember = async (turn) => {
  await turn.message("Remembered.");
  turn.session.history.push(words.remembered("agent_message", "Remembered."));
};
const waitToBeCancelled = async (turn) => {
  await turn.message("Waiting.");
  await turn.cancelled;
};
const showBlock = async (turn) => {
  const { type, mimeType, data, resource, uri, name } = turn.blocks[1];
  const shown = { image: [mimeType, data], resource: [resource?.uri, resource?.text], resource_link: [uri, name] };
  await turn.message([type, ...shown[type]].join(" "));
};
const stop = async (turn) => turn.text.replace("stop.", "");
const permission = (title) => async (turn) => {
  let allowed;
  await turn.tool(title, { status: "pending" }, async (update, id) => {
    if (two) await turn.update({ sessionUpdate: "state_update", state: "requires_action" });
    const { outcome } = await turn.ask(to.session.requestPermission, words.permission(id, title, CHOICES));
    if (two) await turn.update({ sessionUpdate: "state_update", state: "running" });
    allowed = outcome.optionId === "yes";
    return allowed ? {} : { status: "failed" };
  });
  await turn.message(allowed ? "allowed" : "rejected");
};
const elicit = (message) => async (turn) => {
  if (two) await turn.update({ sessionUpdate: "state_update", state: "requires_action" });
  const { action, content } = await turn.ask(to.elicitation.create, { mode: "form", message, requestedSchema: FORM });
  if (two) await turn.update({ sessionUpdate: "state_update", state: "running" });
  await turn.message([action, ...Object.values(content ?? {})].join(" "));
};
const read = (name, lines) => async (turn) => {
  const found = await turn.ask(to.fs.readTextFile, { path: join(turn.session.cwd, name), ...lines }).catch((error) => error);
  await turn.message(found.code ? `error ${found.code}` : lines ? found.content.trimEnd() : found.content);
};
const terminal = async (turn, params, work) => {
  const { terminalId } = await turn.ask(to.terminal.create, params);
  const found = await work((name) => turn.ask(to.terminal[name], { terminalId }));
  await turn.ask(to.terminal.release, { terminalId });
  await turn.message(found);
};

const TURNS = {
  "init.client": (turn) => turn.message(`client ${clientName}`),
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
  "session.folders": (turn) => turn.message(turn.session.further.join(" ")),
  async "prompt.stream"(turn) {
    for (let number = 0; number < 10; number += 1) await turn.message(`${number} `);
    await turn.message('ä😀\u2028\u0001"\\.');
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
    const answer = { content: "answer", priority: "medium", status: "pending" };
    for (const status of ["in_progress", "completed"]) {
      await turn.update(words.plan([{ content: "look", priority: "high", status }, answer]));
    }
  },
  "update.tool_call": (turn) =>
    turn.tool(
      "Look around",
      { kind: "search", status: "pending", locations: [{ path: turn.notes }], rawInput: { deep: true } },
      async (update) => {
        await update({ status: "in_progress" });
        await update(words.shows("found it"));
        return { rawOutput: { found: 1 } };
      },
    ),
  async "update.tool_call.failed"(turn) {
    await turn.tool("Try", {}, undefined, "failed");
    await turn.message("Never mind.");
  },
  "update.diff": (turn) =>
    turn.tool("Edit notes.txt", { kind: "edit" }, async (update) => {
      await update(words.diff(turn.notes, "one\ntwo\nthree\n", "one\n2\nthree\n"));
    }),
  "update.commands": (turn) =>
    turn.update({
      sessionUpdate: "available_commands_update",
      availableCommands: [words.command("wait", "Wait"), words.command("tour", "Tour", "where to")],
    }),
  "update.mode": (turn) => turn.update(words.mode(Object.assign(turn.session, { mode: "code" }))),
  "update.options"(turn) {
    turn.session.options.model = "large";
    return turn.update({ sessionUpdate: "config_option_update", configOptions: words.options(turn.session) });
  },
  "update.usage": (turn) =>
    turn.update({ sessionUpdate: "usage_update", used: 1000, size: 200000, cost: { amount: 0.25, currency: "EUR" } }),
  "update.title": (turn) => turn.update({ sessionUpdate: "session_info_update", title: "A walk" }),
  async "update.unknown"(turn) {
    await turn.update({ sessionUpdate: "_libacp.dev/weather", sky: "blue" });
    await turn.message("Nice.");
  },
  "stop.end_turn": stop,
  "stop.max_tokens": stop,
  "stop.max_turn_requests": stop,
  "stop.refusal": stop,
  "perm.selected": permission("allow"),
  "perm.rejected": permission("reject"),
  "perm.cancelled": permission("wait"),
  "fs.read": read("notes.txt"),
  "fs.read-range": read("notes.txt", { line: 2, limit: 1 }),
  "fs.missing": read("none.txt"),
  async "fs.write"(turn) {
    await turn.ask(to.fs.writeTextFile, { path: join(turn.session.cwd, "out.txt"), content: "a\r\nä😀" });
    await turn.message("written");
  },
  "term.run": (turn) =>
    terminal(
      turn,
      { command: "sh", args: ["-c", 'echo "$GREETING"; exit 3'], env: [{ name: "GREETING", value: "hello" }] },
      async (ask) => {
        const { exitCode } = await ask("waitForExit");
        return `${(await ask("output")).output.trim()} ${exitCode}`;
      },
    ),
  "term.kill": (turn) =>
    terminal(turn, { command: "sleep", args: ["30"] }, async (ask) => {
      await ask("kill");
      return (await ask("waitForExit")).signal ? "killed" : "not killed";
    }),
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
    await turn.message(`echo ${(await connection.client.request("_libacp.dev/echo", { value: 42 })).value}`);
  },
  "meta.prompt": (turn) => turn.message(`trace ${turn.meta?.["libacp.dev/trace"]}`),
  async "error.handler"() {
    throw new acp.RequestError(-32042, "No such thing", { thing: "x" });
  },
  "big.update-1m": (turn) => turn.message(DIGITS),
  async "big.prompt-1m"(turn) {
    const { text } = turn.blocks[1];
    await turn.message(`${text.length} ${text === DIGITS ? "the same" : "different"}`);
  },
  async "view.same"(turn) {
    await turn.thought("Hm.");
    await turn.message("First.");
    await turn.tool("Look", {}, async (update) => void (await update(words.shows("found"))));
    turn.messageId = randomUUID();
    await turn.message("Second.");
  },
};
for (const id of ["mode.set", "config.select", "config.boolean"]) {
  TURNS[id] = (turn) => turn.message(`${turn.session.mode} ${turn.session.options.model} ${turn.session.options.web}`);
}

function found(sessionId) {
  if (!kept.has(sessionId)) throw new acp.RequestError(-32002, "There is no such session", { sessionId });
  return kept.get(sessionId);
}

async function prompt({ sessionId, prompt: blocks, _meta }) {
  const session = found(sessionId);
  const turn = (session.running = new Turn(session, blocks, _meta));
  session.history.push(...blocks.filter(({ type }) => type === "text").map(({ text }) => words.remembered("user_message", text)));
  if (!two) {
    session.over = turn.run();
    return { stopReason: await session.over };
  }
  const messageId = randomUUID();
  await turn.update({ sessionUpdate: "user_message", messageId, content: blocks });
  await turn.update({ sessionUpdate: "state_update", state: "running" });
  session.over = sleep(0).then(() => turn.run()).then(
    (stopReason) => say(sessionId, { sessionUpdate: "state_update", state: "idle", stopReason }),
    ({ code, message, data }) =>
      say(sessionId, { sessionUpdate: "state_update", state: "idle", stopReason: "error", error: { code, message, data } }),
  );
  return { messageId };
}

async function open({ sessionId }, replayed) {
  const session = found(sessionId);
  for (const update of replayed ? session.history : []) await say(sessionId, update);
  if (two) await say(sessionId, { sessionUpdate: "state_update", state: "idle" });
  return words.opened(session);
}

const HANDLERS = {
  [of.initialize](params) {
    clientName = words.client(params);
    return words.initialized({ name: "catalogue", version: "1.0" }, values.login ? [words.way("key", "Key")] : []);
  },
  [two ? of.auth.login : of.authenticate]: () => ((loggedIn = true), {}),
  [two ? of.auth.logout : of.logout]: () => ((loggedIn = false), {}),
  [of.session.new]({ cwd, additionalDirectories }) {
    if (!loggedIn) throw new acp.RequestError(-32000, "Log in first");
    const options = { model: "small", web: false };
    const session = { id: randomUUID(), cwd, further: additionalDirectories ?? [], mode: "ask", options, history: [] };
    kept.set(session.id, session);
    return { sessionId: session.id, ...words.opened(session) };
  },
  [of.session.list]: ({ cwd }) => ({
    sessions: [...kept.values()].filter((each) => cwd == null || each.cwd === cwd).map(({ id, cwd }) => ({ sessionId: id, cwd })),
  }),
  [of.session.resume]: (params) => open(params, params.replayFrom != null),
  [of.session.delete]: ({ sessionId }) => (kept.delete(sessionId), {}),
  async [of.session.close]({ sessionId }) {
    found(sessionId).running?.stop.abort();
    await found(sessionId).over;
    return {};
  },
  async [of.session.setConfigOption]({ sessionId, configId, value }) {
    const session = found(sessionId);
    if (configId === "mode") session.mode = value;
    else session.options[configId] = value;
    return { configOptions: words.options(session) };
  },
  [of.session.prompt]: prompt,
};
if (!two) {
  HANDLERS[of.session.load] = (params) => open(params, true);
  HANDLERS[of.session.setMode] = async ({ sessionId, modeId }) => {
    await say(sessionId, words.mode(Object.assign(found(sessionId), { mode: modeId })));
    return {};
  };
}

const app = acp.agent({ name: "catalogue" });
app.onNotification(of.session.cancel, ({ params }) => kept.get(params.sessionId)?.running?.stop.abort());
for (const [method, handler] of Object.entries(HANDLERS)) app.onRequest(method, ({ params }) => handler(params));
const any = (params) => params;
app.onRequest("_libacp.dev/echo", any, ({ params }) => params);
app.onNotification("_libacp.dev/note", any, ({ params }) => connection.client.notify("_libacp.dev/noted", params));
app.onRequest("_libacp.dev/wait", any, async ({ signal }) => {
  await connection.client.notify("_libacp.dev/noted", { note: "waiting" });
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  givenUp += 1;
  throw new acp.RequestError(-32800, "Given up");
});
app.onRequest("_libacp.dev/given-up", any, () => ({ count: givenUp }));
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;
