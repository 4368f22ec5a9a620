// The options of a connection and of its calls: which there are, and of which types.

export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
export const COUNT = [isCount, "a whole number from 0"];
const TIME = [(value) => value === null || isCount(value), "a whole number from 0, or null"];
const TEXT = [(value) => typeof value === "string", "a string"];
const NAMES = [(value) => Array.isArray(value) && value.every((name) => typeof name === "string"), "a list of names"];
const OPTIONS = {
  role: TEXT,
  framing: TEXT,
  policy: TEXT,
  policies: [(value) => typeof value === "object" && value !== null, "an object"],
  versions: [(value) => Array.isArray(value) && value.every(isCount), "a list of versions of the protocol"],
  drafts: NAMES,
  timeout: COUNT,
  cancelGrace: TIME,
  reminder: COUNT,
  promptQueueing: [(value) => typeof value === "boolean", "a boolean"],
  foreignMethods: NAMES,
  view: [(value) => typeof value === "boolean", "a boolean"],
  handlers: NAMES,
  limits: [(value) => typeof value === "object" && value !== null, "an object"],
};
const POLICIES = { note: TEXT, warning: TEXT, error: TEXT };
const LIMITS = {
  frame: COUNT, depth: COUNT, pending: COUNT, sessions: COUNT, terminals: COUNT, remembered: COUNT,
  viewEntries: COUNT, viewBytes: COUNT, viewContent: COUNT, viewOutput: COUNT,
};
export const CALL = {
  id: [() => true],
  timeout: TIME,
  signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
};

/** The options that were given, all of them known and of the right type. */
export function checked(options, table, path = "") {
  if (typeof options !== "object" || options === null) throw new TypeError(`${path || "options"}: expected an object`);
  const given = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(table, name)) {
      throw new TypeError(`${path}${name}: no such option, there are ${Object.keys(table).join(", ")}`);
    }
    const [fits, expected] = table[name];
    if (!fits(value)) throw new TypeError(`${path}${name}: expected ${expected}`);
    given[name] = value;
  }
  return given;
}

/** Options once they are checked, as the module is told them; `more` are those that nobody gave. */
export function known(options, without = [], more = {}) {
  const table = Object.fromEntries(Object.entries(OPTIONS).filter(([name]) => !without.includes(name)));
  const given = { ...more, ...checked(options, table) };
  if (given.limits) given.limits = checked(given.limits, LIMITS, "limits/");
  if (given.policies) given.policies = checked(given.policies, POLICIES, "policies/");
  return given;
}
