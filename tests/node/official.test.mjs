// Version 2 with the official TypeScript SDK in both roles, in processes of their own. Nobody breaks a rule.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, all, clientSide, folder, later } from "./both.mjs";

const { spawnAgent } = clientSide;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const TOUR = path("../interop/version-2/tour.json");

// The hosts are shared with other languages, and find the SDK that stands beside this file.
const hosts = join(folder, "official");
mkdirSync(join(hosts, "node_modules"), { recursive: true });
for (const name of ["v2-agent.mjs", "v2-session.mjs", "v2-script.mjs", "script.mjs"]) {
  copyFileSync(path(`../interop/typescript/${name}`), join(hosts, name));
}
symlinkSync(path("node_modules/@agentclientprotocol"), join(hosts, "node_modules/@agentclientprotocol"));

test("our client, the SDK's agent", async (t) => {
  const [wrong, asked, deleting] = [[], [], later()];
  const hear = ({ rule, message }) => wrong.push([rule, message]);
  const client = new Client("libacp-interop-client", "1.0.0", {
    title: "A client of version 2",
    versions: [2],
    view: true,
    capabilities: { elicitation: { form: {} } },
    permission(request) {
      asked.push([request.title, request.description, request.toolCall.toolCallId, request.subject.type]);
      if (asked.length === 1) return request.allow();
      deleting.resolve();
      return new Promise(() => {});
    },
    onViolation: hear,
    onAdvice: hear,
  });
  client.on("elicitation/create", () => ({ action: "cancel" }));
  const agent = await spawnAgent([process.execPath, join(hosts, "v2-agent.mjs"), "--script", TOUR], client);
  t.after(() => agent.close());
  assert.deepEqual([agent.info.name, agent.version], ["libacp-interop-agent", 2]);
  const cwd = "/project";
  const session = await agent.newSession(cwd);
  assert.deepEqual([session.result.modes.currentModeId, session.result.modes.availableModes.length], ["ask", 2]);
  await session.setMode("code");
  const link = { type: "resource_link", uri: "file:///project/notes.md", name: "notes.md", mimeType: "text/markdown" };
  const first = session.prompt([`Count the lines of ${cwd}/notes.md`, link]);
  // The whole message that the agent sends at last takes the place of its chunks.
  assert.equal(await first.readText(), "Three \u2014 the last one is blank.\u2028\u{1f469}\u200d\u{1f4bb}");
  const second = session.prompt("Now delete them");
  const updates = all(second);
  await deleting.promise;
  await second.cancel();
  const kinds = (await updates).map(({ sessionUpdate }) => sessionUpdate);
  assert.deepEqual(kinds, ["state_update", "user_message", "tool_call_update", "state_update", "tool_call_update", "state_update"]);
  assert.deepEqual([first, second].map((turn) => [turn.stopReason, turn.messageId]), [["end_turn", "user-1"], ["cancelled", "user-2"]]);
  assert.deepEqual(asked, [
    ["Run wc?", "It only reads.", "tool-1", "command"],
    ["Delete three lines?", undefined, "tool-2", "tool_call"],
  ]);
  // The agent does not replay what it thought.
  const drawn = ({ view }) => view.entries.filter(({ type, role }) => type === "message" && role !== "thought").map(({ text }) => text);
  const before = drawn(session);
  const listed = [];
  for await (const each of agent.listSessions(cwd)) listed.push(each.title);
  assert.deepEqual(listed, ["Lines of notes.md"]);
  await session.close();
  const loading = agent.loadSession(session.id, cwd);
  assert.equal((await all(loading)).length, 8);
  const again = loading.session;
  assert.deepEqual(drawn(again), before);
  await again.close();
  assert.deepEqual(wrong, []);
});

test("our agent, the SDK's client", async () => {
  const ours = [process.execPath, path("program.mjs")];
  const { stdout } = await promisify(execFile)(process.execPath, [join(hosts, "v2-session.mjs"), "/work", "--", ...ours]);
  const { agent, protocolVersion, status, asked, turns, modes, titles, loaded } = JSON.parse(stdout);
  assert.deepEqual([agent, protocolVersion, status], ["program", 2, 0]);
  assert.deepEqual(asked, [["Write a", "tool_call", "w"]]);
  const stops = Object.fromEntries(Object.entries(turns).map(([what, { stop }]) => [what, stop]));
  assert.deepEqual(stops, { work: "end_turn", wait: "cancelled", refusal: "refusal", break: "error" });
  assert.deepEqual(turns.break.error, { code: -32603, message: "Internal error" });
  const chunks = ["agent_message_chunk", "agent_message_chunk"];
  assert.deepEqual(turns.wait.told, ["user_message", "state_update", ...chunks, "state_update"]);
  assert.deepEqual([modes, titles, loaded], [["ask", "code"], ["An old one"], 1]);
});
