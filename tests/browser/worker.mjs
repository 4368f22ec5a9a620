// An agent in a worker, where import maps do not reach.
import { Agent, messagePort } from "/libacp/dist/agent.browser.js";

const agent = new Agent("worker", "1").prompt(async (turn) => {
  await turn.message(turn.text);
  if (turn.text === "wait") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  await turn.toolCall("T", { status: "pending" }, (call) => call.askPermission());
});
const served = agent.serve(messagePort(globalThis));
postMessage("ready");
await served;
