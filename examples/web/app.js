// A client for any agent, in a page. What is drawn of a session is its view; read conversation.js next.

import { Client, ErrorCode, Misuse, PeerError, connect, webSocket } from "libacp/client/only";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { byId, fill, isolated, plain, tell } from "./dom.js";
import { layOut, leaveDrawers } from "./layout.js";
import { Login } from "./login.js";
import { Machine } from "./machine.js";
import * as panel from "./panel.js";
import { typing } from "./permission.js";
import { Questions } from "./questions.js";
import { Sessions } from "./sessions.js";
import { showSettings } from "./settings.js";
import { WireLog } from "./wire.js";

const PATIENCE = [500, 1000, 2000, 5000, 10000];
/** How much of a session is kept: what one can still read. */
const LIMITS = { viewEntries: 4096, viewContent: 2 << 20, viewBytes: 8 << 20 };

let agent;
/** The session on display. */
let session;
let machine;
let cwd;
let attempts = 0;
/** There is a session, which an open connection is enough for. */
let isReady = false;
let timer;
/** Counts what was opened, so that what comes too late is not shown. */
let opening = 0;

const conversation = new Conversation({ changed, drawn: () => questions.draw(session), stop });
const questions = new Questions(conversation);
const wire = new WireLog((method) => agent?.whyNot(method));
const login = new Login({ left: () => sessions.refresh() });
const sessions = new Sessions({ open: (id, how) => attempt(open(id, how)), left, waiting: (it) => questions.waiting(it) });
const composer = new Composer({ send: prompt, cancel: () => attempt(session.cancel()) });

// ANCHOR: client
/** A client that keeps a view of each session, and serves files and commands where the server does. */
function client() {
  return new Client("libacp-web", "0.1.0", {
    title: "libacp web example",
    versions: [1, 2],
    view: true,
    limits: LIMITS,
    capabilities: { session: { configOptions: { boolean: {} }, notices: {} }, elicitation: { form: {}, url: {} } },
    permission: (request) => questions.ask(request),
    files: machine?.files,
    terminals: machine?.terminals,
    trace: (direction, message) => wire.add(direction, message),
    onViolation: (violation) => wire.about(violation),
    onAdvice: (advice) => wire.about(advice),
  })
    .on("elicitation/create", (subject, params, how) => questions.elicit(subject, params, how))
    .on("elicitation/complete", (_, { elicitationId }) => questions.completed(elicitationId));
}
// ANCHOR_END: client

/** What a frame has to draw beside the entries. Without a view there is nothing to show. */
const PARTS = [
  [["title"], ({ title }) => showTitle(title)],
  [["configOptions", "modes"], (view) => showSettings(session, view)],
  [["commands"], ({ commands }) => (composer.commands = commands)],
  [["state", "replaying"], ({ state, replaying }) => (composer.running = state !== "idle" && !replaying)],
  [["usage"], ({ usage }) => panel.showUsage(usage)],
  [["entries"], (view) => panel.showPlans(view)],
  [["background", "entries", "terminals"], panel.showBackground],
  [["entries", "state"], ({ entries, state }) => (byId("welcome").hidden = entries.length > 0 || state !== "idle")],
];

function changed(now, before) {
  const isNew = (names) => !before || names.some((name) => now[name] !== before[name]);
  if (now) for (const [names, show] of PARTS) if (isNew(names)) show(now);
  if (before && before.state !== "idle" && now.state === "idle") ended();
}

/** Stops one tool call, or the command of one terminal (version 2). The answer comes once the agent has heard of it. */
function stop(method, params) {
  return attempt(session.request(method, params));
}

/** The agent has done its work. */
function ended() {
  sessions.refresh();
  if (!typing() && document.activeElement === document.body) composer.field.focus();
}

function showTitle(title) {
  byId("title").replaceChildren(isolated(title ?? "New conversation"));
  document.title = plain(title ?? "Chat with an agent");
}

/** Says what has gone wrong; a call that the connection refused stands among the messages as well. */
function failed(error) {
  if (error instanceof Misuse) wire.refused(error.method ?? "a call", error);
  tell(error.message);
}

const attempt = (promise) => Promise.resolve(promise).catch(failed);

async function prompt(blocks) {
  conversation.toEnd();
  const asked = session;
  try {
    await asked.prompt(blocks);
  } catch (error) {
    // What the agent says has gone wrong is in the view.
    if (!(error instanceof PeerError)) failed(error);
    else if (error.code === ErrorCode.AUTH_REQUIRED) await login.needed();
  }
}

// ANCHOR: open
/** Shows a session: one that is open, one of those that the agent has kept, or without an id a new one. */
async function open(id, how) {
  const mine = ++opening;
  const there = agent.sessions.get(id);
  if (how === "show" && there) return show(there);
  let opened;
  if (how === "load") {
    const loading = agent.loadSession(id, folderOf(id));
    const before = session;
    // What was said comes ahead of the answer, and is shown while it comes.
    show(loading.session);
    try {
      opened = await loading;
    } catch (error) {
      if (before?.open && mine === opening) show(before);
      throw error;
    }
  } else if (how === "resume") {
    opened = await agent.resumeSession(id, folderOf(id));
  } else {
    opened = await agent.newSession(cwd);
  }
  if (mine === opening) show(opened);
  return sessions.refresh();
}
// ANCHOR_END: open

/** A session works where it has worked before. */
const folderOf = (id) => sessions.stored(id)?.cwd ?? cwd;

function show(shown) {
  session = shown;
  sessionStorage.setItem("session", session.id);
  conversation.show(session.view);
  sessions.show(agent, session);
  composer.clear();
  panel.showFacts(facts());
  leaveDrawers();
  if (!typing()) composer.field.focus();
}

function facts() {
  const { title, name, version } = agent.info;
  const known = { Agent: name ? `${title ?? name} ${version ?? ""}` : "unknown", Protocol: `version ${agent.connection.version}`, Session: session.id, Folder: session.cwd || cwd };
  return machine ? { ...known, Files: "the agent may ask to write files and to run commands" } : known;
}

/** A session is gone; the one on display is followed by another. */
function left(id) {
  if (id !== session.id) return;
  const [other] = [...agent.sessions.values()].slice(-1);
  attempt(other ? open(other.id, "show") : open());
}

/** The first session: the one from before the page was loaded again, or a new one, after a login if one is needed. */
async function first(before) {
  try {
    const how = before && ["load", "resume"].find((how) => agent.can(`session/${how}`));
    await (how ? open(before, how).catch(instead) : open());
  } catch (error) {
    if (error.code !== ErrorCode.AUTH_REQUIRED) throw error;
    panel.showState("connecting", "not logged in");
    await login.needed();
    await first(before);
  }
}

/** What the agent has forgotten is begun anew. */
function instead(error) {
  if (error instanceof PeerError && error.code !== ErrorCode.AUTH_REQUIRED) return open();
  throw error;
}

/** Over a WebSocket a message is a frame. Where that is lost, the page begins again: there is nothing else to keep. */
function dial(address, ended) {
  const socket = new WebSocket(address.href.replace(/^http/, "ws"));
  socket.onclose = ({ reason }) => ended(reason);
  return { close: () => socket.close(), connected: connect(webSocket(socket), client()) };
}

/** Over HTTP (`?transport=http`), there is more to do: a module for that, loaded only here, opens streams and connections again. */
function request(address, ended) {
  const stop = new AbortController();
  const onTransport = (event) => heard(event, ended);
  const options = { transport: "http", patient: true, onTransport, signal: stop.signal };
  const connected = import("libacp/http/only").then((http) => http.connect(address, client(), options));
  // Without a connection, nobody else says that it has ended.
  connected.catch((error) => ended(error.message));
  const close = () => {
    stop.abort();
    connected.then((it) => it.close(), () => {});
  };
  return { close, connected };
}

/** What happens to a connection over HTTP. */
function heard({ type, wait, calls, session: id, why, status, message }, ended) {
  if (type === "retrying") panel.showState("connecting", wait > 0 ? `connecting again in ${Math.ceil(wait / 1000)} s` : "connecting again");
  else if (type === "connected") panel.showState(isReady ? "online" : "connecting");
  else if (type === "lost" && calls.length > 0) tell(`The connection was lost, and with it the answer to ${calls.length} ${calls.length === 1 ? "call" : "calls"}`);
  else if (type === "detached") tell(`The session ${id} could not be opened again`);
  else if (type === "silent") tell(message);
  else if (type === "closed") ended(why === "host" ? "" : [why, status].filter(Boolean).join(" "));
}

async function start() {
  clearTimeout(timer);
  panel.showState("connecting");
  let way;
  let problem;
  let isOver = false;
  try {
    const answer = await fetch("config.json");
    if (!answer.ok) throw new Error(`config.json cannot be read: ${answer.status}`);
    const config = await answer.json();
    cwd = config.cwd;
    const address = (name) => new URL(name, location.href);
    machine = config.root ? new Machine(address("machine"), (...about) => questions.consent(...about)) : undefined;
    await machine?.ready;
    const isHttp = new URLSearchParams(location.search).get("transport") === "http";
    way = (isHttp ? request : dial)(address("agent"), (reason) => {
      if (!isOver) offline(problem || reason || "the connection was lost");
      isOver = true;
    });
    agent = await way.connected;
    composer.takesPictures = Boolean((agent.capabilities.promptCapabilities ?? agent.capabilities.session?.prompt)?.image);
    login.show(agent);
    sessions.show(agent);
    await first(sessionStorage.getItem("session"));
    attempts = 0;
    panel.showState("online");
    isReady = true;
    composer.enabled = true;
  } catch (error) {
    console.log(error);
    tell(error.message);
    problem = error.message;
    // What fails before there is a connection, or beside it, closes nothing by itself.
    if (!way) offline(problem);
    else if (isOver) panel.showState("offline", `offline: ${problem}`);
    way?.close();
  }
}

/** The agent is gone, and its answers with it: tries again, ever more slowly. */
function offline(reason) {
  machine?.close();
  questions.left();
  isReady = false;
  composer.enabled = false;
  composer.running = false;
  panel.showState("offline", `offline: ${reason}`);
  timer = setTimeout(start, PATIENCE[Math.min(attempts++, PATIENCE.length - 1)]);
}

byId("reconnect").onclick = start;
byId("fresh").onclick = () => attempt(open());
layOut(wire);

// For the page's tests and for the curious: the agent of this page.
window.acp = { get agent() { return agent; }, get session() { return session; } };
composer.enabled = false;
fill(byId("tokens"), "none yet");
start();
