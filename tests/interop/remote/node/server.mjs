// The server of the remote script on this project's npm package, until standard input ends: `server.mjs PORT WAY`.
import { createServer } from "node:http";
import * as http2 from "node:http2";
import { Agent } from "libacp/agent";
import { listen } from "libacp/http/node";
import { WebSocketServer } from "ws";
import { untilTheEnd } from "./serving.mjs";

const [port, way] = process.argv.slice(2);
const report = ({ rule, message }) => console.log(JSON.stringify({ violation: rule, message }));
const history = new Map();
const agent = new Agent("agent", "1", { onViolation: report });
agent.newSession((session) => void history.set(session.id, []));
agent.loadSession(async (session) => {
  for (const text of history.get(session.id)) {
    await session.update({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
  }
});
agent.on("session/delete", (client, { sessionId }) => void history.delete(sessionId));
agent.prompt(async (turn) => {
  if (turn.text.startsWith("has ")) return void (await turn.message(history.has(turn.text.slice(4)) ? "yes" : "no"));
  history.get(turn.session.id).push(turn.text);
  if (turn.text === "ask") {
    const { allowed } = await turn.toolCall("Look", { kind: "read" }, (call) => call.askPermission());
    await turn.message(allowed ? "allowed" : "refused");
  } else if (turn.text === "wait") {
    await turn.message("waiting");
    await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  } else {
    await turn.message(turn.text);
  }
});
const server = way === "http2" ? http2.createServer() : createServer();
await listen(agent, { server, port: Number(port), WebSocketServer, onViolation: report });
untilTheEnd();
