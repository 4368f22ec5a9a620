// A short client on the high level: node short-client.mjs "a prompt" -- AGENT ARGV...
// It lets the agent read files in this folder and run commands that the user allows (here: all), and shows what it does.
import { Client, ReadOnlyFiles, Terminals, printable, spawnAgent } from "libacp/client";

const [prompt, , ...command] = process.argv.slice(2);

// Agents are not to steer the user's terminal, nor to turn the direction of what stands there. A message may have lines and
// tabs; a name may not.
const name = (text) => printable(text).replace(/\s/g, " ");

const client = new Client("libacp-example-short-client", "0.1.0", {
  files: new ReadOnlyFiles(),
  terminals: new Terminals(),
  permission(request) {
    console.log(`${name(request.toolCall.title ?? "a tool call")} wants to run; allowed`);
    return request.allow();
  },
  onViolation: ({ rule, message }) => console.error(name(`${rule}: ${message}`)),
});

const titles = new Map();
const show = {
  agent_message_chunk: ({ content }) => process.stdout.write(printable(content.text ?? `[${content.type}]`)),
  plan: ({ entries }) => console.log(`[plan] ${name(entries.map(({ content }) => content).join(", "))}`),
  tool_call: ({ toolCallId, title, status }) => console.log(`[${name(`${titles.set(toolCallId, title) && title}: ${status}`)}]`),
  tool_call_update: ({ toolCallId, status }) => status && console.log(`[${name(`${titles.get(toolCallId)}: ${status}`)}]`),
};

try {
  const agent = await spawnAgent(command, client);
  try {
    const session = await agent.newSession(process.cwd());
    const turn = session.prompt(prompt);
    for await (const update of turn) show[update.sessionUpdate]?.(update);
    console.log(`\n(${name(turn.stopReason)})`);
  } finally {
    await agent.close();
  }
} catch (error) {
  // What an agent gives as a reason is its text as well.
  console.error(name(error.message));
  process.exitCode = 1;
}
