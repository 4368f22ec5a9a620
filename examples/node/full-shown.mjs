// What an agent says, in a line.
import { printable } from "libacp/client";

const name = (text) => printable(text).replace(/\s+/g, " ").trim();
export const options = (found) => found.map(({ id, currentValue }) => `${id} is ${currentValue}`).join(", ");
const block = ({ type, text }) => (type === "text" ? name(text) : `[${type}]`);

/** What a tool call shows. */
const CONTENTS = {
  content: ({ content }) => block(content),
  diff: ({ newText }) => `[diff of ${newText.split("\n").length - 1} lines]`,
  terminal: () => "[terminal]",
};
const contents = (all) => all.map((each) => (CONTENTS[each.type] ?? (() => "[unknown]"))(each)).join(", ");

/** What is new in a tool call. */
function call({ sessionUpdate, title, kind, status, content }) {
  const begin = sessionUpdate === "tool_call" ? `${name(title)} (${kind}) ` : "";
  return `tool: ${begin}${status ?? "news"}${content?.length > 0 ? `: ${contents(content)}` : ""}`;
}

const SHOWN = {
  user_message_chunk: ({ content }) => `user: ${block(content)}`,
  agent_message_chunk: ({ content }) => `agent: ${block(content)}`,
  agent_thought_chunk: ({ content }) => `thought: ${block(content)}`,
  plan: ({ entries }) => `plan: ${entries.map(({ content, status }) => `${name(content)} ${status}`).join(", ")}`,
  tool_call: call,
  tool_call_update: call,
  available_commands_update: ({ availableCommands }) => `commands: ${availableCommands.map((each) => each.name).join(", ")}`,
  current_mode_update: ({ currentModeId }) => `mode: ${currentModeId}`,
  config_option_update: ({ configOptions }) => `options: ${options(configOptions)}`,
  session_info_update: ({ title }) => `title: ${name(title)}`,
  usage_update: ({ used, size, cost }) => `usage: ${used} of ${size}, ${cost.currency} ${cost.amount}`,
  notice: ({ severity, title }) => `notice: ${severity}: ${name(title)}`,
  compaction_update: ({ status }) => `compaction: ${status}`,
  compaction_summary_chunk: ({ content }) => `compaction: ${block(content)}`,
};

export const shown = (update) => (SHOWN[update.sessionUpdate] ?? (() => "something new"))(update);
