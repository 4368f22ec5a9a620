// What an agent on the official SDK says, in the words of each version: the SDK leaves that to its hosts.
import { randomUUID } from "node:crypto";
import { listed } from "./catalogue-turns.mjs";

const text = (what) => ({ type: "text", text: what });
const modes = ["ask", "code"];

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
  options: ({ options }) => listed(options),
  message: (role, what) => ({ sessionUpdate: `${role}_chunk`, content: text(what) }),
  remembered: (role, content) => ({ sessionUpdate: `${role}_chunk`, content }),
  tool: (toolCallId, members, first) => ({ sessionUpdate: first ? "tool_call" : "tool_call_update", toolCallId, ...members }),
  mode: ({ mode }) => ({ sessionUpdate: "current_mode_update", currentModeId: mode }),
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
    ...listed(options, "configId", "groupId"),
  ],
  message: (role, what, messageId) => ({ sessionUpdate: `${role}_chunk`, content: text(what), messageId }),
  remembered: (role, content) => ({ sessionUpdate: role, messageId: randomUUID(), content: [content] }),
  tool: (toolCallId, members) => ({ sessionUpdate: "tool_call_update", toolCallId, ...members }),
  mode: (kept) => ({ sessionUpdate: "config_option_update", configOptions: TWO.options(kept) }),
  permission: (toolCallId, title, options) => ({
    title,
    subject: { type: "tool_call", toolCall: { toolCallId, title } },
    options,
  }),
};

export const WORDS = { 1: ONE, 2: TWO };
