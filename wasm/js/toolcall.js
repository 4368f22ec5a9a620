// A tool call that reports how far it is, and the question whether it may run.
import { detached } from "./display.js";
import { content, disposable, given, metaOf, mustKnow, randomId } from "./host.js";
import { Misuse } from "./mistakes.js";
import { quietAfter } from "./wire.js";

const MEMBERS = ["title", "kind", "status", "name", "content", "locations", "rawInput", "rawOutput"];
const GIVEN = ["id", "kind", "status", "name", "content", "locations", "rawInput", "meta"];
const OVER = ["completed", "failed", "cancelled"];
const ONCE = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/** What the user said to a request for permission. */
export class Permission {
  constructor(options, { outcome, _meta }) {
    this.meta = _meta;
    this.optionId = outcome.optionId;
    this.kind = options.find(({ optionId }) => optionId === this.optionId)?.kind;
    this.allowed = this.kind?.startsWith("allow") ?? false;
  }
}

export class ToolCall {
  #turn;
  #members;
  #content;
  #refused = false;

  constructor(turn, title, { id, status = "in_progress", kind = "other", name, content, locations, rawInput, meta, ...rest }) {
    mustKnow(rest, GIVEN, "option of a tool call");
    this.id = id ?? `call-${randomId()}`;
    this.title = title;
    this.status = status;
    this.#turn = turn;
    const places = locations?.map((each) => (typeof each === "string" ? { path: each } : each));
    this.#members = { ...given({ kind, name, content, locations: places, rawInput }), ...metaOf(meta) };
    this.#content = [...(content ?? [])];
  }

  async update(changes) {
    mustKnow(changes, MEMBERS, "member of a tool call");
    await this.#report("tool_call_update", changes);
    this.title = changes.title ?? this.title;
    this.status = changes.status ?? this.status;
    if (changes.content) this.#content = [...changes.content];
  }

  async append(what, { meta } = {}) {
    const item = typeof what === "string" ? { type: "content", content: content(what) } : what;
    await this.#report("tool_call_content_chunk", { content: item, ...metaOf(meta) });
    this.#content.push(item);
  }

  text(text) {
    return this.#show({ type: "content", content: content(text) });
  }

  diff(path, newText, oldText) {
    return this.#show({ type: "diff", path, newText, ...given({ oldText }) });
  }

  show(terminal) {
    return this.#show({ type: "terminal", terminalId: terminal.id });
  }

  complete({ rawOutput } = {}) {
    return this.update({ status: "completed", ...given({ rawOutput }) });
  }

  fail(text) {
    const said = text === undefined ? {} : { content: [...this.#content, { type: "content", content: content(text) }] };
    return this.update({ status: "failed", ...said });
  }

  /** It has ended because somebody has cancelled it. */
  cancelled() {
    return this.update({ status: "cancelled" });
  }

  async askPermission(options, how) {
    const permission = await askPermission(this.#turn, { toolCallId: this.id, title: this.title }, options, how);
    this.#refused = !permission.allowed;
    if (permission.allowed && this.status === "pending") await this.update({ status: "in_progress" });
    return permission;
  }

  /** Ends the report: a call that nobody has completed has failed. */
  close() {
    return this._end("failed");
  }

  get _signal() {
    return this.#turn.signal;
  }

  get _item() {
    return { type: "tool_call", toolCallId: this.id };
  }

  _detach() {
    this.#turn = detached(this.#turn);
  }

  _begin() {
    return this.#report("tool_call", { title: this.title, status: this.status, ...this.#members });
  }

  async _end(status) {
    if (OVER.includes(this.status)) return;
    const { client, session } = this.#turn;
    this.status = this.#refused ? "failed" : status;
    if (client.connection.phase === "closed") return;
    try {
      // At once, so that the end of a turn does not leave the call without one.
      client._wire.notifyNow("session/update", this.#update("tool_call_update", { status: this.status }));
    } catch (error) {
      // What it is left by says more than that its end cannot be reported.
      if (!(error instanceof Misuse)) throw error;
    }
    await client._wire.drain();
  }

  #show(item) {
    return this.update({ content: [...this.#content, item] });
  }

  async #report(kind, members) {
    const { client, session, signal } = this.#turn;
    await client._wire.notify("session/update", this.#update(kind, members), { signal });
  }

  #update(kind, members) {
    return { sessionId: this.#turn.session.id, update: { sessionUpdate: kind, toolCallId: this.id, ...members } };
  }
}
disposable(ToolCall, "close");

export async function askPermission(turn, toolCall, options = ONCE, { meta } = {}) {
  const { client, session, signal } = turn;
  const params = { sessionId: session.id, toolCall, options, ...metaOf(meta) };
  return new Permission(options, await client._wire.request("session/request_permission", params, { signal }));
}

/**
 * Has these methods reject once the turn is cancelled, also where that happens in their last moment, and then without
 * anybody listening: a callback that says something and waits for nothing must not end the whole program.
 */
export function quiet(type, methods, signalOf) {
  for (const name of methods) {
    const method = type.prototype[name];
    const value = {
      [name](...args) {
        return quietAfter(method.apply(this, args), signalOf(this));
      },
    }[name];
    Object.defineProperty(type.prototype, name, { value, configurable: true, writable: true });
  }
}

quiet(ToolCall, ["update", "append", "text", "diff", "show", "complete", "fail", "cancelled", "askPermission"], (call) => call._signal);
