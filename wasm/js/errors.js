// What goes wrong between two sides that both behave: an answer that is an error, no answer, a handler's refusal.
import { branded } from "./events.js";
import { printable } from "./log.js";

/** The peer has answered with an error. */
export class PeerError extends Error {
  constructor(method, { code, message, data }) {
    super(message);
    this.method = method;
    this.code = code;
    this.data = data;
  }
}
PeerError.prototype.name = "PeerError";

const WHY = {
  invalid: "the answer cannot be used",
  timeout: "there was no answer in time",
  cancelled: "it was cancelled, and there was no answer in time",
  closed: "the connection ended before the answer",
};

/** A request has ended without an answer that can be used. */
export class NoResult extends Error {
  constructor(method, outcome, why = WHY[outcome]) {
    super(`${method}: ${why}`);
    this.method = method;
    this.outcome = outcome;
  }
}
NoResult.prototype.name = "NoResult";

/** The agent's process has ended before it answered. */
export class AgentEnded extends NoResult {
  constructor(method, exitCode, signal, lastWords = []) {
    const said = lastWords.length > 0 ? `; its last words:\n${lastWords.map(printable).join("\n")}` : "";
    super(method, "closed", `the agent has ended with ${signal ?? exitCode ?? "its output closed"}${said}`);
    this.exitCode = exitCode;
    this.signal = signal;
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
