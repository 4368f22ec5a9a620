// An agent and a client in one page.
import { Agent, messagePort } from "libacp/agent";
import { Client, allowAll, connect } from "libacp/client";

export async function converse() {
  const agent = new Agent("a", "1").prompt(async (turn) => {
    await turn.message(turn.text);
    await turn.toolCall("T", { status: "pending" }, (call) => call.askPermission());
  });
  const { port1, port2 } = new MessageChannel();
  const served = agent.serve(messagePort(port1));
  const peer = await connect(messagePort(port2), new Client("c", "1", { permission: allowAll }));
  const session = await peer.newSession("/");
  const seen = [];
  for await (const update of session.prompt("hi")) seen.push(update.content?.text ?? update.status);
  await peer.close();
  await served;
  return seen;
}
