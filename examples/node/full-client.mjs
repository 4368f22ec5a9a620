// A client that offers and uses everything that version 1 has: node full-client.mjs PROGRAM [ARGUMENT ...]
// It takes a full agent through all that it can do, in a folder of its own, and prints a line for whatever comes.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Files, PeerError, Terminals, spawnAgent } from "libacp/client";
import { options, shown } from "./full-shown.mjs";

/** What a client says in the _meta of its capabilities if it serves the extension of these examples. */
const EXTENSION = "libacp.dev/full";
const SERVERS = [
  { name: "files", command: "/bin/true", args: ["-v"], env: [{ name: "A", value: "b" }] },
  { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "X", value: "y" }] },
  { type: "sse", name: "old", url: "https://example.com/sse", headers: [] },
];
const BLOCKS = [
  { type: "image", mimeType: "image/png", data: "aGk=" },
  { type: "audio", mimeType: "audio/wav", data: "aGk=" },
  { type: "resource_link", uri: "file:///a", name: "a" },
  { type: "resource", resource: { uri: "file:///a", text: "a" } },
];
const say = (what) => console.log(what);

const client = new Client("full-node", "1.0", {
  title: "Everything, in JavaScript",
  permission(request) {
    say(`may it? ${request.options.map(({ kind }) => kind)}`);
    return request.allow();
  },
  files: new Files(),
  terminals: new Terminals(),
  capabilities: {
    auth: { terminal: true },
    elicitation: { form: {}, url: {} },
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    _meta: { [EXTENSION]: true },
  },
  onUpdate: (_, update) => say(`meanwhile: ${shown(update)}`),
});
client.on("elicitation/create", (_, params) => {
  if (params.mode === "url") {
    say(`open a page? ${params.message}: ${params.url}`);
    return { action: "accept" };
  }
  say(`fill in? ${params.message}: ${Object.keys(params.requestedSchema.properties)}`);
  return { action: "accept", content: { colour: "blue" } };
});
client.on("elicitation/complete", () => say("the page is done with"));
client.on("_libacp.dev/echo", (_, params) => params);
client.on("_libacp.dev/note", (_, { note }) => say(`note: ${note}`));

async function refused(what, call) {
  try {
    await call;
    say(`${what}: not refused`);
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    say(`${what}: refused with ${error.code}`);
  }
}

/** Prints a turn, and stops it when a tool is called, if that is wanted. */
async function follow(turn, stop) {
  for await (const update of turn) {
    say(shown(update));
    if (update.sessionUpdate === "tool_call") await stop?.();
  }
  say(`the end: ${turn.stopReason}`);
}

async function logIn(agent, folder) {
  say(`ways to log in: ${agent.authMethods.map(({ id, type }) => `${id} (${type ?? "agent"})`)}`);
  await refused("a session before", agent.newSession(folder));
  await agent.authenticate("key");
}

async function settings(session) {
  const { modes, configOptions } = session.result;
  say(`modes: ${modes.currentModeId} of ${modes.availableModes.map(({ id }) => id)}`);
  say(`options: ${options(configOptions)}`);
  await session.setMode("code");
  say(`options: ${options(await session.setConfigOption("model", "huge"))}`);
  say(`options: ${options(await session.setConfigOption("web", true))}`);
}

/** What the library knows of a session by now. */
function known(agent, { id }) {
  const { modes, commands, toolCalls } = agent.connection.sessionSnapshot(id);
  const listed = [
    `mode ${modes.currentModeId}`,
    `commands ${(commands ?? []).map(({ name }) => name)}`,
    `tool calls ${toolCalls.map(({ status }) => status)}`,
  ];
  say(`known: ${listed.join("; ")}`);
}

/** What becomes of sessions. */
async function keep(agent, folder, first) {
  let second = await agent.newSession(folder);
  const third = await agent.newSession(join(folder, "further"));
  const names = new Map([[first.id, "first"], [second.id, "second"], [third.id, "third"]]);
  const listed = async (cwd) => {
    const found = [];
    for await (const { sessionId } of agent.listSessions(cwd)) found.push(names.get(sessionId));
    return found;
  };
  say(`sessions: ${await listed()}`);
  say(`in a directory: ${await listed(third.cwd)}`);
  await follow(second.prompt("wait"), () => second.close());
  second = await agent.resumeSession(second.id, folder);
  say(`resumed: ${second.result.modes.currentModeId}; ${options(second.result.configOptions)}`);
  await second.close();
  await agent.deleteSession(second.id);
  await agent.deleteSession(third.id);
  say(`sessions: ${await listed()}`);
  await first.close();
  const loading = agent.loadSession(first.id, folder, { mcpServers: SERVERS, additionalDirectories: [third.cwd] });
  for await (const update of loading) say(`replay: ${shown(update)}`);
  const { result } = await loading;
  say(`loaded: ${result.modes.currentModeId}; ${options(result.configOptions)}`);
}

async function extension(agent, session) {
  const { value } = await agent.request("_libacp.dev/echo", { value: [1, null] });
  say(`echo: ${JSON.stringify(value)}`);
  await session.notify("_libacp.dev/note", { note: "hello" });
  await refused("an extension that is not there", agent.request("_libacp.dev/none", {}));
}

async function main(command, folder) {
  const further = join(folder, "further");
  mkdirSync(further);
  const agent = await spawnAgent(command, client);
  try {
    if (agent.authMethods.length > 0) await logIn(agent, folder);
    const session = await agent.newSession(folder, { mcpServers: SERVERS, additionalDirectories: [further] });
    await settings(session);
    await follow(session.prompt(["tour", ...BLOCKS]));
    say(`written: ${readFileSync(join(folder, "full.txt"), "utf8").trim().split("\n")}`);
    const waiting = session.prompt("wait");
    await follow(waiting, () => waiting.cancel());
    await follow(session.prompt("refuse"));
    await extension(agent, session);
    known(agent, session);
    await keep(agent, folder, session);
    if (agent.authMethods.length > 0) {
      await agent.logout();
      await refused("a session after", agent.newSession(folder));
    }
  } finally {
    await agent.close();
  }
}

// Where temporary folders are links, the agent and the files of the client would not name the same one.
const folder = realpathSync(mkdtempSync(join(tmpdir(), "full-client-")));
try {
  await main(process.argv.slice(2), folder);
} finally {
  rmSync(folder, { recursive: true });
}
