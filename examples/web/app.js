// A client for any agent, in a page: sessions, turns, permission and settings. Read link.js for how messages travel.

import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Link } from "./link.js";
import * as panel from "./panel.js";

const CLIENT = { name: "libacp-web", title: "libacp web example", version: "0.1.0" };
const CAPABILITIES = { session: { configOptions: { boolean: {} }, notices: {} } };
const PATIENCE = [500, 1000, 2000, 5000, 10000];

const conversation = new Conversation(document.getElementById("conversation"));
const composer = new Composer({ send: prompt, cancel });
/** The session on display, and its settings. */
let session;
let settings = {};
let link;
let attempts = 0;
/** Questions of the agent's that are open: request events and their cards by serial. */
const questions = new Map();

const handlers = {
  notification: ({ method, params }) => method === "session/update" && params.sessionId === session && update(params.update),
  request: (request) => {
    if (request.method === "session/request_permission") ask(request);
    else link.refuse(request, { code: -32601, message: "This page does not serve that" });
  },
  // The core has answered for the user, whose turn was cancelled.
  answered: ({ serial }) => settle(serial),
  violation: panel.showViolation,
  advice: (advice) => console.info(`${advice.rule}: ${advice.message}`),
  end: offline,
};

const UPDATES = {
  tool_call: (it) => conversation.tool(it),
  tool_call_update: (it) => conversation.tool(it),
  plan: ({ entries }) => panel.showPlan(entries),
  usage_update: panel.showUsage,
  available_commands_update: ({ availableCommands }) => (composer.commands = availableCommands),
  current_mode_update: ({ currentModeId }) => set({ modes: { ...settings.modes, currentModeId } }),
  config_option_update: ({ configOptions }) => set({ configOptions }),
  session_info_update: ({ title }) => title && title_(title),
  notice: ({ title, description }) => conversation.note([title, description].filter(Boolean).join(": ")),
};

function update(it) {
  if (it.sessionUpdate.endsWith("_chunk") && it.content) conversation.chunk(it.sessionUpdate, it.content, it.messageId);
  else UPDATES[it.sessionUpdate]?.(it);
}

function title_(title) {
  document.getElementById("title").textContent = title;
  document.title = title;
}

function set(change) {
  settings = { ...settings, ...change };
  panel.showSettings(settings, async (name, value) => {
    try {
      if (name === "mode") {
        await link.request("session/set_mode", { sessionId: session, modeId: value });
        settings.modes.currentModeId = value;
      } else {
        const type = typeof value === "boolean" ? { type: "boolean" } : {};
        set(await link.request("session/set_config_option", { sessionId: session, configId: name, value, ...type }));
      }
    } catch (error) {
      conversation.note(error.message, "error");
      set({});
    }
  });
}

async function prompt(text) {
  conversation.said(text);
  composer.running = true;
  try {
    const { stopReason } = await link.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text }] });
    if (stopReason !== "end_turn") conversation.note(stopReason.replaceAll("_", " "));
  } catch (error) {
    conversation.note(error.message, "error");
  } finally {
    composer.running = false;
    composer.field.focus();
  }
}

function cancel() {
  link.notify("session/cancel", { sessionId: session });
}

function ask(request) {
  const card = conversation.tool(request.params.toolCall);
  questions.set(request.serial, card);
  card.ask(request.params.options, (optionId) => {
    settle(request.serial);
    link.respond(request, { outcome: { outcome: "selected", optionId } });
  });
}

function settle(serial) {
  questions.get(serial)?.settle();
  questions.delete(serial);
}

/** Opens a new session, or one that was open before, with what was said in it. */
async function open(cwd, before) {
  const can = before && link.connection.can("session/load");
  conversation.clear();
  questions.clear();
  panel.showPlan([]);
  const where = { cwd, mcpServers: [] };
  if (can) {
    session = before;
    set(await link.request("session/load", { sessionId: before, ...where }));
  } else {
    title_("Chat");
    const result = await link.request("session/new", where);
    session = result.sessionId;
    set({ modes: result.modes, configOptions: result.configOptions });
  }
  sessionStorage.setItem("session", session);
}

async function connect() {
  clearTimeout(connect.timer);
  panel.showState("connecting");
  link = new Link(handlers);
  try {
    const { cwd } = await (await fetch("config.json")).json();
    await link.open(new URL("agent", location.href.replace(/^http/, "ws")));
    const { agentInfo } = await link.request("initialize", { clientInfo: CLIENT, clientCapabilities: CAPABILITIES });
    await open(cwd, sessionStorage.getItem("session")).catch((error) => {
      if (error.name === "CallError" && sessionStorage.getItem("session")) return open(cwd);
      throw error;
    });
    attempts = 0;
    panel.showState("online");
    panel.showFacts({
      Agent: agentInfo ? `${agentInfo.title ?? agentInfo.name} ${agentInfo.version}` : "unknown",
      Protocol: link.connection.version,
      Session: session,
      Folder: cwd,
    });
    composer.enabled = true;
    connect.cwd = cwd;
  } catch (error) {
    console.warn(error);
    conversation.note(error.message, "error");
  }
}

/** The agent is gone, and its answers with it: tries again, ever more slowly. */
function offline(reason) {
  composer.enabled = false;
  composer.running = false;
  for (const serial of [...questions.keys()]) settle(serial);
  panel.showState("offline", `offline: ${reason}`);
  connect.timer = setTimeout(connect, PATIENCE[Math.min(attempts++, PATIENCE.length - 1)]);
}

document.getElementById("reconnect").onclick = connect;
document.getElementById("fresh").onclick = () => open(connect.cwd).catch((error) => conversation.note(error.message, "error"));
document.getElementById("theme").onclick = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
};
const side = document.getElementById("side");
side.onclick = () => {
  const open = side.ariaExpanded !== "true";
  side.ariaExpanded = String(open);
  document.body.classList.toggle("narrow", !open);
};
if (matchMedia("(max-width: 60rem)").matches) side.click();
document.addEventListener("keydown", (event) => {
  if (event.altKey && event.key === "n") document.getElementById("fresh").click();
  if (event.altKey && event.key === "p") side.click();
});

// For the page's tests and for the curious: the connection of this page.
window.acp = { get link() { return link; }, get session() { return session; } };
composer.enabled = false;
connect();
