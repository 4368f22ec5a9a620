// Which methods a side serves, of which draft they are, and what shows that they are served. A test compares the methods
// and their drafts with the types.

const AGENT = {
  "": "initialize authenticate logout session/new session/load session/list session/delete session/resume session/close " +
    "session/set_mode session/set_config_option session/prompt session/cancel",
  mcp_over_acp: "mcp/message",
  llm_providers: "providers/list providers/set providers/disable",
  auth_status: "auth/status",
  session_fork: "session/fork",
  session_archive: "session/archive session/unarchive",
  session_status: "session/status",
  session_options: "session/options",
  session_set_title: "session/set_title",
  proxy_chains: "proxy/initialize proxy/successor",
  nes: "nes/start nes/suggest nes/close nes/accept nes/reject document/didOpen document/didChange document/didClose " +
    "document/didSave document/didFocus",
};
const CLIENT = {
  "": "fs/write_text_file fs/read_text_file session/request_permission terminal/create terminal/output terminal/release " +
    "terminal/wait_for_exit terminal/kill elicitation/create elicitation/complete session/update",
  mcp_over_acp: "mcp/message",
  auth_status: "auth/status_update",
  proxy_chains: "proxy/successor",
  mcp_connections: "mcp/connect mcp/disconnect",
};

/** What agents serve in version 2 only. */
const IN_2 = new Set(["tool_call/cancel", "terminal/cancel"]);

/** All drafts: some have no methods. */
export const DRAFTS = [
  "auth_status", "end_turn_token_usage", "llm_providers", "mcp_over_acp", "plan_operations", "proxy_chains", "session_archive",
  "session_fork", "session_status", "session_set_title", "nes", "mcp_connections", "session_options", "prompt_suggestions",
];

const table = (lists) =>
  new Map(Object.entries(lists).flatMap(([draft, methods]) => methods.split(" ").map((method) => [method, draft])));

/** The methods that each side serves, and their drafts. */
export const SERVED = { agent: table(AGENT), client: table(CLIENT) };
const OTHER = { agent: "client", client: "agent" };

export const TERMINALS = ["create", "output", "wait_for_exit", "kill", "release"].map((name) => `terminal/${name}`);

/** The capability that a handler of each method shows. */
export const SHOWN = {
  "session/load": { loadSession: true },
  "session/resume": { sessionCapabilities: { resume: {} } },
  "session/list": { sessionCapabilities: { list: {} } },
  "session/delete": { sessionCapabilities: { delete: {} } },
  "session/close": { sessionCapabilities: { close: {} } },
  "session/fork": { sessionCapabilities: { fork: {} } },
  "session/archive": { sessionCapabilities: { archive: {} } },
  "session/status": { sessionCapabilities: { status: {} } },
  "session/options": { sessionCapabilities: { options: {} } },
  "session/set_title": { sessionCapabilities: { title: {} } },
  "providers/list": { providers: {} },
  "auth/status": { auth: { status: {} } },
  logout: { auth: { logout: {} } },
  "fs/read_text_file": { fs: { readTextFile: true } },
  "fs/write_text_file": { fs: { writeTextFile: true } },
};

/** Requests that a capability speaks of beside the one whose handler shows it. */
const ALSO = {
  "session/unarchive": "sessionCapabilities.archive",
  "providers/set": "providers",
  "providers/disable": "providers",
  "elicitation/create": "elicitation",
  "nes/start": "nes",
  "nes/suggest": "nes",
  "nes/close": "nes",
};

/** Where an object with one member in each has its end. */
function pathOf(value) {
  const [[name, below] = []] = Object.entries(value);
  return name === undefined ? "" : [name, pathOf(below)].filter(Boolean).join(".");
}

/** The capability that says of a request that it is served. A test compares it with what the connection knows. */
export const GATES = {
  ...Object.fromEntries(Object.entries(SHOWN).map(([method, shown]) => [method, pathOf(shown)])),
  ...Object.fromEntries(TERMINALS.map((method) => [method, "terminal"])),
  ...ALSO,
};

/** The capability that must be given, as it says more than that a method is served. */
const NEEDED = [
  [/^elicitation\/create$/, "elicitation"],
  [/^elicitation\/complete$/, "elicitation.url"],
  [/^nes\//, "nes"],
  [/^document\//, "nes.events.document"],
];

/** How many letters must change for one word to become the other. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
}

/** The known word that was probably meant, as a question; nothing where none is near. */
export function nearest(word, known) {
  const [best] = [...known].map((each) => [distance(word.toLowerCase(), each.toLowerCase()), each]).sort(([a], [b]) => a - b);
  return best && best[0] <= Math.max(2, word.length / 3) ? `; did you mean ${best[1]}?` : "";
}

const found = (capabilities, path) => path?.split(".").reduce((value, name) => value?.[name], capabilities);

/** Why capabilities that are stated by hand promise too much; nothing where all that they speak of is served. */
export function whyPromised(role, { drafts = [], capabilities = {} }, serves) {
  for (const [method, draft] of SERVED[role]) {
    const path = GATES[method];
    const isStated = [undefined, null, false].every((none) => found(capabilities, path) !== none);
    if (!isStated || serves(method) || (draft !== "" && !drafts.includes(draft))) continue;
    return `capabilities: ${path} says that ${method} is served, but ${method} has no handler; give the handler, or leave the capability out`;
  }
  return undefined;
}

/** Why a handler of a method would never be called; nothing for one that may be. */
export function whyNever(role, method, { versions = [1], drafts = [], foreignMethods = [], capabilities = {} }) {
  if (typeof method !== "string") return `expected the name of a method, found ${typeof method}`;
  if (method.startsWith("_") || foreignMethods.includes(method)) return undefined;
  if (method === "$/cancel_request") {
    return "$/cancel_request has no handler: it aborts the signal of the handler that serves the request";
  }
  if (role === "agent" && IN_2.has(method)) {
    return versions.includes(2) ? undefined : `${method} is of version 2, which is not spoken; add it to the option versions`;
  }
  const served = SERVED[role];
  if (!served.has(method)) {
    if (SERVED[OTHER[role]].has(method)) {
      return `${method} is sent by ${role}s, so the ${OTHER[role]} has its handler; call it with request or notify`;
    }
    return `${method}: there is no such method${nearest(method, served.keys()) || "; names of extensions begin with an underscore"}`;
  }
  const draft = served.get(method);
  if (draft !== "" && !drafts.includes(draft)) {
    return `${method} is of a draft that is off; switch it on with the option drafts: ["${draft}"]`;
  }
  const path = NEEDED.find(([pattern]) => pattern.test(method))?.[1];
  if (path === undefined || (found(capabilities, path) ?? undefined) !== undefined) return undefined;
  return `${method} needs the capability ${path}, which says more than a handler can show; give it with the option capabilities`;
}
