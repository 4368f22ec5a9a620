// One element for each entry of a view. `advance` draws what is new of an entry until a time, and says whether that was all.

import { isolated, make, plain } from "./dom.js";
import { drawData, Items, Stop } from "./items.js";

const WORDS = { in_progress: "running", pending: "waiting" };
const words = (status) => plain(WORDS[status] ?? status.replaceAll("_", " "));
const LABELS = { user: "You", agent: "Agent", session: "Another session" };

const ENDED = new Set(["completed", "failed", "cancelled"]);

class Message {
  #items;

  constructor({ role }) {
    this.#items = new Items(role === "user" ? "you" : "the agent");
    const inner = this.#items.element;
    this.element =
      role === "thought"
        ? make("details", { className: "thought" }, make("summary", {}, "Thoughts"), inner)
        : make("article", { className: role, ariaLabel: LABELS[role] ?? "Message" }, inner);
  }

  advance(entry, deadline, context) {
    this.element.classList.toggle("pending", entry.pending);
    return this.#items.advance(entry.blocks, entry, deadline, context);
  }
}

class ToolCall {
  #summary = make("summary");
  #places = make("div", { className: "places" });
  #items = new Items();
  #data = make("div");
  #stop = new Stop("Stop this call");
  #shown = {};
  /** Where a request for permission about it is put. */
  slot = make("div", { className: "slot" });

  constructor() {
    this.element = make("details", { className: "tool" }, this.#summary, make("div", { className: "body" }, this.#places, this.#items.element, this.#data));
    this.card = make("div", { className: "card", role: "group", ariaLabel: "Tool call" }, this.element, this.#stop.element, this.slot);
  }

  advance(entry, deadline, context) {
    const { title, kind, status, locations, content, rawOutput } = entry;
    const before = this.#shown;
    this.#shown = entry;
    this.#stop.show(ENDED.has(status) ? undefined : entry.capabilities, () => context.stop("tool_call/cancel", { toolCallId: entry.id }));
    if (title !== before.title || status !== before.status || kind !== before.kind) {
      this.element.dataset.status = status;
      this.#summary.replaceChildren(
        make("span", { className: "kind" }, isolated(kind.replaceAll("_", " "))),
        make("span", { className: "title" }, isolated(title ?? "Tool")),
        make("span", { className: "status" }, words(status)),
      );
    }
    if (locations !== before.locations) {
      this.#places.replaceChildren(...locations.map(({ path, line }) => make("code", { className: "place" }, isolated(line ? `${path}:${line}` : path))));
    }
    const isData = content.length === 0 && rawOutput !== null && rawOutput !== undefined;
    if (!isData) this.#data.replaceChildren();
    else if (rawOutput !== before.rawOutput) this.#data.replaceChildren(drawData(rawOutput));
    const opens = ({ type }) => type === "diff" || type === "terminal";
    if (content.some(opens) && !before.content?.some(opens)) this.element.open = true;
    return this.#items.advance(content, entry, deadline, context);
  }

  shows(terminalId) {
    return this.#items.shows(terminalId);
  }
}

class Compaction {
  #items = new Items();
  #summary = make("summary");

  constructor() {
    this.element = make("details", { className: "thought" }, this.#summary, this.#items.element);
  }

  advance(entry, deadline, context) {
    const what = { in_progress: "The context is being condensed", completed: "The context was condensed" };
    this.#summary.textContent = what[entry.status] ?? `Condensing the context: ${words(entry.status)}`;
    return this.#items.advance(entry.summary, entry, deadline, context);
  }
}

/** What is drawn in one piece. */
class Line {
  constructor(draw, className = "note") {
    this.draw = draw;
    this.element = make("div", { className });
  }

  advance(entry) {
    this.element.replaceChildren(...this.draw(entry));
    return true;
  }
}

const notice = ({ severity, title, description }) => [
  make("b", {}, isolated(title ?? severity)),
  ...(description ? [" ", isolated(description)] : []),
];
const subagent = ({ title, description, id, state }) => [
  make("b", {}, isolated(title ?? id)),
  ...(description ? [" ", isolated(description)] : []),
  make("span", { className: "status" }, ` ${words(state?.state ?? "")}`),
];
const unknown = ({ sessionUpdate, update }) => [make("details", {}, make("summary", {}, "An update of the kind ", isolated(sessionUpdate)), drawData(update))];

const KINDS = {
  message: (entry) => new Message(entry),
  tool_call: () => new ToolCall(),
  compaction: () => new Compaction(),
  notice: ({ severity }) => new Line(notice, `notice ${severity === "error" || severity === "warning" ? severity : "info"}`),
  subagent: () => new Line(subagent, "notice info"),
  update: () => new Line(unknown),
};

/** The drawing of an entry; plans have their place elsewhere. */
export function drawingOf(entry) {
  const drawing = KINDS[entry.type]?.(entry);
  if (!drawing) return undefined;
  const outer = (drawing.card ??= drawing.element);
  const advance = drawing.advance.bind(drawing);
  drawing.advance = (now, deadline, context) => {
    outer.classList.toggle("discarded", now.discarded);
    outer.classList.toggle("trimmed", now.trimmed || now.truncated);
    return advance(now, deadline, context);
  };
  return drawing;
}
