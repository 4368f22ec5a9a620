// The agent of the ten tasks: it wants a login, has modes, and keeps its sessions in the folder TASKS_STORE.
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, ErrorCode, RequestError } from "libacp/agent";

const agent = new Agent("tasks", "1.0", { authMethods: [{ id: "key", name: "Key" }] });
const users = new WeakSet();

agent.on("authenticate", (client) => void users.add(client));

// ANCHOR: mode
const modes = ({ data }) => ({
  modes: { currentModeId: data, availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] },
});

agent.on("session/set_mode", (session, { modeId }) => {
  session.data = modeId;
});

// ANCHOR_END: mode
agent.newSession((session) => {
  if (!users.has(session.client)) throw new RequestError(ErrorCode.AUTH_REQUIRED, "Log in first");
  session.data = "ask";
  return modes(session);
});

// An id is the client's text: it must not lead out of the folder.
const file = (id) => join(process.env.TASKS_STORE, id.replaceAll("/", "-"));

agent.loadSession(async (session) => {
  session.data = "ask";
  for (const text of readFileSync(file(session.id), "utf8").trim().split("\n")) {
    await session.update({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
  }
  return modes(session);
});

agent.on("session/list", (_, { cwd }) => {
  const kept = readdirSync(process.env.TASKS_STORE).map((sessionId) => {
    return { sessionId, cwd: process.cwd(), title: readFileSync(file(sessionId), "utf8").trim() };
  });
  return { sessions: kept.filter((each) => cwd == null || each.cwd === cwd) };
});

// ANCHOR: tool
async function edit(turn) {
  const path = join(turn.session.cwd, "tasks.txt");
  await turn.toolCall("Edit tasks.txt", { kind: "edit", locations: [path] }, async (call) => {
    await call.diff(path, "new\n", "old\n");
    const { allowed } = await call.askPermission();
    if (!allowed) return call.fail("Not allowed.");
    writeFileSync(path, "new\n");
  });
}

// ANCHOR_END: tool
// ANCHOR: plan
async function plan(turn) {
  await turn.plan(["Look", "Answer"]);
  await turn.plan([{ content: "Look", priority: "medium", status: "completed" }, "Answer"]);
}

// ANCHOR_END: plan
agent.prompt(async (turn) => {
  appendFileSync(file(turn.session.id), `${turn.text}\n`);
  if (turn.text === "edit") await edit(turn);
  else if (turn.text === "plan") await plan(turn);
  else if (turn.text === "wait") {
    await turn.message("Waiting.");
    await sleep(60_000, undefined, { signal: turn.signal });
  } else if (turn.text === "die" && readFileSync(file(turn.session.id), "utf8") === "die\n") process.exit(1);
  for (const part of ["You ", "said ", `${turn.text} as ${turn.session.data}`]) await turn.message(part);
});

await agent.serve();
