// What an agent on the official SDK says, in the words of each version: the SDK leaves that to its hosts.
import { randomUUID } from "node:crypto";

const text = (what) => ({ type: "text", text: what });
const models = ["small", "large"].map((value) => ({ value, name: value }));
const modes = ["ask", "code"];
const block = (content) => ({ type: "content", content: text(content) });

const ONE = {
  capabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    auth: { logout: {} },
  },
  initialized: (info, authMethods) => ({ protocolVersion: 1, agentInfo: info, agentCapabilities: ONE.capabilities, authMethods }),
  client: ({ clientInfo }) => clientInfo.name,
  way: (id, name) => ({ id, name }),
  opened: (kept) => ({
    modes: { currentModeId: kept.mode, availableModes: modes.map((id) => ({ id, name: id })) },
    configOptions: ONE.options(kept),
  }),
  options: ({ options }) => [
    { type: "select", id: "model", name: "Model", currentValue: options.model, options: models },
    { type: "boolean", id: "web", name: "Search the web", currentValue: options.web },
  ],
  message: (role, what) => ({ sessionUpdate: `${role}_chunk`, content: text(what) }),
  remembered: (role, what) => ({ sessionUpdate: `${role}_chunk`, content: text(what) }),
  tool: (toolCallId, members, first) => ({ sessionUpdate: first ? "tool_call" : "tool_call_update", toolCallId, ...members }),
  shows: (what) => ({ content: [block(what)] }),
  diff: (path, oldText, newText) => ({ content: [{ type: "diff", path, oldText, newText }] }),
  plan: (entries) => ({ sessionUpdate: "plan", entries }),
  mode: ({ mode }) => ({ sessionUpdate: "current_mode_update", currentModeId: mode }),
  command: (name, description, hint) => ({ name, description, ...(hint && { input: { hint } }) }),
  permission: (toolCallId, title, options) => ({ toolCall: { toolCallId, title }, options }),
};

const TWO = {
  initialized: (info, authMethods) => ({ protocolVersion: 2, info, authMethods, capabilities: TWO.capabilities }),
  capabilities: {
    session: { prompt: { image: {}, embeddedContext: {} }, delete: {}, additionalDirectories: {} },
    auth: { logout: {} },
  },
  client: ({ info }) => info.name,
  way: (methodId, name) => ({ type: "agent", methodId, name }),
  opened: (kept) => ({ configOptions: TWO.options(kept) }),
  options: ({ mode, options }) => [
    {
      type: "select",
      configId: "mode",
      name: "Mode",
      category: "mode",
      currentValue: mode,
      options: modes.map((value) => ({ value, name: value })),
    },
    { type: "select", configId: "model", name: "Model", currentValue: options.model, options: models },
    { type: "boolean", configId: "web", name: "Search the web", currentValue: options.web },
  ],
  message: (role, what, messageId) => ({ sessionUpdate: `${role}_chunk`, content: text(what), messageId }),
  remembered: (role, what) => ({ sessionUpdate: role, messageId: randomUUID(), content: [text(what)] }),
  tool: (toolCallId, members) => ({ sessionUpdate: "tool_call_update", toolCallId, ...members }),
  shows: (what) => ({ content: [block(what)] }),
  diff: (path, before, after) => ({
    content: [
      {
        type: "diff",
        changes: [{ operation: "modify", path, fileType: "text" }],
        patch: { format: "git_patch", text: patch(path, before.split("\n").slice(0, -1), after.split("\n").slice(0, -1)) },
      },
    ],
  }),
  plan: (entries) => ({ sessionUpdate: "plan_update", plan: { type: "items", planId: "plan", entries } }),
  mode: (kept) => ({ sessionUpdate: "config_option_update", configOptions: TWO.options(kept) }),
  command: (name, description, hint) => ({ type: "command", name, description, ...(hint && { input: { type: "text", hint } }) }),
  permission: (toolCallId, title, options) => ({
    title,
    subject: { type: "tool_call", toolCall: { toolCallId, title } },
    options,
  }),
};

/** A patch that replaces all lines. */
function patch(path, before, after) {
  const head = `diff --git ${path} ${path}\n--- ${path}\n+++ ${path}\n@@ -1,${before.length} +1,${after.length} @@\n`;
  const lines = before.flatMap((each, index) => (each === after[index] ? [` ${each}`] : [`-${each}`, `+${after[index]}`]));
  return `${head}${lines.join("\n")}\n`;
}

export const WORDS = { 1: ONE, 2: TWO };
