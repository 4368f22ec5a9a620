// Ten tasks of clients and agents: `tasks.mjs COMMAND ...`.
import { AgentEnded, Client, ErrorCode, PeerError, spawnAgent } from "libacp/client";

// ANCHOR: login
/** A session, after a login where it needs one. */
async function login(agent, cwd) {
  try {
    return await agent.newSession(cwd);
  } catch (error) {
    if (!(error instanceof PeerError) || error.code !== ErrorCode.AUTH_REQUIRED) throw error;
  }
  await agent.authenticate(agent.authMethods[0].id);
  return await agent.newSession(cwd);
}

// ANCHOR_END: login
// ANCHOR: stream
async function stream(session) {
  for await (const update of session.prompt("Hello")) {
    if (update.sessionUpdate === "agent_message_chunk") process.stdout.write(update.content.text ?? "");
  }
  console.log();
}

// ANCHOR_END: stream
// ANCHOR: tool
const permission = (request) => (request.toolCall.kind !== "delete" ? request.allow() : request.reject());

// ANCHOR_END: tool
// ANCHOR: mode
async function switchMode(session) {
  await session.setMode("code");
  console.log("mode:", session.view.getSnapshot().modes.currentModeId);
}

// ANCHOR_END: mode
// ANCHOR: cancel
async function cancel(session) {
  const turn = session.prompt("wait");
  for await (const _ of turn) await turn.cancel();
  console.log("stopped:", turn.stopReason);
}

// ANCHOR_END: cancel
// ANCHOR: list
async function list(agent, cwd) {
  for await (const kept of agent.listSessions(cwd)) console.log("kept:", kept.title);
}

// ANCHOR_END: list
// ANCHOR: load
async function load(agent, id, cwd) {
  const session = await agent.loadSession(id, cwd);
  for (const entry of session.view.getSnapshot().entries) console.log("before:", entry.text);
  return session;
}

// ANCHOR_END: load
// ANCHOR: two
async function two(agent, cwd) {
  const sessions = [await agent.newSession(cwd), await agent.newSession(cwd)];
  const answers = await Promise.all([sessions[0].prompt("one").readText(), sessions[1].prompt("two").readText()]);
  console.log("both:", ...answers);
}

// ANCHOR_END: two
// ANCHOR: reconnect
/** The answer to a prompt; of another agent, where the first one ends meanwhile. */
async function reconnect(command, client, session, cwd) {
  try {
    return await session.prompt("die").readText();
  } catch (error) {
    if (!(error instanceof AgentEnded)) throw error;
  }
  const agent = await spawnAgent(command, client);
  try {
    const again = await agent.loadSession(session.id, cwd);
    return await again.prompt("die").readText();
  } finally {
    await agent.close();
  }
}

// ANCHOR_END: reconnect
const command = process.argv.slice(2);
const cwd = process.cwd();
const client = new Client("tasks", "1.0", { permission, view: true });
const agent = await spawnAgent(command, client);
const session = await login(agent, cwd);
await stream(session);
await list(agent, cwd);
const again = await load(agent, session.id, cwd);
const entries = (type) => again.view.getSnapshot().entries.filter((each) => each.type === type);
await again.prompt("edit");
console.log("tool:", ...entries("tool_call").map(({ status }) => status));
await again.prompt("plan");
console.log("plan:", ...entries("plan").flatMap(({ plan }) => plan.entries.map(({ status }) => status)));
await switchMode(again);
await cancel(again);
await two(agent, cwd);
console.log("again:", await reconnect(command, client, await agent.newSession(cwd), cwd));
await agent.close();
