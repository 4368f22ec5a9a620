// An agent that would steer the terminal of whoever prints what it says: every control character, and those that turn the
// direction of writing, in all that it names. With `--fail` its turn ends with an error.
import { createInterface } from "node:readline";

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index));
export const STEERING = [
  ...range(0x01, 0x1f), ...range(0x7f, 0x9f), "\u061c", "\u200e", "\u200f", ...range(0x2028, 0x202e), ...range(0x2066, 0x2069),
];

const S = `\u001b]52;c;eA==\u0007${STEERING.join("")}seen`;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function turn(id, sessionId) {
  const update = (update) => send({ method: "session/update", params: { sessionId, update } });
  send({ method: `_${S}` });
  update({ sessionUpdate: "tool_call", toolCallId: "a", title: `Call ${S}`, status: "pending" });
  update({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "completed" });
  update({ sessionUpdate: "plan", entries: [{ content: `Step ${S}`, priority: "low", status: "pending" }] });
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `Words ${S}\n` } });
  update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: `Thoughts ${S}\n` } });
  const options = [{ optionId: "yes", name: `Yes ${S}`, kind: "allow_once" }];
  const toolCall = { toolCallId: "b", title: `Ask ${S}` };
  send({ id: "ask", method: "session/request_permission", params: { sessionId, toolCall, options } });
  return id;
}

function main() {
  let prompt;
  createInterface(process.stdin).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") send({ id, result: { protocolVersion: 1, agentInfo: { name: `Name ${S}`, version: S } } });
    if (method === "session/new") send({ id, result: { sessionId: "s" } });
    if (method === "session/prompt") prompt = turn(id, params.sessionId);
    if (method || id !== "ask") return;
    const failed = process.argv.includes("--fail");
    send({ id: prompt, ...(failed ? { error: { code: -32000, message: `Because ${S}` } } : { result: { stopReason: "end_turn" } }) });
  });
}

if (process.argv[1]?.endsWith("steering-agent.mjs")) main();
