// How hosts in TypeScript use the high level; compiled, never run. Each `@ts-expect-error` is a mistake that the types must
// catch.
import { Agent, RequestError, ErrorCode, messagePort, stdio } from "libacp/agent";
import type { AgentSession, Turn, v1 } from "libacp/agent";
import {
  AgentEnded, Client, Files, NoResult, PeerError, Terminals, allowAll, connect, guarded, printable, spawnAgent, streams, webSocket,
} from "libacp/client";
import type { ClientSession, PermissionRequest, SessionEntry, SessionView, Transport } from "libacp/client";

const agent = new Agent("echo", "1.0", { title: "Echo", policies: { note: "off" }, onViolation: ({ rule }) => rule });
agent
  .prompt(async (turn: Turn) => {
    await turn.message(turn.text);
    await turn.thought({ type: "text", text: "hm" }, { messageId: "m" });
    await turn.plan(["read", { content: "write", priority: "high", status: "pending" }]);
    // @ts-expect-error a step has a status
    await turn.plan([{ content: "write", priority: "high" }]);
    const read: string = await turn.toolCall("Read", { kind: "read", locations: ["/x"] }, async (call) => {
      if (!(await call.askPermission()).allowed) return "";
      return turn.readTextFile("/x", { line: 1, limit: 2 });
    });
    // @ts-expect-error no such kind
    await turn.toolCall("Read", { kind: "reading" });
    await using call = await turn.toolCall("Test");
    await using terminal = await turn.terminal("make", ["test"], { env: { A: "1" }, outputByteLimit: 100 });
    await call.show(terminal);
    const { exitCode } = await terminal.wait();
    await call.complete({ rawOutput: exitCode });
    await turn.writeTextFile("/x", read);
    const { content } = await turn.session.request("fs/read_text_file", { path: "/y" });
    const form = { type: "object", properties: { name: { type: "string" } } } as const;
    await turn.session.request("elicitation/create", { mode: "form", message: "Who?", requestedSchema: form });
    await turn.session.request("elicitation/create", { mode: "url", message: "Sign in", url: "https://x.test", elicitationId: "e" });
    // @ts-expect-error a form has a schema
    await turn.session.request("elicitation/create", { mode: "form", message: "Who?" });
    // @ts-expect-error it has a place, which is no session then
    await turn.session.request("elicitation/create", { mode: "url", message: "Sign in", elicitationId: "e" });
    // @ts-expect-error the path is missing
    await turn.session.request("fs/read_text_file", {});
    // @ts-expect-error a client's method
    await turn.client.request("session/new", { cwd: "/", mcpServers: [] });
    await turn.client.request("_own", { content }, { signal: turn.signal, timeout: 5 });
    return turn.cancelled ? "cancelled" : { stopReason: "end_turn" };
  })
  .newSession((session: AgentSession) => {
    session.data = new Map();
  })
  .on("session/set_mode", async (session, params) => {
    await session.update({ sessionUpdate: "current_mode_update", currentModeId: params.modeId });
  })
  .on("session/list", (client, params, { signal }) => {
    if (signal.aborted || client.info.name === "x") throw new RequestError(ErrorCode.INVALID_PARAMS, "no", { cursor: params.cursor });
    return { sessions: [] };
  })
  // @ts-expect-error the sessions are missing
  .on("session/list", () => ({}))
  .on("_own", (subject, params) => ({ subject: String(subject), ...params }));
agent.prompt(() => {}).prompt(async () => {}).prompt(() => undefined);
agent.prompt(() => "refusal").prompt(async () => "refusal");
agent.prompt(() => ({ stopReason: "refusal" })).prompt(async () => ({ stopReason: "refusal", _meta: { a: 1 } }));
agent.prompt((turn) => turn.message("x")).prompt(async (turn) => turn.message("x"));
agent.prompt((turn) => (turn.cancelled ? "cancelled" : { stopReason: "refusal" }));
agent.prompt(async (turn) => {
  await turn.message("x");
  return "end_turn";
});
agent.prompt(async (turn) => {
  if (turn.text === "") return "refusal";
  await turn.message("x");
});
// @ts-expect-error no such reason
agent.prompt(() => "tired");
// @ts-expect-error no such reason
agent.prompt(async () => "tired");
// @ts-expect-error no such reason
agent.prompt(async () => ({ stopReason: "tired" }));
// @ts-expect-error no such reason
agent.prompt(async (turn) => (turn.text === "" ? "tired" : undefined));
// @ts-expect-error no such method
agent.on("session/nwe", () => {});
await agent.serve();
await agent.serve(stdio(), { signal: AbortSignal.timeout(5) });

const client = new Client("c", "1", {
  permission: async (request: PermissionRequest) => (request.toolCall.kind === "read" ? request.allow() : null),
  files: new Files({ most: 1000 }),
  terminals: new Terminals({ outputByteLimit: 100 }),
  onUpdate: (session: ClientSession, update) => console.log(session.id, update.sessionUpdate),
});
new Client("c", "1", { permission: allowAll, files: { readTextFile: async (session, { path }) => session.cwd + path } });
// @ts-expect-error no such option
new Client("c", "1", { permissions: allowAll });

await using peer = await spawnAgent(["agent", "--acp"], client, { timeout: 1000, signal: AbortSignal.timeout(5) });
const session = await peer.newSession("/work", { additionalDirectories: ["/lib"] });
const turn = session.prompt(["hello", { type: "resource_link", name: "x", uri: "file:///x" }]);
for await (const update of turn) {
  if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") console.log(update.content.text);
}
const reason: v1.StopReason | undefined = turn.stopReason;
const answer: v1.PromptResponse = await session.prompt("more", { signal: AbortSignal.timeout(5) });
const loaded: ClientSession = await peer.loadSession("s", "/work");
for await (const info of peer.listSessions()) console.log(info.sessionId, reason, answer, loaded);
await session.setConfigOption("model", "fast");
await session.notify("session/cancel");
// @ts-expect-error an agent's method
await session.request("fs/read_text_file", { path: "/" });
try {
  await peer.request("session/list", {}, { timeout: 5 });
} catch (error) {
  if (error instanceof PeerError) console.log(error.code, error.data);
  else if (error instanceof AgentEnded) console.log(error.exitCode?.toFixed());
  else if (error instanceof NoResult) error.outcome satisfies "invalid" | "timeout" | "cancelled" | "closed" | "unknown";
}
const { port1, port2 } = new MessageChannel();
await Promise.all([agent.serve(messagePort(port1)), connect(messagePort(port2))]);
await connect(webSocket("wss://localhost/acp"));
const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
const transport: Transport = streams(readable, writable, { framing: "content-length" });
await connect(transport, client);
await connect(webSocket(new WebSocket("wss://localhost/acp")));

const careful = new Files({ most: 1000, may: async (path, writing, asked) => guarded(path, writing, asked) || path === asked.session.cwd });
// @ts-expect-error it decides, with a boolean
new Files({ may: () => "yes" });
const text: string = printable("\x1b");
new Client("c", "1", { files: careful, terminals: new Terminals({ most: 1, endsWithProcess: false }), permission: (request) => request.allowAlways() })
  .on("fs/read_text_file", async (session, { path }, how) => {
    await how.reserve(1000);
    return { content: `${session.cwd}${path}${text}` };
  });

const viewing = new Client("c", "1", { view: true, limits: { viewBytes: 1 << 20 } });
// @ts-expect-error it is on or off
new Client("c", "1", { view: "yes" });
function draw(session: ClientSession): string[] {
  // @ts-expect-error there may be none
  session.view.entries;
  const view: SessionView | undefined = session.view;
  const said = (entry: SessionEntry) => (entry.type === "message" ? entry.text : entry.type);
  return view?.entries.map(said) ?? [];
}
export { draw, viewing };

// With both versions, updates are those of either, and what was written for version 1 is as it was.
const both = new Client("c", "1", {
  versions: [1, 2],
  onUpdate: (session, update) => {
    if (update.sessionUpdate === "state_update" && update.state === "idle") console.log(update.stopReason, session.agent.version);
    if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") console.log(update.content.text);
  },
  permission: ({ title, description, subject, allow }) => (subject?.type === "command" ? undefined : (console.log(title, description), allow())),
});
const eitherPeer = await connect(transport, both);
const eitherSession = await eitherPeer.newSession("/work");
const eitherTurn = eitherSession.prompt("x");
for await (const update of eitherTurn) if (update.sessionUpdate === "plan_update") console.log(update.plan.planId);
const messageId: string | undefined = eitherTurn.messageId;
const greeted: v1.InitializeResponse | undefined = eitherPeer.greeting;
await eitherSession.cancelToolCall("c");
console.log(messageId, greeted?.agentInfo?.name, eitherPeer.connection.version === 2);
for await (const update of session.prompt("x")) {
  // @ts-expect-error not in version 1
  if (update.sessionUpdate === "state_update") console.log(update);
}
new Agent("a", "1", { versions: [1, 2] }).prompt(async (turn) => {
  await turn.update({ sessionUpdate: "state_update", state: "running" });
  await turn.update({ sessionUpdate: "plan", entries: [] });
}).on("tool_call/cancel", (session, { toolCallId }) => console.log(session.cwd, toolCallId));
new Agent("a").prompt(async (turn) => {
  // @ts-expect-error not in version 1
  await turn.update({ sessionUpdate: "state_update", state: "running" });
});
// @ts-expect-error there is no such version
new Client("c", "1", { versions: [3] });
