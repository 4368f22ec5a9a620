// The options of a host, by the names of this language.
const NAMES = {
  policy: "policy", drafts: "drafts", capabilities: "capabilities", auth_methods: "authMethods", timeout: "timeout",
  max_requests: "maxRequests", expose_errors: "exposeErrors", merge_chunks: "mergeChunks",
};
const OTHER = ["files", "terminals", "later"];

/** What a host is given, with the hooks that are set. */
export function optionsOf({ host = {}, hooks = [] }, scene) {
  const options = {};
  for (const [name, value] of Object.entries(host)) if (!OTHER.includes(name)) options[NAMES[name] ?? name] = value;
  const tell = (event) => scene.events.push(event);
  const all = {
    update: { onUpdate: (session, update) => tell({ hook: "update", session: session.id, is: update }) },
    violation: { onViolation: ({ rule }) => tell({ hook: "violation", rule }) },
    advice: { onAdvice: ({ rule }) => tell({ hook: "advice", rule }) },
    error: { onError: (error, { method }) => tell({ hook: "error", method }) },
    late_response: { onLateResponse: ({ method }) => tell({ hook: "late_response", method }) },
  };
  // Nothing goes to the console of the tests.
  return Object.assign(options, { log: false }, ...hooks.map((hook) => all[hook]));
}
