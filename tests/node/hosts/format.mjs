// The format of the host vectors, taken by its word: whatever it does not have is an error.
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
const isNumber = (value) => typeof value === "number";
const isTrue = (value) => value === true;
const isAny = () => true;
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const or = (...kinds) => (value) => kinds.some((fits) => fits(value));

const HOST = {
  policy: isText, drafts: isTexts, capabilities: isObject, auth_methods: Array.isArray, timeout: isNumber,
  max_requests: isNumber, expose_errors: isTrue, versions: Array.isArray, files: or(isTrue, isObject), terminals: or(isTrue, isObject),
  later: isTexts, merge_chunks: isTrue,
};
const HOOKS = ["update", "violation", "advice", "error", "late_response"];
const LANGUAGES = ["python", "javascript", "rust"];
const SCENARIO = {
  name: isText, host: isObject, peer: isObject, bare: isTrue, hooks: isTexts, handlers: isObject,
  refused: isTexts, steps: Array.isArray, gaps: isObject,
};
// The first member tells the kind; those that must be there end with an exclamation mark.
const CALL = { with: isAny, session: isText, as: isText };
const STEPS = {
  send: { send: isObject, times: isNumber },
  out: { out: isObject },
  see: { see: isObject, times: isNumber },
  call: { call: isText, ...CALL, iterate: or(isTrue, isNumber), wait: isText, begin: isText },
  request: { request: isText, ...CALL },
  notify: { notify: isText, with: isAny, session: isText },
  work: { work: isText, then: Array.isArray, as: isText },
  go: { go: isText },
  cancel: { cancel: isText },
  drop: { drop: isText },
  close: { close: isTrue },
  eof: { eof: isTrue },
  wait: { wait: isNumber },
};
const ACTIONS = {
  update: { update: isObject },
  do: { do: isText, with: isObject, as: isText },
  request: { request: isText, with: isAny, as: isText },
  notify: { notify: isText, with: isAny },
  wait: { wait: isText },
  data: { data: isAny },
  see: { see: (value) => value === "data" },
  return: { return: isAny },
  fail: { fail: isObject },
  raise: { raise: isText },
};
const EVENTS = {
  handler: { handler: isText, session: isText, id: isAny, params: isAny },
  cancelled: { cancelled: isText },
  data: { data: isAny },
  update: { update: isText, is: isAny, meta: isAny },
  done: { done: isText, result: isAny, error: isObject },
  hook: { hook: isText, session: isText, is: isAny, rule: isText, method: isText },
};
const FAIL = { code: isNumber, message: isText, data: isAny };
const TEXT = ["text"];
const SAID = ["text", "content", "message_id"];
const DOES = {
  message: SAID, thought: SAID, plan: ["entries", "id"], remove_plan: ["id"], hold: [], insert: [], background: ["terminal"],
  display_terminal: ["id", "command", "cwd", "then"], ask_permission: ["tool_call", "options"],
  tool_call: ["id", "title", "kind", "status", "content", "locations", "raw_input", "then"],
  read_text_file: ["path", "line", "limit"], write_text_file: ["path", "content"],
  terminal: ["command", "args", "env", "cwd", "output_byte_limit", "then"],
};
const INSIDE = {
  tool_call: {
    text: TEXT, diff: ["path", "new_text", "old_text"], change: undefined, complete: ["raw_output"], fail: TEXT,
    ask_permission: ["options"], append: ["text", "content"], show: ["terminal"], cancelled: [], background: [],
  },
  display_terminal: { write: TEXT, exit: ["code", "signal"], background: [] },
  terminal: { wait: [], output: [], kill: [] },
};
const ERROR = { kind: isText, code: isNumber, message: isText, data: isAny, rule: isText };
const KINDS = ["dropped", "peer", "misuse", "closed", "timeout", "invalid", "failed"];

function members(value, table, where) {
  if (!isObject(value)) throw new Error(`${where}: expected an object`);
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(table, name)) throw new Error(`${where}: there is no ${name}, only ${Object.keys(table).join(", ")}`);
    if (!table[name](given)) throw new Error(`${where}/${name}: it is ${JSON.stringify(given)}`);
  }
}

function kindOf(value, tables, where) {
  if (!isObject(value)) throw new Error(`${where}: expected an object`);
  const kind = Object.keys(tables).find((name) => Object.hasOwn(value, name));
  if (kind === undefined) throw new Error(`${where}: expected one of ${Object.keys(tables).join(", ")}`);
  members(value, tables[kind], where);
  return kind;
}

function needs(value, names, where) {
  for (const name of names) if (!Object.hasOwn(value, name)) throw new Error(`${where}: ${name} is missing`);
}

function checkDone({ do: what, with: given = {} }, inside, where) {
  const table = { ...DOES, ...INSIDE[inside] };
  if (!Object.hasOwn(table, what)) throw new Error(`${where}: there is no convenience ${what}`);
  const stranger = table[what] && Object.keys(given).find((name) => !table[what].includes(name));
  if (stranger !== undefined) throw new Error(`${where}: ${what} takes no ${stranger}`);
  if (given.then !== undefined) checkActions(given.then, `${where}/then`, what);
}

function checkActions(actions, where, inside) {
  if (!Array.isArray(actions)) throw new Error(`${where}: expected a list of actions`);
  for (const [index, action] of actions.entries()) {
    const at = `${where}/${index}`;
    const kind = kindOf(action, ACTIONS, at);
    if (kind === "fail") members(action.fail, FAIL, `${at}/fail`);
    if (kind === "do") checkDone(action, inside, at);
  }
}

function checkEvent(event, where) {
  const kind = kindOf(event, EVENTS, where);
  if (kind === "update") needs(event, ["is"], where);
  if (kind === "hook" && !HOOKS.includes(event.hook)) throw new Error(`${where}: there is no hook ${event.hook}`);
  if (kind !== "done") return;
  if (Object.hasOwn(event, "result") === Object.hasOwn(event, "error")) throw new Error(`${where}: a result, or an error`);
  if (!event.error) return;
  members(event.error, ERROR, `${where}/error`);
  if (!KINDS.includes(event.error.kind)) throw new Error(`${where}: there is no kind of error ${event.error.kind}`);
}

function checkStep(step, where) {
  const kind = kindOf(step, STEPS, where);
  if (kind === "see") checkEvent(step.see, where);
  if (kind === "work") checkActions(step.then, `${where}/then`, "work");
  if (kind === "call" || kind === "request") needs(step, ["as"], where);
}

/** Throws where a scenario is not of the format. */
export function check(scenario) {
  const { name = "a scenario" } = isObject(scenario) ? scenario : {};
  members(scenario, SCENARIO, name);
  needs(scenario, ["name"], name);
  if (Object.hasOwn(scenario, "steps") === Object.hasOwn(scenario, "refused")) throw new Error(`${name}: steps, or refused`);
  if (!scenario.refused) members(scenario.host ?? {}, HOST, `${name}/host`);
  const unknown = (scenario.hooks ?? []).find((hook) => !HOOKS.includes(hook));
  if (unknown !== undefined) throw new Error(`${name}/hooks: there is no ${unknown}`);
  for (const [language, reason] of Object.entries(scenario.gaps ?? {})) {
    if (!LANGUAGES.includes(language) || !isText(reason) || reason === "") throw new Error(`${name}/gaps: a language and its reason`);
  }
  for (const [method, runs] of Object.entries(scenario.handlers ?? {})) {
    if (!Array.isArray(runs) || runs.length === 0) throw new Error(`${name}/${method}: expected a list of runs`);
    for (const [index, run] of runs.entries()) checkActions(run, `${name}/${method}/${index}`);
  }
  for (const [index, step] of (scenario.steps ?? []).entries()) checkStep(step, `${name}/steps/${index}`);
}
