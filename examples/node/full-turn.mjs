// A turn of the full agent: everything that an agent can say, and everything that its client lets it do.
import { randomUUID } from "node:crypto";
import { basename, join } from "node:path";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/** One of each kind of content block. */
const BLOCKS = [
  { type: "text", text: "a text" },
  { type: "image", mimeType: "image/png", data: PIXEL },
  { type: "audio", mimeType: "audio/wav", data: SILENCE },
  { type: "resource_link", uri: "file:///notes.md", name: "notes.md" },
  { type: "resource", resource: { uri: "file:///notes.md", mimeType: "text/plain", text: "a resource" } },
];
/** What a client says in the _meta of its capabilities if it serves the extension of these examples. */
export const EXTENSION = "libacp.dev/full";
const COLOURS = { type: "string", title: "Colour", oneOf: ["red", "blue"].map((each) => ({ const: each, title: each })) };

/** All that a turn can do, in order; each step leaves out what the client does not offer. */
export async function tour(turn, conversation) {
  for (const step of [think, show, edit, execute, question, extend, report]) await step(turn, conversation);
}

async function think(turn) {
  await turn.plan([{ content: "look around", priority: "high", status: "in_progress" }, "answer"]);
  await turn.thought("Let me see.", { messageId: "thought-1" });
}

/** What the session was opened with, and each kind of content. */
async function show(turn) {
  const { mcpServers, roots } = turn.session;
  const listed = [
    `blocks: ${turn.blocks.map(({ type }) => type)}`,
    `servers: ${mcpServers.map(({ name }) => name)}`,
    `directories: ${roots.slice(1).map((root) => basename(root))}`,
  ];
  await turn.message(listed.join("; "), { messageId: "answer-1" });
  await turn.toolCall("Look around", { kind: "search", name: "look", rawInput: { deep: true } }, async (call) => {
    await call.update({ content: BLOCKS.map((content) => ({ type: "content", content })) });
    await call.complete({ rawOutput: { found: BLOCKS.length } });
  });
  for (const block of BLOCKS.slice(1)) await turn.message(block, { messageId: "answer-2" });
}

/** A change to a file, which the user has to allow. */
async function edit(turn) {
  const path = join(turn.session.cwd, "full.txt");
  await turn.toolCall("Edit full.txt", { kind: "edit", status: "pending", locations: [path] }, async (call) => {
    await call.diff(path, "one\ntwo\nthree\n", "one\n");
    if (!(await call.askPermission()).allowed) return;
    if (turn.client.can("fs/write_text_file")) await turn.writeTextFile(path, "one\ntwo\nthree\n");
    if (turn.client.can("fs/read_text_file")) await call.text(await turn.readTextFile(path, { line: 2, limit: 1 }));
  });
}

/** Two commands in terminals: one that ends, and one that is killed. */
async function execute(turn) {
  if (!turn.client.can("terminal/create")) return;
  await turn.toolCall("Run commands", { kind: "execute" }, async (call) => {
    const options = { env: { GREETING: "hello" }, cwd: turn.session.cwd, outputByteLimit: 100 };
    const printed = await turn.terminal("sh", ["-c", 'echo "$GREETING"; exit 3'], options, async (terminal) => {
      await call.show(terminal);
      const { exitCode } = await terminal.wait();
      return `${(await terminal.output()).output.trim()} ${exitCode}`;
    });
    await call.text(printed);
    const { signal } = await turn.terminal("sleep", ["30"], {}, async (terminal) => {
      await terminal.kill();
      return terminal.wait();
    });
    await call.text(`killed: ${signal}`);
  });
}

/** A form, and a page on the web. */
async function question(turn) {
  const offered = turn.client.capabilities.elicitation ?? {};
  if (offered.form != null) {
    const requestedSchema = { type: "object", properties: { colour: COLOURS }, required: ["colour"] };
    const params = { mode: "form", message: "Which colour?", requestedSchema };
    const { action, content } = await turn.session.request("elicitation/create", params);
    await turn.message(`colour: ${action} ${content?.colour}`);
  }
  if (offered.url != null) {
    const elicitationId = `page-${randomUUID()}`;
    const page = { mode: "url", message: "Please look", url: "https://example.com/", elicitationId };
    const { action } = await turn.session.request("elicitation/create", page);
    await turn.message(`page: ${action}`);
    if (action === "accept") await turn.client.notify("elicitation/complete", { elicitationId });
  }
}

/** A method of one's own. */
async function extend(turn) {
  if (!turn.client.capabilities._meta?.[EXTENSION]) return;
  await turn.session.notify("_libacp.dev/note", { note: "from the agent" });
  const { value } = await turn.session.request("_libacp.dev/echo", { value: 42 });
  await turn.message(`echo: ${value}`);
}

/** What the turn has cost, and what else has changed. */
async function report(turn, conversation) {
  const { notices, compaction } = turn.client.capabilities.session ?? {};
  if (notices != null) await turn.update({ sessionUpdate: "notice", severity: "warning", title: "Nearly full" });
  if (compaction != null) {
    const about = { compactionId: "c-1" };
    const content = { type: "text", text: "We talked." };
    await turn.update({ sessionUpdate: "compaction_update", ...about, status: "in_progress" });
    await turn.update({ sessionUpdate: "compaction_summary_chunk", ...about, content });
    await turn.update({ sessionUpdate: "compaction_update", ...about, status: "completed" });
  }
  const cost = { amount: 0.25, currency: "EUR" };
  await turn.update({ sessionUpdate: "usage_update", used: 1000, size: 200000, cost });
  await turn.plan([{ content: "look around", priority: "high", status: "completed" }]);
  conversation.title ??= turn.text.slice(0, 40) || "Untitled";
  conversation.touch();
  const { title, updated: updatedAt } = conversation;
  await turn.update({ sessionUpdate: "session_info_update", title, updatedAt });
}

/** A turn that goes on until it is cancelled. */
export async function wait(turn) {
  await turn.toolCall("Wait", { kind: "other" }, () => {
    return new Promise((_, reject) => turn.signal.addEventListener("abort", () => reject(turn.signal.reason)));
  });
}
