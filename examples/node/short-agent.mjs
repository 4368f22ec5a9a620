// A short agent on the high level: node short-agent.mjs, as a client's child process. It counts the lines of notes.md,
// once by itself and once, if the user allows it, with a command.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent } from "libacp/agent";

const agent = new Agent("libacp-example-short-agent", "0.1.0");

/** Through the client, which knows what is not saved yet; by itself where the client offers no files. */
const read = (turn, path) => (turn.client.can("fs/read_text_file") ? turn.readTextFile(path) : readFile(path, "utf8"));

agent.prompt(async (turn) => {
  await turn.plan(["read notes.md", "count", "answer"]);
  const path = join(turn.session.cwd, "notes.md");
  let notes;
  try {
    notes = await turn.toolCall("Read notes.md", { kind: "read", locations: [path] }, () => read(turn, path));
  } catch (error) {
    // Of a turn that was cancelled there is nothing to say.
    if (turn.cancelled) throw error;
    return turn.message(`notes.md cannot be read: ${error.message}`);
  }
  const lines = notes.split("\n").length - 1;
  if (!turn.client.can("terminal/create")) return turn.message(`notes.md has ${lines} lines.`);

  const counted = await turn.toolCall("wc", { kind: "execute", status: "pending" }, async (call) => {
    if (!(await call.askPermission()).allowed) return "nothing";
    return turn.terminal("wc", ["-l", "notes.md"], { cwd: turn.session.cwd }, async (terminal) => {
      await call.show(terminal);
      await terminal.wait();
      return (await terminal.output()).output.trim();
    });
  });
  return turn.message(`notes.md has ${lines} lines, and wc says ${counted}.`);
});

await agent.serve();
