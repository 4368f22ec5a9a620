// A short agent on the high level: node short-agent.mjs, as a client's child process. It counts the lines of notes.md,
// once by itself and once, if the user allows it, with a command.
import { join } from "node:path";
import { Agent } from "libacp/agent";

const agent = new Agent("libacp-example-short-agent", "0.1.0");

agent.prompt(async (turn) => {
  await turn.plan(["read notes.md", "count", "answer"]);
  const path = join(turn.session.cwd, "notes.md");
  const notes = await turn.toolCall("Read notes.md", { kind: "read", locations: [path] }, () => turn.readTextFile(path));
  const lines = notes.split("\n").length - 1;

  const counted = await turn.toolCall("wc", { kind: "execute", status: "pending" }, async (call) => {
    if (!(await call.askPermission()).allowed) return "nothing";
    return turn.terminal("wc", ["-l", "notes.md"], { cwd: turn.session.cwd }, async (terminal) => {
      await call.show(terminal);
      await terminal.wait();
      return (await terminal.output()).output.trim();
    });
  });
  await turn.message(`notes.md has ${lines} lines, and wc says ${counted}.`);
});

await agent.serve();
