import { Agent } from "libacp/agent";

const agent = new Agent("shouter", "1.0");

agent.prompt(async (turn) => {
  await turn.toolCall("Think about it", { kind: "think" }, (call) => call.text("Louder is better."));
  await turn.message(turn.text.toUpperCase());
});

await agent.serve(); // on standard input and output
