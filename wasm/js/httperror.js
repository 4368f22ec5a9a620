// The end of a conversation with a remote agent.

/** The conversation with a remote agent has ended, and why. */
export class RemoteError extends Error {
  constructor(why, status, cause) {
    super(TEXTS[why]?.(status, cause) ?? `the connection is over: ${why}`, cause ? { cause } : undefined);
    this.why = why;
    this.status = status;
  }
}
RemoteError.prototype.name = "RemoteError";

/** What is behind a failure, such as a certificate that is not trusted: `fetch` says only that it failed. */
function reason(error) {
  for (; error?.cause instanceof Error; error = error.cause);
  return error?.message;
}

const TEXTS = {
  "not-initialized": () => "the agent refused to initialize the connection",
  "not-served": (status) => `nothing serves this transport there (${status})`,
  refused: (status) => `the server refused the connection (${status})`,
  unreachable: (status, cause) =>
    ["the server cannot be reached", status ? `it answers with status ${status}` : reason(cause)].filter(Boolean).join(": "),
  protocol: () => "the server broke the protocol",
};
