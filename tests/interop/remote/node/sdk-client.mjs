// The client of the remote script on the official TypeScript SDK: `sdk-client.mjs ADDRESS WAY`.
import * as acp from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";
import { address, play, way } from "./steps.mjs";

const { initialize, session: methods } = acp.methods.agent;
const host = acp.methods.client;

await play({
  connect: async () => {
    const heard = [];
    const app = acp.client({ name: "sdk" });
    app.onNotification(host.session.update, ({ params }) => {
      heard.push(params.update);
      heard.told?.();
    });
    app.onRequest(host.session.requestPermission, ({ params }) => {
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
      return { outcome: { outcome: "selected", optionId } };
    });
    const connection = app.connect(way === "ws" ? createWebSocketStream(address, { WebSocket }) : createHttpStream(address));
    const { agent } = connection;
    const { protocolVersion } = await agent.request(initialize, { protocolVersion: 1, clientCapabilities: {} });
    return [protocolVersion, { agent, heard, connection }];
  },
  enter: async ({ agent }) => {
    const { sessionId } = await agent.request(methods.new, { cwd: "/tmp", mcpServers: [] });
    return [sessionId !== "", sessionId];
  },
  name: (sessionId) => sessionId,
  say: async ({ agent, heard }, sessionId, text) => {
    heard.length = 0;
    const { stopReason } = await agent.request(methods.prompt, { sessionId, prompt: [{ type: "text", text }] });
    return [texts(heard, "agent_message_chunk").join(""), stopReason];
  },
  cancelled: async ({ agent, heard }, sessionId) => {
    const told = new Promise((resolve) => (heard.told = resolve));
    const turn = agent.request(methods.prompt, { sessionId, prompt: [{ type: "text", text: "wait" }] });
    await told;
    await agent.notify(methods.cancel, { sessionId });
    return (await turn).stopReason;
  },
  load: async ({ agent, heard }, sessionId) => {
    heard.length = 0;
    await agent.request(methods.load, { sessionId, cwd: "/tmp", mcpServers: [] });
    // The answer comes on the stream of the connection, and the SDK has no order between that and what the session's brings.
    await new Promise((resolve) => setTimeout(resolve, 200));
    return [texts(heard, "user_message_chunk"), sessionId];
  },
  remove: ({ agent }, sessionId) => agent.request(methods.delete, { sessionId }),
  close: ({ connection }) => connection.close?.(),
});

function texts(updates, kind) {
  return updates.filter(({ sessionUpdate }) => sessionUpdate === kind).map(({ content }) => content.text);
}
