// Mistakes that the types catch. Each stands on one line; the comment above it has a word of what the compiler says.
import { Agent, RequestError, type AgentSession, type Turn } from "libacp/agent";
import { Client, Files, Terminals, connect, spawnAgent, webSocket, type AgentPeer, type ClientSession } from "libacp/client";
import { Connection } from "libacp";

declare const turn: Turn;
declare const session: AgentSession;
declare const open: ClientSession;
declare const peer: AgentPeer;
const agent = new Agent("a");
const client = new Client();

// says: session/setmode
agent.on("session/setmode", () => {});
// says: fs/read_text_file
agent.on("fs/read_text_file", () => ({ content: "" }));
// says: $/cancel_request
agent.on("$/cancel_request", () => {});
// says: modeid
agent.on("session/set_mode", (session, { modeid }) => {});
// says: peer
agent.on("session/set_mode", (client) => void client.peer);
// says: ListSessionsResponse
agent.on("session/list", () => ({ session: [] }));
// says: string
agent.on("session/list", () => "none");
// says: SetSessionConfigOptionResponse
agent.on("session/set_config_option", () => {});
// says: sessionID
agent.newSession(() => ({ sessionID: "mine" }));
// says: done
agent.prompt(() => "done");
// says: number
agent.prompt(() => 42);
// says: txt
agent.prompt((turn) => turn.message(turn.txt));
// says: polcy
new Agent("a", "1", { polcy: "strict" });
// says: lax
new Agent("a", "1", { policy: "lax" });
// says: session_frok
new Agent("a", "1", { drafts: ["session_frok"] });
// says: promptCapabilties
new Agent("a", "1", { capabilities: { promptCapabilties: {} } });
// says: number
turn.message(42);
// says: messageID
turn.message("a", { messageID: "m" });
// says: urgent
turn.plan([{ content: "x", priority: "urgent", status: "pending" }]);
// says: sessionUpdate
turn.update({ sessionUpdate: "pln", entries: [] });
// says: cook
turn.toolCall("Cook", { kind: "cook" });
// says: string
turn.terminal("echo", "-l");
// says: Line
turn.readTextFile("/x", { Line: 1 });
// says: number
turn.writeTextFile("/x", 1);
// says: readTxtFile
turn.client.capabilities.fs?.readTxtFile;
// says: cwd
session.cwd = "/";
// says: boolean
session.update(true);
// says: string
new RequestError("-32000", "no");
// says: session/update
client.on("session/prompt", () => ({ stopReason: "end_turn" }));
// says: optionID
client.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionID: "x" } }));
// says: number
new Client("c", "1", { permission: () => 5 });
// says: number
new Client("c", "1", { files: { readTextFile: () => 5 } });
// says: onOutptu
new Terminals({ onOutptu: () => {} });
// says: boolean
new Files({ may: () => "yes" });
// says: string
spawnAgent("node agent.mjs");
// says: stdrr
spawnAgent(["node"], client, { stdrr: "pipe" });
// says: Transport
connect("ws://localhost");
// says: session/lst
peer.request("session/lst");
// says: cursr
peer.request("session/list", { cursr: "x" });
// says: cwd
peer.request("session/new", { mcpServers: [] });
// says: update
peer.notify("session/update", { sessionId: "s", update: { sessionUpdate: "plan", entries: [] } });
// says: mode
open.request("session/set_mode", { mode: "x" });
// says: number
open.prompt(5);
// says: boolean
open.setConfigOption("model", 5);
// says: Record
open.setMode("x", { meta: "trace" });
// says: undefined
open.prompt("x").stopReason.length;
// says: framing
webSocket("ws://localhost", { framing: "lines" });
// says: server
new Connection({ role: "server" });
