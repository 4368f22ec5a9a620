// A short client on the high level: node short-client.mjs "a prompt" -- AGENT ARGV...
// It lets the agent read files in this folder and run commands that the user allows (here: all), and shows what it does.
import { Client, ReadOnlyFiles, Terminals, printable, spawnAgent } from "libacp/client";

const [prompt, , ...command] = process.argv.slice(2);

const client = new Client("libacp-example-short-client", "0.1.0", {
  files: new ReadOnlyFiles(),
  terminals: new Terminals(),
  permission(request) {
    say(`${request.toolCall.title} wants to run; allowed`);
    return request.allow();
  },
});

// What an agent says must not move the cursor, or more.
const say = (text) => console.log(printable(text));
const titles = new Map();
const show = {
  agent_message_chunk: ({ content }) => process.stdout.write(printable(content.text ?? `[${content.type}]`)),
  plan: ({ entries }) => say(`[plan] ${entries.map(({ content }) => content).join(", ")}`),
  tool_call: ({ toolCallId, title, status }) => say(`[${titles.set(toolCallId, title) && title}: ${status}]`),
  tool_call_update: ({ toolCallId, status }) => status && say(`[${titles.get(toolCallId)}: ${status}]`),
};

const agent = await spawnAgent(command, client);
try {
  const session = await agent.newSession(process.cwd());
  const turn = session.prompt(prompt);
  for await (const update of turn) show[update.sessionUpdate]?.(update);
  console.log(`\n(${turn.stopReason})`);
} finally {
  await agent.close();
}
