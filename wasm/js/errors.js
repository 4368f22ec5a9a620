// What goes wrong between two sides that both behave: an answer that is an error, no answer, a handler's refusal.
import { branded } from "./mistakes.js";
import { excerpt } from "./log.js";

// Characters of a peer's text in a message.
const LONG = 1000;
// Where peers say more than in the message; the official SDKs say what was thrown in the first.
const MORE = ["details", "message"];

/** What an error of the peer's says, for people and for terminals. */
function told({ message, data }) {
  const texts = typeof data === "string" ? [data] : MORE.map((name) => data?.[name]);
  // Cut first: looking for one long text in another can take as long as a peer likes.
  const said = excerpt(message, LONG);
  const more = excerpt(texts.find((text) => typeof text === "string" && text !== "") ?? "", LONG);
  return said.includes(more) ? said : `${said}: ${more}`;
}

/** The peer has answered with an error. */
export class PeerError extends Error {
  constructor(method, error) {
    super(`${method}: ${told(error)} (${error.code})`);
    this.method = method;
    this.code = error.code;
    this.data = error.data;
    // Not a member that is printed: `data` and the message are all of it.
    Object.defineProperty(this, "error", { value: error });
  }
}
PeerError.prototype.name = "PeerError";

const WHY = {
  invalid: "the answer cannot be used",
  timeout: "no answer came in time",
  cancelled: "it was cancelled, and no answer came in time",
  closed: "the connection was over before an answer came",
  unknown: "the connection was lost before an answer came, and whether the agent has done it is unknown",
};

/** What a process has printed beside the protocol, behind what has become of a request. */
const withLines = (why, lines) =>
  lines.length === 0 ? why : `${why}; its last lines of stderr:${lines.map((line) => `\n  ${excerpt(line, LONG)}`).join("")}`;

/** A request has ended without an answer that can be used. */
export class NoResult extends Error {
  constructor(method, outcome, why = WHY[outcome]) {
    super(`${method}: ${why}`);
    this.method = method;
    this.outcome = outcome;
  }

  /** The same of an agent that is a process, with what it has said meanwhile. */
  static ofAgent({ method, outcome }, lines) {
    const why = outcome === "timeout" ? "the agent gave no answer in time" : "it was cancelled, and the agent gave no answer in time";
    return new NoResult(method, outcome, withLines(why, lines));
  }
}
NoResult.prototype.name = "NoResult";

/** The agent's process has ended before it answered. */
export class AgentEnded extends NoResult {
  constructor(method, exitCode, signal, lastLines = []) {
    const how = signal ? `was killed by ${signal}` : exitCode == null ? "closed its output" : `ended with the status ${exitCode}`;
    super(method, "closed", withLines(`the agent ${how} before it answered`, lastLines));
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = [...lastLines];
  }
}
AgentEnded.prototype.name = "AgentEnded";

/** What a handler throws to answer with an error of its own choice. */
export class RequestError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
RequestError.prototype.name = "RequestError";
branded(RequestError, "RequestError");
