// An agent that means harm: `node hostile-agent.mjs FILE`. A prompt is JSON, a list of lines to send: `{"line", "times", "fill", "of"}`.
// In a line, SESSION is the id of the session, INDEX counts, and FILL is so many times a text. A line of FILE is what it is
// answered. A prompt that is no JSON is said back.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file] = process.argv;
let sessions = 0;

const send = (message) => new Promise((resolve) => process.stdout.write(`${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message })}\n`, resolve));

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    const said = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `You said: ${text}` } };
    return [{ line: JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "SESSION", update: said } }) }];
  }
}

async function prompt(id, { sessionId, prompt: [{ text }] }) {
  for (const { line, times = 1, fill = 0, of = "x" } of parsed(text)) {
    for (let at = 0; at < times; at += 1) await send(line.replaceAll("SESSION", sessionId).replaceAll("INDEX", at).replace("FILL", () => of.repeat(fill)));
  }
  send({ id, result: { stopReason: "end_turn" } });
}

const methods = {
  initialize: (id) => send({ id, result: { protocolVersion: 1, agentInfo: { name: "hostile", version: "1" } } }),
  "session/new": (id) => {
    const availableModes = ["one", "two"].map((id) => ({ id, name: `${id} of ${sessions}` }));
    send({ id, result: { sessionId: `s${(sessions += 1)}`, modes: { currentModeId: "one", availableModes } } });
  },
  "session/set_mode": (id) => setTimeout(() => send({ id, error: { code: -32603, message: "It stays as it is" } }), 1000),
  "session/prompt": prompt,
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method) methods[method]?.(id, params);
  else appendFileSync(file, `${line}\n`);
});
