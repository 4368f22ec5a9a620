// Agents, clients and servers for the tests of the remote transports.
import { once } from "node:events";
import { createServer } from "node:http";
import * as h2 from "node:http2";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WebSocket, WebSocketServer } from "ws";
import * as acp from "@agentclientprotocol/sdk";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { Agent, Client, folder } from "./both.mjs";

const load = (name) => import(pathToFileURL(join(folder, name)).href);
export const { connect, serve, HttpClient, HttpServer, RemoteError } = await load("http.mjs");
export const { http2Fetch, listen, nodeHandler } = await load("httpnode.mjs");
export { WebSocket, WebSocketServer };

/**
 * An agent that keeps what was said in its sessions beyond a connection. A prompt is answered with its own text; `ask`
 * asks for permission, `wait` waits to be cancelled, `say N` says N pieces of `size` characters.
 */
export function storyteller({ size = 5, resume = false } = {}) {
  const stories = new Map();
  const asked = [];
  const agent = new Agent("storyteller", "1", { log: () => {} });
  agent.newSession((session) => void stories.set(session.id, []));
  agent.loadSession(async (session) => {
    for (const text of stories.get(session.id) ?? []) {
      await session.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    }
  });
  if (resume) agent.resumeSession(() => ({}));
  agent.on("session/delete", (client, { sessionId }) => void stories.delete(sessionId));
  agent.prompt(async (turn) => {
    const say = async (text) => {
      stories.get(turn.session.id)?.push(text);
      await turn.message(text);
    };
    const [word, count] = turn.text.split(" ");
    asked.push(turn.text);
    if (word === "say") {
      for (let at = 0; at < Number(count); at += 1) await say("x".repeat(size));
    } else if (word === "wait") {
      await say("waiting");
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    } else if (word === "ask") {
      const kind = await turn.toolCall("Write", { kind: "edit", status: "pending" }, async (call) => (await call.askPermission()).kind);
      await say(`answered ${kind}`);
    } else {
      await say(turn.text);
    }
  });
  return { agent, stories, asked };
}

const text = (text) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

/** The same on the official TypeScript SDK, as far as it is needed. */
export function sdkAgent() {
  const { initialize, session } = acp.methods.agent;
  const host = acp.methods.client;
  const stories = new Map();
  const turns = new Map();
  let last = 0;
  const make = () => {
    const app = acp.agent({ name: "sdk" });
    app.onRequest(initialize, () => ({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, sessionCapabilities: { delete: {} } },
      agentInfo: { name: "sdk", version: "1" },
    }));
    app.onRequest(session.new, () => {
      const sessionId = `sdk-${(last += 1)}`;
      stories.set(sessionId, []);
      return { sessionId };
    });
    app.onRequest(session.load, async ({ params: { sessionId }, client }) => {
      for (const each of stories.get(sessionId) ?? []) await client.notify(host.session.update, { sessionId, update: text(each) });
      return {};
    });
    app.onRequest(session.delete, ({ params: { sessionId } }) => {
      stories.delete(sessionId);
      return {};
    });
    app.onNotification(session.cancel, ({ params }) => turns.get(params.sessionId)?.());
    app.onRequest(session.prompt, async ({ params: { sessionId, prompt }, client }) => {
      const say = async (said) => {
        stories.get(sessionId)?.push(said);
        await client.notify(host.session.update, { sessionId, update: text(said) });
      };
      const [{ text: word }] = prompt;
      if (word === "wait") {
        const stopped = new Promise((resolve) => turns.set(sessionId, resolve));
        await say("waiting");
        await stopped;
        return { stopReason: "cancelled" };
      }
      if (word === "ask") {
        await client.notify(host.session.update, { sessionId, update: { sessionUpdate: "tool_call", toolCallId: "t", title: "Write", kind: "edit", status: "pending" } });
        const { outcome } = await client.request(host.session.requestPermission, {
          sessionId,
          toolCall: { toolCallId: "t" },
          options: [{ optionId: "allow_once", name: "Yes", kind: "allow_once" }],
        });
        await client.notify(host.session.update, { sessionId, update: { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" } });
        await say(`answered ${outcome.optionId}`);
      } else {
        await say(word);
      }
      return { stopReason: "end_turn" };
    });
    return app;
  };
  return { make, stories };
}

/** The SDK's server, over HTTP and WebSocket; its address. */
export async function sdkServer(t, make) {
  const acpServer = new AcpServer({ createAgent: make });
  const server = createServer(createNodeHttpHandler(acpServer));
  server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    await acpServer.close();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/acp`;
}

/** Our server on HTTP/1.1, or on HTTP/2 without TLS. */
export async function ours(t, agent, { http2 = false, ...options } = {}) {
  const server = http2 ? h2.createServer() : createServer();
  const served = await listen(agent, { server, WebSocketServer, ...options });
  t.after(() => served.close({ grace: 300 }));
  return served;
}

/** What a client of ours has heard. */
export function listener() {
  const violations = [];
  const events = [];
  const updates = [];
  const client = new Client("c", "1", {
    log: () => {},
    permission: (request) => request.allow(),
    onViolation: ({ rule, message }) => violations.push(`${rule}: ${message}`),
    onUpdate: (session, { content }) => void updates.push(content?.text),
  });
  return { client, violations, events, updates, onTransport: (event) => void events.push(event) };
}

/** The ways of our client, by name. */
export const WAYS = {
  http: () => ({ transport: "http" }),
  "http/2": (t) => {
    const fetch = http2Fetch();
    t.after(() => fetch.close());
    return { transport: "http", fetch };
  },
  websocket: () => ({ transport: "websocket", WebSocket }),
};
