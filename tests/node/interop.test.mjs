// Whole turns with the official TypeScript SDK at the other end, in both roles, in processes of their own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as acp from "@agentclientprotocol/sdk";
import { Client, all, clientSide, folder, texts } from "./both.mjs";

const { Files, Terminals, allowAll, spawnAgent } = clientSide;
const SDK_AGENT = fileURLToPath(new URL("sdk-agent.mjs", import.meta.url));

const OUR_AGENT = `
import { Agent } from "libacp/agent";
const agent = new Agent("ours", "1");
agent.prompt(async (turn) => {
  await turn.thought("hm");
  await turn.plan(["one"]);
  const path = turn.session.cwd + "/note";
  await turn.toolCall("Write", { kind: "edit", status: "pending", locations: [path] }, async (call) => {
    if (!(await call.askPermission()).allowed) return;
    await turn.writeTextFile(path, turn.text);
    await call.diff(path, await turn.readTextFile(path));
  });
  const [ended, shown] = await turn.terminal("sh", ["-c", "cat note; exit 3"], { cwd: turn.session.cwd }, async (terminal) => [
    await terminal.wait(),
    await terminal.output(),
  ]);
  await turn.message(ended.exitCode + " " + shown.output);
  if (turn.text === "wait") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
});
await agent.serve();
`;

function work(t) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "libacp-interop-")));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  return cwd;
}

test("our client, the SDK's agent", async (t) => {
  const cwd = work(t);
  const violations = [];
  const client = new Client("ours", "1", {
    permission: allowAll,
    files: new Files(),
    terminals: new Terminals(),
    onViolation: (violation) => violations.push(violation),
  });
  const agent = await spawnAgent([process.execPath, SDK_AGENT], client);
  t.after(() => agent.close());
  const session = await agent.newSession(cwd);
  const turn = session.prompt("hello");
  const updates = await all(turn);
  assert.deepEqual(updates.map(({ sessionUpdate }) => sessionUpdate), [
    "agent_thought_chunk", "tool_call", "tool_call_update", "agent_message_chunk",
  ]);
  assert.deepEqual(texts(updates), ["hm", "3 hello"]);
  assert.equal(turn.stopReason, "end_turn");
  assert.equal(readFileSync(join(cwd, "note"), "utf8"), "hello");
  const waiting = session.prompt("wait");
  for await (const { sessionUpdate } of waiting) if (sessionUpdate === "agent_message_chunk") await waiting.cancel();
  assert.equal(waiting.stopReason, "cancelled");
  assert.deepEqual(agent.connection.openTerminals(), []);
  assert.deepEqual(violations, []);
});

test("our agent, the SDK's client", async (t) => {
  const cwd = work(t);
  const path = join(folder, "ours.mjs");
  writeFileSync(path, OUR_AGENT);
  const child = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  const { initialize, session } = acp.methods.agent;
  const host = acp.methods.client;
  const updates = [];
  const terminals = new Terminals();
  const place = { cwd, roots: [cwd] };
  const files = new Files();
  const app = acp.client({ name: "sdk" });
  app.onNotification(host.session.update, ({ params }) => void updates.push(params.update));
  app.onRequest(host.session.requestPermission, ({ params }) => ({ outcome: { outcome: "selected", optionId: params.options[0].optionId } }));
  app.onRequest(host.fs.readTextFile, async ({ params }) => ({ content: await files.readTextFile(place, params) }));
  app.onRequest(host.fs.writeTextFile, async ({ params }) => (await files.writeTextFile(place, params)) ?? {});
  app.onRequest(host.terminal.create, async ({ params }) => ({ terminalId: await terminals.create(place, params) }));
  app.onRequest(host.terminal.waitForExit, ({ params }) => terminals.waitForExit(place, params.terminalId));
  app.onRequest(host.terminal.output, ({ params }) => terminals.output(place, params.terminalId));
  app.onRequest(host.terminal.release, async ({ params }) => (await terminals.release(place, params.terminalId)) ?? {});
  const { agent } = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  const hello = await agent.request(initialize, { protocolVersion: 1, clientCapabilities });
  assert.equal(hello.agentInfo.name, "ours");
  const { sessionId } = await agent.request(session.new, { cwd, mcpServers: [] });
  const prompt = (text) => agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  assert.deepEqual(await prompt("hello"), { stopReason: "end_turn" });
  assert.deepEqual(updates.map(({ sessionUpdate, status }) => status ?? sessionUpdate), [
    "agent_thought_chunk", "plan", "pending", "in_progress", "tool_call_update", "completed", "agent_message_chunk",
  ]);
  assert.deepEqual(texts(updates.filter(({ content }) => content?.text)), ["hm", "3 hello"]);
  const waiting = prompt("wait");
  while (updates.length < 14) await new Promise((resolve) => setTimeout(resolve, 5));
  await agent.notify(session.cancel, { sessionId });
  assert.deepEqual(await waiting, { stopReason: "cancelled" });
  child.stdin.end();
  const code = await new Promise((resolve) => child.once("exit", resolve));
  assert.equal(code, 0);
});
