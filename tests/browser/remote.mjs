// Remote agents in a page: by requests and by WebSocket, from servers of another origin. Each check throws where it fails.
import { Client, init as initCore } from "libacp/client";
import { HttpClient, connect, init } from "libacp/http";
import * as machines from "libacp/http";
import { replay } from "/node/remote.mjs";

const { listed, foreign, encrypted, files } = await (await fetch("/remotes.json")).json();

function equal(found, expected) {
  const [left, right] = [found, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`expected ${right}, found ${left}`);
}

/** A turn, and one that is cancelled; the carriers that were tried. */
async function converse(address, options) {
  const tried = [];
  const onTransport = (event) => {
    if (event.type === "connecting") tried.push(event.carrier);
    if (event.type === "violation") tried.push(event.rule);
  };
  const client = new Client("page", "1", { permission: (request) => request.allow() });
  const agent = await connect(address, client, { ...options, onTransport });
  const session = await agent.newSession("/");
  const updates = [];
  const turn = session.prompt("hi");
  for await (const update of turn) updates.push(update.content?.text ?? update.status ?? update.title);
  const cancelled = session.prompt("wait");
  for await (const _ of cancelled) await cancelled.cancel();
  await agent.close();
  return [...tried, ...updates, turn.stopReason, cancelled.stopReason];
}
const EXPECTED = ["hi", "pending", "in_progress", "completed", "end_turn", "cancelled"];

const failure = (promise) => promise.then(() => undefined, (error) => error);

globalThis.remote = {
  "the module of the remote transports is not loaded before it is wanted": () => {
    const loaded = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("libacp_http_bg.wasm"));
    equal(loaded.length, 0);
    let error;
    try {
      new HttpClient();
    } catch (caught) {
      error = caught;
    }
    equal(/init/.test(error?.message), true);
  },

  "a remote agent, by requests": async () => equal(await converse(listed, { transport: "http" }), ["http", ...EXPECTED]),

  "a remote agent, by WebSocket": async () => equal(await converse(listed.replace("http", "ws")), ["websocket", ...EXPECTED]),

  "a remote agent, by what works": async () => equal(await converse(listed), ["websocket", ...EXPECTED]),

  "a server that does not list the page's origin serves it neither way": async () => {
    for (const transport of ["http", "websocket"]) {
      const error = await failure(connect(foreign, undefined, { transport, grace: 100 }));
      equal([transport, error?.outcome, error?.cause?.name], [transport, "closed", "RemoteError"]);
    }
    // Nor a page that does not speak the protocol, whether the browser asks first (by OPTIONS) or not.
    const hello = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } });
    const json = { "content-type": "application/json" };
    const stream = { accept: "text/event-stream", "acp-connection-id": "0".repeat(32) };
    for (const asked of [
      { method: "POST", body: hello },
      { method: "POST", body: hello, headers: json },
      { method: "GET", headers: stream },
      { method: "DELETE", headers: stream },
    ]) {
      equal((await failure(fetch(foreign, asked)))?.name, "TypeError");
      // What it is told when it does not ask for more than to send.
      if (asked.headers === undefined) equal((await fetch(foreign, { ...asked, mode: "no-cors" })).type, "opaque");
    }
    const closed = await new Promise((resolve) => {
      const socket = new WebSocket(foreign.replace("http", "ws"));
      socket.onopen = () => resolve("opened");
      socket.onclose = ({ code }) => resolve(code);
    });
    equal(closed, 1006);
  },

  "of eight sessions over HTTP/1.1, four have room, and no call waits for ever": async () => {
    const agent = await connect(listed, undefined, { transport: "http" });
    const sessions = [];
    for (let at = 0; at < 4; at += 1) sessions.push(await agent.newSession("/"));
    for (let at = 4; at < 8; at += 1) {
      const error = await failure(agent.newSession("/"));
      equal([error?.name, error?.rule], ["LimitMisuse", "HTTP-27"]);
    }
    const turns = sessions.map(async (session) => (await session.prompt("hi")).stopReason).map(failure);
    equal(await Promise.all(turns), [undefined, undefined, undefined, undefined]);
    await agent.close();
  },

  "eight sessions at once over HTTP/2 with TLS": async () => {
    const client = new Client("page", "1", { permission: (request) => request.allow() });
    const agent = await connect(encrypted, client, { transport: "http" });
    const sessions = [];
    for (let at = 0; at < 8; at += 1) sessions.push(await agent.newSession("/"));
    const said = async (session) => {
      const updates = [];
      for await (const { content } of session.prompt("count 5")) updates.push(content.text);
      return updates.join(" ");
    };
    equal(await Promise.all(sessions.map(said)), sessions.map(() => "0 1 2 3 4"));
    const spoken = performance.getEntriesByName(encrypted).map(({ nextHopProtocol }) => nextHopProtocol);
    equal([spoken.length > 0, spoken.every((each) => each === "h2" || each === "")], [true, true]);
    await agent.close();
  },

  "a WebSocket with TLS": async () => {
    equal(await converse(encrypted.replace("http", "ws")), ["websocket", ...EXPECTED]);
  },

  "a WebSocket has room for more": async () => {
    const agent = await connect(listed, undefined, { transport: "websocket" });
    for (let at = 0; at < 8; at += 1) await agent.newSession("/");
    await agent.close();
  },

  "the vectors of the remote transports": async () => {
    await Promise.all([initCore(), init()]);
    const { count, failed } = replay(machines, files);
    equal(failed, []);
    equal(count > 200, true);
  },
};
Object.assign(globalThis.checks, globalThis.remote);

/** Begins a turn of so many updates, and one after it; `heard` has what came of them. */
globalThis.begin = async (transport, count) => {
  const heard = (globalThis.heard = { updates: [], events: [] });
  const onTransport = ({ type }) => heard.events.push(type);
  const agent = await connect(listed, undefined, { transport, onTransport });
  const session = await agent.newSession("/");
  document.addEventListener("resume", () => (heard.awake = heard.updates.length), { once: true });
  const turn = session.prompt(`count ${count}`);
  void (async () => {
    try {
      for await (const { content } of turn) heard.updates.push(Number(content.text));
      heard.ended = turn.stopReason;
    } catch (error) {
      heard.ended = error.name;
    }
    const again = session.prompt("count 1");
    for await (const _ of again);
    heard.after = again.stopReason;
    await agent.close();
  })();
};
