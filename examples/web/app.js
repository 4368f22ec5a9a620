// A client for any agent, in a page: sessions, turns, permission and settings. Read conversation.js for what is drawn.

import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { isolated, plain } from "./dom.js";
import { Client, PeerError, connect, webSocket } from "./lib/libacp/client.browser.js";
import * as panel from "./panel.js";
import { typing } from "./permission.js";

const PATIENCE = [500, 1000, 2000, 5000, 10000];

const conversation = new Conversation(document.getElementById("conversation"));
const composer = new Composer({ send: prompt, cancel });
// ANCHOR: client
const client = new Client("libacp-web", "0.1.0", {
  title: "libacp web example",
  capabilities: { session: { configOptions: { boolean: {} }, notices: {} } },
  permission: ask,
  onUpdate: ({ id }, it) => (id === session?.id ? update(it) : early?.push([id, it])),
  onViolation: panel.showViolation,
});
// ANCHOR_END: client
let agent;
/** The session on display, and its settings. */
let session;
/** What is told of other sessions while one is opened: it may be about that one. */
let early;
let settings = {};
let attempts = 0;

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
  document.getElementById("title").replaceChildren(isolated(title));
  document.title = plain(title);
}

function set(change) {
  settings = { ...settings, ...change };
  panel.showSettings(settings, async (name, value) => {
    try {
      if (name === "mode") {
        await session.setMode(value);
        settings.modes.currentModeId = value;
      } else {
        set({ configOptions: await session.setConfigOption(name, value) });
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
    const { stopReason } = await session.prompt(text);
    if (stopReason !== "end_turn") conversation.note(stopReason.replaceAll("_", " "));
  } catch (error) {
    conversation.note(error.message, "error");
  } finally {
    composer.running = false;
    if (!typing()) composer.field.focus();
  }
}

function cancel() {
  session.cancel();
}

/** A session that nobody sees has nobody to ask. */
function ask(request) {
  return request.session.id === session?.id ? conversation.ask(request) : request.reject();
}

// ANCHOR: open
/** Opens a new session, or one that was open before, with what was said in it. */
async function open(cwd, before) {
  conversation.clear();
  panel.showPlan([]);
  const told = [];
  if (before && agent.can("session/load")) {
    const loading = agent.loadSession(before, cwd);
    // What was said comes ahead of the answer.
    session = loading.session;
    await loading;
  } else {
    title_("Chat");
    early = told;
    try {
      session = await agent.newSession(cwd);
    } finally {
      early = undefined;
    }
  }
  const { modes, configOptions } = session.result;
  set({ modes, configOptions });
  // What follows the answer is told before `await` goes on.
  for (const [id, it] of told) if (id === session.id) update(it);
  sessionStorage.setItem("session", session.id);
}
// ANCHOR_END: open

async function start() {
  clearTimeout(start.timer);
  panel.showState("connecting");
  let socket;
  let problem;
  try {
    const answer = await fetch("config.json");
    if (!answer.ok) throw new Error(`config.json cannot be read: ${answer.status}`);
    const { cwd } = await answer.json();
    socket = new WebSocket(new URL("agent", location.href.replace(/^http/, "ws")));
    socket.onclose = ({ reason }) => offline(reason || problem || "the connection was lost");
    agent = await connect(webSocket(socket), client);
    const before = sessionStorage.getItem("session");
    await open(cwd, before).catch((error) => {
      if (error instanceof PeerError && before) return open(cwd);
      throw error;
    });
    attempts = 0;
    panel.showState("online");
    const { title, name, version } = agent.info;
    panel.showFacts({
      Agent: name ? `${title ?? name} ${version}` : "unknown",
      Protocol: agent.connection.version,
      Session: session.id,
      Folder: cwd,
    });
    composer.enabled = true;
    start.cwd = cwd;
  } catch (error) {
    console.warn(error);
    conversation.note(error.message, "error");
    problem = error.message;
    // What fails before there is a socket, or beside it, closes nothing by itself.
    if (socket) socket.close();
    else offline(problem);
  }
}

/** The agent is gone, and its answers with it: tries again, ever more slowly. */
function offline(reason) {
  composer.enabled = false;
  composer.running = false;
  panel.showState("offline", `offline: ${reason}`);
  start.timer = setTimeout(start, PATIENCE[Math.min(attempts++, PATIENCE.length - 1)]);
}

document.getElementById("reconnect").onclick = start;
document.getElementById("fresh").onclick = () => open(start.cwd).catch((error) => conversation.note(error.message, "error"));
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

// For the page's tests and for the curious: the agent of this page.
window.acp = { get agent() { return agent; }, get session() { return session; } };
composer.enabled = false;
start();
