// An agent as its author writes it, which does what the prompt says. As a program of its own it serves both versions.
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { Agent, RequestError, later } from "./both.mjs";

export const MODES = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] };

const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });

/** An agent as its author writes it, without a word about versions, and what it has noticed. */
export function program(versions, seen, options = {}) {
  const wrong = (event) => seen.push(event);
  const agent = new Agent("program", "3", { versions, onViolation: wrong, onAdvice: wrong, ...options });
  const go = later();
  const does = {
    async work(turn) {
      await turn.plan(["Read", { content: "Write", priority: "high", status: "in_progress" }]);
      await turn.thought("Let me see.");
      await turn.toolCall("Write a", { id: "w", kind: "edit", status: "pending", locations: ["/work/a"] }, async (call) => {
        if (!(await call.askPermission()).allowed) return;
        await call.diff("/work/a", "two\n", "one\n");
        await call.text("written");
      });
      await turn.toolCall("Look", { id: "l", kind: "read" }, (call) => call.fail("nothing there"));
      await turn.message("Do");
      await turn.message("ne.");
    },
    async wait(turn) {
      await turn.message("waiting");
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      await turn.session.update(chunk("agent_message_chunk", ", cleaned up"));
    },
    async go(turn) {
      await turn.message(`${turn.session.cwd} begins`);
      await go.promise;
      await turn.message(", ends");
    },
    fail() {
      throw new RequestError(-32050, "No paper", { tray: 2 });
    },
    break() {
      throw new Error("a secret");
    },
    async ask(turn) {
      await turn.askPermission({ toolCallId: "c", title: "Run" }).catch((error) => {
        seen.push(error.name);
        throw error;
      });
    },
    mode: (turn) => turn.update({ sessionUpdate: "current_mode_update", currentModeId: "code" }),
    files: (turn) => turn.message(String(turn.client.can("fs/read_text_file"))),
  };
  agent
    .prompt(async (turn) => {
      if (Object.hasOwn(does, turn.text)) return does[turn.text](turn);
      await turn.message(`${turn.text}?`);
      return turn.text;
    })
    .newSession(async (session) => {
      const plan = { name: "plan", description: "Plans", input: { hint: "what" } };
      await session.update({ sessionUpdate: "available_commands_update", availableCommands: [plan] });
      return { modes: MODES };
    })
    .loadSession(async (session) => {
      await session.update(chunk("user_message_chunk", "Before"));
      await session.update(chunk("agent_message_chunk", "After"));
      return { modes: MODES };
    })
    .on("session/list", () => ({ sessions: [{ sessionId: "old", cwd: "/old", title: "An old one" }] }))
    .on("session/set_mode", (session, { modeId }) => void seen.push(["mode", modeId]));
  return { agent, go: () => go.resolve() };
}

if (argv[1] === fileURLToPath(import.meta.url)) await program([1, 2], [], { log: false }).agent.serve();
