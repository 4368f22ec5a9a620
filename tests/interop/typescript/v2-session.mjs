// A session on the official TypeScript SDK in version 2, as a program would use it: `node v2-session.mjs CWD -- AGENT ARGV...`.
// It sends one prompt for each word of PROMPTS, cancels the one called "wait", loads the session again, and ends with one line
// of JSON: what it has seen.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const PROMPTS = ["work", "wait", "refusal", "break"];
const [cwd, , ...command] = process.argv.slice(2);
const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const exit = once(child, "exit");
const asked = [];
const turns = {};

const app = acp.client({ name: "libacp-interop-typescript-session" });
app.onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
  asked.push([params.title, params.subject?.type, params.subject?.toolCall?.toolCallId]);
  return { outcome: { outcome: "selected", optionId: params.options.find((option) => option.kind === "allow_once").optionId } };
});

/** A prompt, and what is told until the session is idle. */
async function turn(agent, session, what) {
  const { messageId } = await session.prompt(what);
  const told = [];
  for (;;) {
    const message = await session.nextUpdate();
    told.push(message.update.sessionUpdate);
    if (message.update.sessionUpdate === "user_message" && message.update.messageId !== messageId) throw new Error("another message");
    if (what === "wait" && message.update.sessionUpdate === "agent_message_chunk" && !turns.wait) {
      turns.wait = true;
      await agent.notify("session/cancel", { sessionId: session.sessionId });
    }
    if (message.kind === "stop") return { told, stop: message.update.stopReason, error: message.update.error ?? null };
  }
}

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const seen = await app.connectWith(stream, async (agent) => {
  const hello = { protocolVersion: 2, info: { name: "typescript", version: "1" }, capabilities: {} };
  const { info, protocolVersion } = await agent.request("initialize", hello);
  const session = await agent.buildSession({ cwd, mcpServers: [] }).start();
  for (const what of PROMPTS) turns[what] = await turn(agent, session, what);
  const mode = session.configOptions.find((option) => option.category === "mode")?.currentValue;
  const { configOptions } = await session.setConfigOption({ configId: "mode", type: "id", value: "code" });
  const { sessions } = await agent.request("session/list", {});
  await agent.request("session/close", { sessionId: session.sessionId });
  const loaded = await agent.request("session/resume", { sessionId: "old", cwd, mcpServers: [], replayFrom: { type: "start" } });
  const modes = [mode, configOptions.find((option) => option.category === "mode").currentValue];
  const titles = sessions.map(({ title }) => title);
  return { agent: info.name, protocolVersion, asked, turns, modes, titles, loaded: loaded.configOptions.length };
});
child.stdin.end();
const [status] = await exit;
process.stdout.write(`${JSON.stringify({ ...seen, status })}\n`, () => process.exit(0));
