// An agent that asks for permission when it is told to: `node asking-agent.mjs FILE`. A prompt is JSON: a list of what to
// do, in order of `at` (milliseconds after the prompt): a request (`ask`) or an update of a tool call (`update`). Each
// answer is a line of FILE. With `{"deaf": true}` in place of the list it never reads again.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file] = process.argv;
const open = new Map();
let turn;
let next = 1;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (answer) => appendFileSync(file, `${JSON.stringify(answer)}\n`);

function end(stopReason) {
  for (const timer of turn.timers) clearTimeout(timer);
  send({ id: turn.id, result: { stopReason } });
  turn = undefined;
}

function begin(id, { sessionId, prompt: [{ text }] }) {
  const steps = JSON.parse(text);
  turn = { id, left: 0, timers: [] };
  if (steps.deaf) {
    process.stdin.pause();
    return;
  }
  for (const { at, ask, update } of steps) {
    const { left } = turn;
    if (ask) turn.left = left + 1;
    const step = () => {
      if (update) return send({ method: "session/update", params: { sessionId, update } });
      open.set(next, ask.toolCall.toolCallId);
      send({ id: next++, method: "session/request_permission", params: { sessionId, ...ask } });
    };
    turn.timers.push(setTimeout(step, at));
  }
}

const methods = {
  initialize: (id) => send({ id, result: { protocolVersion: 1, agentInfo: { name: "asking", version: "1" } } }),
  "session/new": (id) => send({ id, result: { sessionId: `s${next++}` } }),
  "session/prompt": begin,
  "session/cancel": () => turn && end("cancelled"),
};

createInterface(process.stdin).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method) return methods[method]?.(id, params);
  const call = open.get(id);
  // An answer to nothing, or a second one, has no call.
  note({ id, call, ...(error ?? result.outcome) });
  open.delete(id);
  if (turn && --turn.left === 0) end("end_turn");
});
