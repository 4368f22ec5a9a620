// What an agent shows beside messages and tool calls: plans with ids, and terminals of its own.
import { given, metaOf, randomId } from "./host.js";

// So many bytes at a time become text for Base64: what is spread as arguments has a limit.
const PIECE = 0x8000;
const encoder = new TextEncoder();
/** Of what goes on whatever becomes of the turn that has begun it. */
const never = new AbortController().signal;

/** Entries of a plan; a text stands for one that is pending. */
export function steps(entries) {
  if (!Array.isArray(entries)) throw new TypeError(`plan: expected a list of entries, found ${typeof entries}`);
  return entries.map((entry) => (typeof entry === "string" ? { content: entry, priority: "medium", status: "pending" } : entry));
}

/** A turn, as far as what is in the background needs it: a cancel of the turn leaves that alone. */
export const detached = ({ client, session }) => ({ client, session, signal: never });

/** A plan of a session, which may have several in version 2. */
export class Plan {
  #session;

  constructor(session, id) {
    if (typeof id !== "string") throw new TypeError(`plan: expected an id, found ${typeof id}`);
    this.id = id;
    this.#session = session;
  }

  async set(entries, { meta } = {}) {
    const plan = { type: "items", planId: this.id, entries: steps(entries) };
    await this.#session.update({ sessionUpdate: "plan_update", plan, ...metaOf(meta) });
  }

  async remove({ meta } = {}) {
    await this.#session.update({ sessionUpdate: "plan_removed", planId: this.id, ...metaOf(meta) });
  }
}

/** A terminal that the agent runs, and the client shows. */
export class DisplayTerminal {
  #turn;

  constructor(turn, id = `terminal-${randomId()}`) {
    this.id = id;
    this.#turn = turn;
  }

  async write(data) {
    if (typeof data !== "string" && !(data instanceof Uint8Array)) {
      throw new TypeError(`write: expected a string or a Uint8Array, found ${typeof data}`);
    }
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    if (bytes.length > 0) await this.#tell({ sessionUpdate: "terminal_output_chunk", data: base64(bytes) });
  }

  async exit({ exitCode, signal } = {}) {
    await this.#tell({ sessionUpdate: "terminal_update", exitStatus: given({ exitCode, signal }) });
  }

  get _signal() {
    return this.#turn.signal;
  }

  get _item() {
    return { type: "terminal", terminalId: this.id };
  }

  _detach() {
    this.#turn = detached(this.#turn);
  }

  _begin(command, cwd, meta) {
    return this.#tell({ sessionUpdate: "terminal_update", command, ...given({ cwd }), ...metaOf(meta) });
  }

  #tell(update) {
    const { client, session, signal } = this.#turn;
    const params = { sessionId: session.id, update: { ...update, terminalId: this.id } };
    return client._notify("session/update", params, { signal });
  }
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}
