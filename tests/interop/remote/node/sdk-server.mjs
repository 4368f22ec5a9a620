// The server of the remote script on the official TypeScript SDK, until standard input ends: `sdk-server.mjs PORT WAY`.
import { createServer } from "node:http";
import * as acp from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";
import { untilTheEnd } from "./serving.mjs";

const { initialize, session } = acp.methods.agent;
const host = acp.methods.client;
const history = new Map();
const turns = new Map();

function createAgent() {
  const app = acp.agent({ name: "sdk" });
  app.onRequest(initialize, () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: { delete: {} } },
    agentInfo: { name: "sdk", version: "1" },
  }));
  app.onRequest(session.new, () => {
    const sessionId = `sdk-${history.size + 1}`;
    history.set(sessionId, []);
    return { sessionId };
  });
  app.onRequest(session.load, async ({ params: { sessionId }, client }) => {
    for (const text of history.get(sessionId)) {
      await client.notify(host.session.update, { sessionId, update: chunk("user_message_chunk", text) });
    }
    return {};
  });
  app.onRequest(session.delete, ({ params: { sessionId } }) => {
    history.delete(sessionId);
    return {};
  });
  app.onNotification(session.cancel, ({ params }) => turns.get(params.sessionId)?.());
  app.onRequest(session.prompt, ({ params: { sessionId, prompt }, client }) => answer(sessionId, prompt[0].text, client));
  return app;
}

async function answer(sessionId, text, client) {
  const update = (update) => client.notify(host.session.update, { sessionId, update });
  const say = (said) => update(chunk("agent_message_chunk", said));
  if (text.startsWith("has ")) {
    await say(history.has(text.slice(4)) ? "yes" : "no");
    return { stopReason: "end_turn" };
  }
  history.get(sessionId).push(text);
  if (text === "wait") {
    const stopped = new Promise((resolve) => turns.set(sessionId, resolve));
    await say("waiting");
    await stopped;
    return { stopReason: "cancelled" };
  }
  if (text === "ask") {
    await update({ sessionUpdate: "tool_call", toolCallId: "call", title: "Look", kind: "read", status: "pending" });
    const { outcome } = await client.request(host.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: "call" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    });
    await update({ sessionUpdate: "tool_call_update", toolCallId: "call", status: "completed" });
    await say(outcome.outcome === "selected" ? "allowed" : "refused");
  } else {
    await say(text);
  }
  return { stopReason: "end_turn" };
}

const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });

const acpServer = new AcpServer({ createAgent });
const server = createServer(createNodeHttpHandler(acpServer));
server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
server.listen(Number(process.argv[2]), "127.0.0.1");
untilTheEnd();
