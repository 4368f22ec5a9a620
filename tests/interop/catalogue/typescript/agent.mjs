// The agent of the catalogue on the official TypeScript SDK: node agent.mjs --version 1|2 [--login].
// A prompt whose first text is `step: ID` plays the turn of that step; ../steps.json says what its client has to see.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { BEGINNING, CHOICES, turns } from "./catalogue-turns.mjs";
import { WORDS } from "./catalogue-words.mjs";

const { values } = parseArgs({ options: { version: { type: "string" }, login: { type: "boolean" } } });
const two = values.version === "2";
const acp = await import(two ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk");
const words = WORDS[values.version];
const { agent: of, client: to } = acp.methods;
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

  get signal() {
    return this.stop.signal;
  }

  update(update) {
    this.stop.signal.throwIfAborted();
    return say(this.session.id, update);
  }

  message(what, { messageId = this.messageId } = {}) {
    return this.update(words.message("agent_message", what, messageId));
  }

  thought(what) {
    return this.update(words.message("agent_thought", what, "thought"));
  }

  ask(method, params, signal = this.signal) {
    return connection.client.request(method, { sessionId: this.session.id, ...params }, { cancellationSignal: signal });
  }

  /** Asks the user: in version 2 the session waits for that. */
  async askUser(method, params, signal) {
    if (two) await this.update({ sessionUpdate: "state_update", state: "requires_action" });
    const answer = await this.ask(method, params, signal).catch((error) => error);
    if (two) await this.update({ sessionUpdate: "state_update", state: "running" });
    if (answer instanceof Error && !signal) throw answer;
    return answer;
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

const permission = (title, meta) => async (turn) => {
  await turn.update(words.tool(title, { title, status: "pending" }, true));
  const asked = { ...words.permission(title, title, CHOICES), ...(meta && { _meta: meta }) };
  const { outcome } = await turn.askUser(to.session.requestPermission, asked);
  const allowed = outcome.optionId === "yes";
  await turn.update(words.tool(title, { status: allowed ? "completed" : "failed" }));
  await turn.message(allowed ? "allowed" : "rejected");
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
  ...turns({
    version: two ? 2 : 1,
    kept: (turn) => turn.session,
    further: (turn) => turn.session.further,
    client: () => clientName,
    request: (turn, method, params) => turn.askUser(method, params),
    notify: (_, method, params) => connection.client.notify(method, params),
    remembered: words.remembered,
    Refusal: acp.RequestError,
  }),
  "update.mode": (turn) => turn.update(words.mode(Object.assign(turn.session, { mode: "code" }))),
  "update.options"(turn) {
    turn.session.options.model = "large";
    return turn.update({ sessionUpdate: "config_option_update", configOptions: words.options(turn.session) });
  },
  "perm.selected": permission("allow"),
  "perm.rejected": permission("reject"),
  "perm.cancelled": permission("wait"),
  "meta.permission": permission("meta", { "libacp.dev/trace": "abc" }),
  async "cancel-request.agent"(turn) {
    const asked = words.permission("wait", "wait", CHOICES);
    await turn.askUser(to.session.requestPermission, asked, AbortSignal.timeout(20));
    await turn.message("given up");
  },
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
  async "ext.client"(turn) {
    await turn.message(`echo ${(await connection.client.request("_libacp.dev/echo", { value: 42 })).value}`);
  },
};
function found(sessionId) {
  if (!kept.has(sessionId)) throw new acp.RequestError(-32002, "There is no such session", { sessionId });
  return kept.get(sessionId);
}

async function prompt({ sessionId, prompt: blocks, _meta }) {
  const session = found(sessionId);
  const turn = (session.running = new Turn(session, blocks, _meta));
  const texts = blocks.filter(({ type }) => type === "text");
  session.history.push(...texts.map((block) => words.remembered("user_message", block)));
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
    const options = { ...BEGINNING };
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
