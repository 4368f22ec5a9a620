// An agent on the official TypeScript SDK, for interop.test.mjs.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { initialize, session } = acp.methods.agent;
const client = acp.methods.client;
let cwd;
let cancelled;

const app = acp.agent({ name: "sdk" });
app.onNotification(session.cancel, () => cancelled?.());
app.onRequest(initialize, () => ({ protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: "sdk", version: "1" } }));
app.onRequest(session.new, ({ params }) => {
  ({ cwd } = params);
  return { sessionId: "s" };
});
app.onRequest(session.prompt, async ({ params: { sessionId, prompt } }) => {
  const [{ text }] = prompt;
  const ask = (method, params) => connection.client.request(method, { sessionId, ...params });
  const say = (update) => connection.client.notify(client.session.update, { sessionId, update });
  const path = `${cwd}/note`;
  await say({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
  const toolCallId = `t-${text}`;
  await say({ sessionUpdate: "tool_call", toolCallId, title: "Write", kind: "edit", status: "pending" });
  const { outcome } = await ask(client.session.requestPermission, {
    toolCall: { toolCallId },
    options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
  });
  if (outcome.optionId !== "yes") throw new Error("not allowed");
  await ask(client.fs.writeTextFile, { path, content: text });
  const { content } = await ask(client.fs.readTextFile, { path });
  await say({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", content: [{ type: "diff", path, newText: content }] });
  const { terminalId } = await ask(client.terminal.create, { command: "sh", args: ["-c", "cat note; exit 3"], cwd });
  const { exitCode } = await ask(client.terminal.waitForExit, { terminalId });
  const { output } = await ask(client.terminal.output, { terminalId });
  await ask(client.terminal.release, { terminalId });
  const stopped = new Promise((resolve) => (cancelled = resolve));
  await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${exitCode} ${output}` } });
  if (text !== "wait") return { stopReason: "end_turn" };
  await stopped;
  return { stopReason: "cancelled" };
});
const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
await connection.closed;
