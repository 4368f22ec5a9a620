// The client of the remote script on this project's npm package: `client.mjs ADDRESS WAY`.
import { Client } from "libacp/client";
import { connect } from "libacp/http";
import { http2Fetch } from "libacp/http/node";
import { WebSocket } from "ws";
import { address, play, tell, way } from "./steps.mjs";

const report = ({ rule, message }) => tell({ violation: rule, message });
const client = new Client("client", "1", { permission: (request) => request.allow(), onViolation: report });
const options = {
  onTransport: (event) => event.type === "violation" && report(event),
  reconnect: false,
  ...(way === "ws" ? { transport: "websocket", WebSocket } : { transport: "http" }),
  ...(way === "http2" && { fetch: http2Fetch() }),
};

const texts = async (updates, kind) => {
  const said = [];
  for await (const { sessionUpdate, content } of updates) if (sessionUpdate === kind) said.push(content.text);
  return said;
};

await play({
  connect: async () => {
    const agent = await connect(address, client, options);
    return [agent.version, agent];
  },
  enter: async (agent) => {
    const session = await agent.newSession("/tmp");
    return [session.id !== "", session];
  },
  name: (session) => session.id,
  say: async (_, session, text) => {
    const turn = session.prompt(text);
    return [(await texts(turn, "agent_message_chunk")).join(""), turn.stopReason];
  },
  cancelled: async (_, session) => {
    const turn = session.prompt("wait");
    for await (const { content } of turn) if (content?.text === "waiting") await turn.cancel();
    return turn.stopReason;
  },
  load: async (agent, session) => {
    const loading = agent.loadSession(session.id, "/tmp");
    return [await texts(loading, "user_message_chunk"), await loading.session];
  },
  remove: (agent, session) => agent.deleteSession(session.id),
  close: (agent) => agent.close(),
});
