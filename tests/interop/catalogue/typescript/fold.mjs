// What a session shows, on the official SDK: it hands on updates, and clients fold them.
import { diff } from "./catalogue-steps.mjs";

/** A session as it is told, in either version. */
export class Fold {
  messages = [];
  calls = new Map();
  #terminals = new Map();
  shown = { state: "idle", commands: [], unknown: [], transcript: [], options: {} };

  /** What the answer that opens a session has. */
  open({ modes, configOptions }) {
    if (modes) this.shown.mode = modes.currentModeId;
    if (configOptions) this.#configure(configOptions);
    return this;
  }

  #configure(options) {
    for (const { id, configId, category, currentValue } of options) {
      if (category === "mode") this.shown.mode = currentValue;
      this.shown.options[configId ?? id] = currentValue;
    }
  }

  /** Content that belongs to a message: to that with its id, or in version 1 to the last one. */
  say(role, messageId, blocks, whole) {
    const last = this.shown.transcript.at(-1);
    let message = this.messages.find((each) => messageId && each.messageId === messageId && each.role === role);
    if (!message && !messageId && last === this.messages.at(-1)?.line && this.messages.at(-1)?.role === role) {
      message = this.messages.at(-1);
    }
    if (!message) {
      message = { role, messageId, line: [role, ""] };
      this.messages.push(message);
      this.shown.transcript.push(message.line);
    }
    message.line[1] = (whole ? "" : message.line[1]) + blocks.map(({ text }) => text ?? "").join("");
  }

  take(update) {
    const { sessionUpdate: kind, messageId, content } = update;
    const [, role, , chunk] = /^(user|agent)_(message|thought)(_chunk)?$/.exec(kind) ?? [];
    if (role) this.say(kind.includes("thought") ? "thought" : role, messageId, chunk ? [content] : content, !chunk);
    else (TAKES[kind] ?? ((fold) => fold.shown.unknown.push(update)))(this, update);
  }

  tool({ toolCallId, sessionUpdate, ...members }) {
    let call = this.calls.get(toolCallId);
    if (!call) {
      call = { content: [] };
      this.calls.set(toolCallId, call);
      this.shown.transcript.push(["tool_call", members.title]);
    }
    if (sessionUpdate === "tool_call_content_chunk") call.content.push(members.content);
    else Object.assign(call, members);
  }

  terminal({ terminalId, data, output, exitStatus }) {
    const terminal = this.#terminals.get(terminalId) ?? { output: Buffer.alloc(0) };
    this.#terminals.set(terminalId, terminal);
    if (output?.data) terminal.output = Buffer.from(output.data, "base64");
    if (data) terminal.output = Buffer.concat([terminal.output, Buffer.from(data, "base64")]);
    if (exitStatus) terminal.exit = exitStatus.exitCode;
  }

  configure({ configOptions }) {
    this.#configure(configOptions);
  }

  /** All that the steps ask about. */
  get seen() {
    const text = (role) => this.messages.filter((each) => each.role === role).map(({ line }) => line[1]).join("");
    return {
      ...this.shown,
      text: text("agent"),
      thoughts: text("thought"),
      tools: [...this.calls.values()].map(tool),
      terminals: [...this.#terminals.values()].map(({ output, exit }) => ({ output: output.toString(), exit })),
    };
  }
}

const TAKES = {
  plan: ({ shown }, { entries }) => (shown.plan = entries),
  plan_update: ({ shown }, { plan }) => (shown.plan = plan.entries),
  tool_call: (fold, update) => fold.tool(update),
  tool_call_update: (fold, update) => fold.tool(update),
  tool_call_content_chunk: (fold, update) => fold.tool(update),
  terminal_update: (fold, update) => fold.terminal(update),
  terminal_output_chunk: (fold, update) => fold.terminal(update),
  available_commands_update: ({ shown }, { availableCommands }) => {
    shown.commands = availableCommands.map(({ name, input }) => [name, input?.hint]);
  },
  current_mode_update: ({ shown }, { currentModeId }) => (shown.mode = currentModeId),
  config_option_update: (fold, update) => fold.configure(update),
  usage_update: ({ shown }, { used, size, cost }) => (shown.usage = { used, size, cost }),
  session_info_update: ({ shown }, { title }) => (shown.title = title),
  state_update: ({ shown }, { state, stopReason, error }) => Object.assign(shown, { state, stop: stopReason, error }),
};

function tool({ title, kind, status, content, rawInput, rawOutput, locations }) {
  const texts = content.filter(({ type, content: block }) => type === "content" && block.type === "text");
  return {
    title,
    kind,
    status,
    text: texts.map(({ content: block }) => block.text).join(""),
    input: rawInput,
    output: rawOutput,
    locations: (locations ?? []).map(({ path }) => path),
    diffs: content.filter(({ type }) => type === "diff").map(diff),
  };
}
