// The turn in which the full agent on the official SDK uses all that its client serves, and looks at each answer.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as acp from "@agentclientprotocol/sdk";

const { session, fs, terminal, elicitation } = acp.methods.client;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const BLOCKS = [
  { type: "text", text: "a text" },
  { type: "image", mimeType: "image/png", data: PIXEL },
  { type: "audio", mimeType: "audio/wav", data: SILENCE },
  { type: "resource_link", uri: "file:///notes.md", name: "notes.md" },
  { type: "resource", resource: { uri: "file:///notes.md", mimeType: "text/plain", text: "a resource" } },
];
const OPTIONS = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const TEXT = "one\ntwo\nthree\n";
const text = (what) => ({ type: "content", content: { type: "text", text: what } });

export async function tour({ client, say: tell, checks, conversation, prompt, offered }) {
  const { id: sessionId, cwd, further, mcpServers } = conversation;
  const say = (sessionUpdate, members) => tell(sessionId, { sessionUpdate, ...members });
  const message = (content, messageId) => say("agent_message_chunk", { content, messageId });
  const remark = (what) => message({ type: "text", text: what });
  const ask = (method, params) => client.request(method, { sessionId, ...params });
  const tool = async (toolCallId, begin, run) => {
    await say("tool_call", { toolCallId, status: "in_progress", ...begin });
    await run((members) => say("tool_call_update", { toolCallId, ...members }));
    await say("tool_call_update", { toolCallId, status: "completed" });
  };

  await say("plan", {
    entries: [
      { content: "look around", priority: "high", status: "in_progress" },
      { content: "answer", priority: "medium", status: "pending" },
    ],
  });
  await say("agent_thought_chunk", { content: { type: "text", text: "Let me see." }, messageId: "thought-1" });
  const listed = [
    `blocks: ${prompt.map(({ type }) => type)}`,
    `servers: ${mcpServers.map(({ name }) => name)}`,
    `directories: ${further.map((each) => basename(each))}`,
  ];
  const kinds = mcpServers.map(({ type, args, env, headers }) => [type ?? "stdio", args ?? [], (env ?? headers).length]);
  checks.same("servers", kinds, [["stdio", ["-v"], 1], ["http", [], 1], ["sse", [], 0]]);
  await message({ type: "text", text: listed.join("; ") }, "answer-1");
  await tool("look", { title: "Look around", kind: "search" }, (update) =>
    update({ content: BLOCKS.map((content) => ({ type: "content", content })) }),
  );
  for (const block of BLOCKS.slice(1)) await message(block, "answer-2");

  const path = join(cwd, "full.txt");
  const diff = { type: "diff", path, oldText: "one\n", newText: TEXT };
  await tool("edit", { title: "Edit full.txt", kind: "edit", status: "pending" }, async (update) => {
    await update({ content: [diff] });
    const toolCall = { toolCallId: "edit", title: "Edit full.txt" };
    const { outcome } = await ask(session.requestPermission, { toolCall, options: OPTIONS });
    checks.same("choice", outcome, { outcome: "selected", optionId: "allow" });
    await update({ status: "in_progress" });
    checks.same("answer to a file that is written", await ask(fs.writeTextFile, { path, content: TEXT }), {});
    checks.same("written file", readFileSync(path, "utf8"), TEXT);
    const { content } = await ask(fs.readTextFile, { path, line: 2, limit: 1 });
    checks.same("line that is read", content.trimEnd(), "two");
    checks.same("whole file", await ask(fs.readTextFile, { path }), { content: TEXT });
    await checks.refused("file that is not there", -32002, ask(fs.readTextFile, { path: join(cwd, "none") }));
    await checks.true("file outside", await ask(fs.readTextFile, { path: "/etc/passwd" }).catch(() => true) === true);
    await update({ content: [diff, text(content)] });
  });

  await tool("run", { title: "Run commands", kind: "execute" }, async (update) => {
    const env = [{ name: "GREETING", value: "hello" }];
    const command = { command: "sh", args: ["-c", 'echo "$GREETING"; pwd; exit 3'], env, cwd, outputByteLimit: 1000 };
    const { terminalId } = await ask(terminal.create, command);
    const shown = { type: "terminal", terminalId };
    await update({ content: [shown] });
    const exit = await ask(terminal.waitForExit, { terminalId });
    checks.same("exit", [exit.exitCode, exit.signal ?? null], [3, null]);
    const { output, truncated, exitStatus } = await ask(terminal.output, { terminalId });
    checks.same("output", [output, truncated, exitStatus.exitCode], [`hello\n${cwd}\n`, false, 3]);
    checks.same("release", await ask(terminal.release, { terminalId }), {});
    await checks.true("terminal that was released", await ask(terminal.output, { terminalId }).catch(() => true) === true);
    await update({ content: [shown, text("hello 3")] });
    const sleeping = await ask(terminal.create, { command: "sleep", args: ["30"] });
    checks.same("kill", await ask(terminal.kill, sleeping), {});
    const { signal, exitCode } = await ask(terminal.waitForExit, sleeping);
    checks.same("signal", [signal, exitCode ?? null], ["SIGKILL", null]);
    await ask(terminal.release, sleeping);
    await update({ content: [shown, text("hello 3"), text(`killed: ${signal}`)] });
  });

  const colour = { type: "string", oneOf: ["red", "blue"].map((each) => ({ const: each, title: each })) };
  const requestedSchema = { type: "object", properties: { colour }, required: ["colour"] };
  const form = await ask(elicitation.create, { mode: "form", message: "Which colour?", requestedSchema });
  checks.same("form", [form.action, form.content], ["accept", { colour: "blue" }]);
  await remark(`colour: ${form.action} ${form.content?.colour}`);
  const page = { mode: "url", message: "Please look", url: "https://example.com/", elicitationId: "page-1" };
  const { action } = await ask(elicitation.create, page);
  checks.same("page", action, "accept");
  await remark(`page: ${action}`);
  await client.notify(elicitation.complete, { elicitationId: "page-1" });

  checks.true("extension", offered._meta?.["libacp.dev/full"]);
  await client.notify("_libacp.dev/note", { sessionId, note: "from the agent" });
  const { value } = await ask("_libacp.dev/echo", { value: 42 });
  await remark(`echo: ${value}`);
  await checks.refused("extension that is not there", -32601, ask("_libacp.dev/none", {}));

  await say("notice", { severity: "warning", title: "Nearly full" });
  await say("compaction_update", { compactionId: "c-1", status: "in_progress" });
  await say("compaction_summary_chunk", { compactionId: "c-1", content: { type: "text", text: "We talked." } });
  await say("compaction_update", { compactionId: "c-1", status: "completed" });
  await say("usage_update", { used: 1000, size: 200000, cost: { amount: 0.25, currency: "EUR" } });
  await say("plan", { entries: [{ content: "look around", priority: "high", status: "completed" }] });
  conversation.title = prompt[0].text;
  await say("session_info_update", { title: conversation.title, updatedAt: new Date().toISOString() });
}
