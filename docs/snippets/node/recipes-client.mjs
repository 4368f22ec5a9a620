// Goes on where the last conversation in this folder ended: `recipes-client.mjs COMMAND ...`.
import { ErrorCode, PeerError, printable, spawnAgent } from "libacp/client";

// ANCHOR: login
/** What a call gives, after a login where it needs one. */
async function loggedIn(agent, call) {
  try {
    return await call();
  } catch (error) {
    const needsLogin = error instanceof PeerError && error.code === ErrorCode.AUTH_REQUIRED;
    if (!needsLogin || agent.authMethods.length === 0) throw error;
  }
  // A client with a user asks which; this one takes the first.
  await agent.authenticate(agent.authMethods[0].id);
  return call();
}

// ANCHOR_END: login
// ANCHOR: open
const WORDS = new Set(["user_message_chunk", "agent_message_chunk"]);

/** The last session in a folder, or a new one. */
async function opened(agent, cwd) {
  if (agent.can("session/list") && agent.can("session/load")) {
    for await (const { sessionId } of agent.listSessions(cwd)) {
      const loading = agent.loadSession(sessionId, cwd);
      for await (const update of loading) {
        if (WORDS.has(update.sessionUpdate)) console.log("before:", printable(update.content.text ?? "no text"));
      }
      return await loading;
    }
  }
  return await agent.newSession(cwd);
}

// ANCHOR_END: open
// ANCHOR: settings
/** Switches the mode and the model, where there are any to choose from. */
async function setUp(session) {
  const { modes, configOptions } = session.result;
  if (modes?.availableModes.some(({ id }) => id === "code")) await session.setMode("code");
  for (const option of configOptions ?? []) {
    if (option.category !== "model" || option.type !== "select") continue;
    // They may be in groups.
    const choices = option.options.flatMap((entry) => entry.options ?? [entry]);
    await session.setConfigOption(option.id, choices.at(-1).value);
  }
}

// ANCHOR_END: settings
const agent = await spawnAgent(process.argv.slice(2));
try {
  const session = await loggedIn(agent, () => opened(agent, process.cwd()));
  await setUp(session);
  console.log("now:", printable(await session.prompt("Hello").readText()));
} finally {
  await agent.close();
}
