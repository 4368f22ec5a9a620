// An agent that can all that the page shows, by what it is told: `node able-agent.mjs FOLDER`. The folder keeps its sessions.
// With `--login` it asks for one first, with `--version-2` it speaks that alone.
// It is copied beside an installed libacp (`able` in served.mjs).
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, RequestError } from "libacp/agent";

const [, , folder, ...flags] = process.argv;
const options = { capabilities: { promptCapabilities: { image: true } } };
const needsLogin = flags.includes("--login");
let isLoggedIn = !needsLogin;
if (flags.includes("--version-2")) options.versions = [2];
if (needsLogin) options.authMethods = [{ id: "key", name: "Use the key", description: "There is only one." }];

const fileOf = (id) => join(folder, `${id}.json`);
const kept = (id) => JSON.parse(readFileSync(fileOf(id), "utf8"));
const keep = (session) => {
  const written = `${fileOf(session.id)}.written`;
  writeFileSync(written, JSON.stringify({ cwd: session.cwd, ...session.data }));
  // Whoever ends this agent leaves a whole file all the same.
  renameSync(written, fileOf(session.id));
};
const note = (session, update) => {
  session.data.updates.push(update);
  session.data.updatedAt = new Date().toISOString();
  keep(session);
};
const text = (text) => ({ type: "text", text });
const COMMANDS = ["file", "run", "stream", "paragraph", "plan", "picture", "wrong", "ask", "form", "page", "slow", "fail", "long", "everything"];

const state = ({ data }) => ({
  modes: { currentModeId: data.mode, availableModes: [{ id: "ask", name: "Ask first" }, { id: "auto", name: "Just do it" }] },
  configOptions: [
    { id: "model", name: "Model", category: "model", type: "select", currentValue: data.model, options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }] },
    { id: "web", name: "Search the web", type: "boolean", currentValue: data.web },
  ],
});

async function begin(session, data) {
  if (!isLoggedIn) throw new RequestError(-32000, "Log in first");
  session.data = { mode: "ask", model: "small", web: false, updates: [], ...data };
  keep(session);
  await session.update({ sessionUpdate: "available_commands_update", availableCommands: COMMANDS.map((name) => ({ name, description: `Does ${name}` })) });
  return state(session);
}

function stored(session) {
  if (!existsSync(fileOf(session.id))) throw new RequestError(-32002, "There is no such session");
  return kept(session.id);
}

const agent = new Agent("able", "1.0", options);
agent.newSession((session) => begin(session));
agent.loadSession(async (session) => {
  const data = stored(session);
  for (const update of data.updates) await session.update(update);
  return begin(session, data);
});
agent.resumeSession((session) => begin(session, stored(session)));
agent.on("session/list", () => ({
  sessions: readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => {
    const { cwd, title, updatedAt } = kept(name.slice(0, -5));
    return { sessionId: name.slice(0, -5), cwd, title, updatedAt };
  }),
}));
agent.on("session/close", () => {});
agent.on("session/delete", (session) => rmSync(fileOf(session.id), { force: true }));
agent.on("session/set_mode", async (session, { modeId }) => void (session.data.mode = modeId));
agent.on("session/set_config_option", (session, { configId, value }) => {
  session.data[configId] = value;
  return { configOptions: state(session).configOptions };
});
if (needsLogin) {
  agent.on("authenticate", async (client, params, { id }) => {
    if (flags.includes("--code")) {
      const requestedSchema = { type: "object", properties: { code: { type: "string", title: "Code" } }, required: ["code"] };
      const { content } = await client.request("elicitation/create", { mode: "form", requestId: id, message: "Which code have you got?", requestedSchema });
      if (content?.code !== "1234") throw new RequestError(-32603, "That is not the code");
    }
    isLoggedIn = true;
  });
  agent.on("logout", () => void (isLoggedIn = false));
}

/** A form with a field of each kind. */
const FORM = {
  type: "object",
  title: "Your order",
  properties: {
    name: { type: "string", title: "Name", minLength: 2, maxLength: 20, description: "As on the door." },
    mail: { type: "string", title: "Mail", format: "email" },
    size: { type: "string", title: "Size", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }], default: "s" },
    colour: { type: "string", title: "Colour", enum: ["red", "green"] },
    count: { type: "integer", title: "Count", minimum: 1, maximum: 9, default: 2 },
    weight: { type: "number", title: "Weight" },
    day: { type: "string", title: "Day", format: "date" },
    gift: { type: "boolean", title: "As a gift", default: true },
    extras: { type: "array", title: "Extras", items: { anyOf: [{ const: "a", title: "Anchovies" }, { const: "b", title: "Basil" }] }, maxItems: 1 },
    code: { type: "string", title: "Code", pattern: "^(a+)+$" },
  },
  required: ["name", "colour"],
};

/** Calls that run until they are stopped, by their ids. */
const slow = new Map();
if (flags.includes("--version-2")) agent.on("tool_call/cancel", (session, { toolCallId }) => void slow.get(toolCallId)?.());

/** What is said is remembered. */
async function say(turn, words, more = {}) {
  const update = { sessionUpdate: "agent_message_chunk", content: text(words), ...more };
  note(turn.session, update);
  await turn.update(update);
}

const DO = {
  async file(turn, name = "notes.txt") {
    const path = `${turn.session.cwd}/${name}`;
    const before = await turn.readTextFile(path).catch(() => "");
    try {
      await turn.writeTextFile(path, `${before}one more line\n`);
      await say(turn, `written, after ${before.length} characters`);
    } catch (error) {
      await say(turn, `not written: ${error.message}`);
    }
  },

  async run(turn, ...words) {
    await turn.toolCall("Run it", { kind: "execute" }, async (call) => {
      try {
        await turn.terminal("sh", ["-c", words.join(" ")], {}, async (terminal) => {
          await call.show(terminal);
          for await (const _ of terminal.follow({ interval: 50 }));
          const { exitCode } = await terminal.wait();
          await say(turn, `ended with ${exitCode}`);
        });
      } catch (error) {
        await say(turn, `not run: ${error.message}`);
      }
    });
  },

  /** Markdown of all kinds in many pieces, as fast as they are taken. */
  async stream(turn, count = "20000") {
    const pieces = MARKDOWN(Number(count));
    for (const piece of pieces) await turn.message(piece, { messageId: "long" });
  },

  /** One paragraph in many pieces: sentences, emphasis, code, and words that never end. */
  async paragraph(turn, count = "20000") {
    const pieces = ["The quick brown fox of the north ", "jumps over **all of the lazy dogs", " that lie there** and goes on. ", "`const many = words;` is its code, ", "and 3 * 4 is 12 - more or less, a ", "snake_case_name is only a name; "];
    for (let at = 0; at < Number(count); at += 1) await turn.message(`${at % 6 === 0 ? `(${at}) ` : ""}${pieces[at % 6]}`, { messageId: "one" });
  },

  async plan(turn, time = "300") {
    const steps = ["Look", "Change", "Look again"];
    for (let done = 0; done <= steps.length; done += 1) {
      await turn.plan(steps.map((content, at) => ({ content, priority: "medium", status: at < done ? "completed" : at === done ? "in_progress" : "pending" })));
      await pause(Number(time));
    }
  },

  async picture(turn) {
    const found = turn.blocks.filter(({ type }) => type === "image");
    await say(turn, `${found.length} pictures: ${found.map(({ mimeType }) => mimeType).join(", ")}`);
    for (const block of found) await turn.message(block);
  },

  async wrong(turn) {
    // Past the library, which would not send it.
    writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "unheard-of", update: { sessionUpdate: "agent_message_chunk", content: text("?") } } })}\n`);
    await pause(100);
    await say(turn, "that was wrong");
  },

  async ask(turn) {
    await turn.toolCall("Change main.rs", { kind: "edit", status: "pending" }, async (call) => {
      await call.diff(`${turn.session.cwd}/main.rs`, "fn main() {\n    greet();\n}\n", "fn main() {}\n");
      const { allowed } = await call.askPermission();
      await say(turn, allowed ? "granted" : "refused");
    });
  },

  async form(turn) {
    const answer = await turn.session.request("elicitation/create", { mode: "form", message: "What shall it be?", requestedSchema: FORM });
    await say(turn, `\`${JSON.stringify(answer)}\``);
  },

  /** Sends the user to a page, and knows a while later that they are done there. */
  async page(turn, url, time = "1000") {
    const elicitationId = `page-${Date.now()}`;
    const { action } = await turn.session.request("elicitation/create", { mode: "url", message: "Please look", url, elicitationId });
    await say(turn, `page: ${action}`);
    if (action !== "accept") return;
    await pause(Number(time));
    await turn.client.notify("elicitation/complete", { elicitationId });
  },

  /** Two calls that can be stopped one by one (version 2). */
  async slow(turn) {
    const calls = ["one", "two"].map(async (toolCallId) => {
      const stopped = new Promise((resolve) => slow.set(toolCallId, resolve));
      await turn.update({ sessionUpdate: "tool_call", toolCallId, title: `Call ${toolCallId}`, kind: "execute", status: "in_progress", capabilities: { cancel: {} } });
      await stopped;
      await turn.update({ sessionUpdate: "tool_call_update", toolCallId, status: "cancelled", capabilities: null });
      await say(turn, `${toolCallId} was stopped. `);
    });
    await Promise.all(calls);
  },

  async fail() {
    throw new RequestError(-32603, "The model is away");
  },

  /** Many entries. */
  async long(turn, count = "1000") {
    for (let at = 0; at < Number(count); at += 1) {
      await say(turn, `Message **${at}** of ${count}`, { messageId: `m${at}` });
    }
  },

  async everything(turn) {
    await turn.thought("A look at all that there is.");
    await say(turn, "Here is a list:\n\n1. one\n2. two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> quoted\n\n```js\nconst a = 1;\n```\n");
    await DO.plan(turn);
    await turn.update({ sessionUpdate: "usage_update", used: 5000, size: 20_000, cost: { amount: 0.12, currency: "USD" } });
    await DO.ask(turn);
  },
};

export function MARKDOWN(count) {
  const words = "the quick brown fox jumps over one lazy dog and goes ".split(" ");
  const line = (at) => words.slice(at % 5).join(" ");
  const blocks = [];
  // Blocks of all kinds; every second thousand of pieces is one block that does not end.
  for (let at = 0; blocks.length < count; at += 1) {
    const part = Math.floor(blocks.length / 1000) % 4;
    if (part === 0) blocks.push(`**${at}** ${line(at)}\n`, `and \`code\` [x](https://x.example/)\n\n`);
    else if (part === 1) blocks.push(at % 1000 === 0 ? "```js\n" : "", `const a${at} = "${line(at)}";\n`);
    else if (part === 2) blocks.push(`- item ${at}: ${line(at)}\n`, `  more of *item* ${at} here\n`);
    else blocks.push(`${line(at)} `, `and so on, without a line end `);
    if (blocks.length % 1000 < 2) blocks.push("\n```\n\n");
  }
  return blocks.slice(0, count).map((piece) => piece || " ");
}

agent.prompt(async (turn) => {
  const { session } = turn;
  for (const content of turn.blocks) note(session, { sessionUpdate: "user_message_chunk", content });
  if (!session.data.title) {
    session.data.title = turn.text.slice(0, 40) || "A picture";
    keep(session);
    await turn.update({ sessionUpdate: "session_info_update", title: session.data.title });
  }
  const [, command, rest] = /^\/(\w+) ?(.*)$/.exec(turn.text) ?? [];
  const does = turn.blocks.some(({ type }) => type === "image") ? DO.picture : DO[command];
  if (does) await does(turn, ...(rest ? rest.split(" ") : []));
  else await say(turn, `You said: ${turn.text}`);
});
await agent.serve();
