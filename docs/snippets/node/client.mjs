import { spawnAgent } from "libacp/client";

const agent = await spawnAgent(["node", "agent.mjs"]);
const session = await agent.newSession(process.cwd());
const turn = session.prompt("hello");
for await (const update of turn) {
  console.log(update.sessionUpdate, update.title ?? JSON.stringify(update.content));
}
console.log(turn.stopReason);
await agent.close();
