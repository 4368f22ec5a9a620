// Tool calls as cards: status, places, text and coloured diffs, and the permission requests about them, one at a time.

import { diffLines } from "./lib/diff/index.js";
import { isolated, make, showMarkdown } from "./dom.js";
import { Question } from "./permission.js";

const CONTEXT = 3;

export class ToolCard {
  #call = {};
  #summary = make("summary");
  #body = make("div", { className: "body" });
  #buttons = make("div", { className: "permission" });
  /** Requests that are not answered, oldest first; the first is shown. */
  #requests = [];
  #question;

  constructor() {
    this.element = make("details", { className: "tool" }, this.#summary, this.#body, this.#buttons);
  }

  /** Takes over what an update says; what it does not mention stays. */
  update(update) {
    for (const [name, value] of Object.entries(update)) {
      if (value !== null && value !== undefined) this.#call[name] = value;
    }
    this.#draw();
    this.#question?.again();
  }

  #draw() {
    const { title = "Tool", kind, status = "pending", locations = [], content = [], rawOutput } = this.#call;
    this.element.dataset.status = status;
    this.#summary.replaceChildren(
      make("span", { className: "kind" }, isolated((kind ?? "tool").replace("_", " "))),
      make("span", { className: "title" }, isolated(title)),
      make("span", { className: "status" }, isolated(status.replace("_", " "))),
    );
    this.#body.replaceChildren(
      ...locations.map(({ path, line }) => make("code", { className: "place" }, isolated(line ? `${path}:${line}` : path))),
      ...content.map(drawContent),
    );
    if (content.length === 0 && rawOutput !== undefined) {
      this.#body.append(make("pre", {}, JSON.stringify(rawOutput, null, 2)));
    }
    if (content.some(({ type }) => type === "diff")) this.element.open = true;
  }

  /** Asks for a choice: the id of an option; undefined when the signal stops, or nobody can be asked any more. */
  ask(toolCall, options, signal) {
    return new Promise((resolve) => {
      const request = { toolCall, options, resolve };
      this.#requests.push(request);
      signal.addEventListener("abort", () => this.#answer(request), { once: true });
      if (signal.aborted) this.#answer(request);
      else if (this.#requests.length === 1) this.#next();
    });
  }

  /** Nobody sees this card any more. */
  close() {
    for (const request of [...this.#requests].reverse()) this.#answer(request);
  }

  #answer(request, optionId) {
    const index = this.#requests.indexOf(request);
    if (index < 0) return;
    this.#requests.splice(index, 1);
    request.resolve(optionId);
    if (index === 0) this.#next();
  }

  /** What a request says of its tool call is drawn with its buttons, so that nobody answers one by what another says. */
  #next() {
    this.#question?.end();
    this.#question = undefined;
    const [request] = this.#requests;
    if (!request) return;
    this.update(request.toolCall);
    this.element.open = true;
    this.#question = new Question(this.#buttons, request.options, (optionId) => this.#answer(request, optionId));
  }
}

function drawContent(item) {
  if (item.type === "diff") return drawDiff(item);
  if (item.type === "terminal") return make("p", {}, "Terminal ", isolated(item.terminalId));
  return drawBlock(item.content);
}

/** One content block. */
export function drawBlock(block) {
  switch (block?.type) {
    case "text": {
      const place = make("div", { className: "markdown" });
      showMarkdown(place, block.text);
      return place;
    }
    case "image":
      return make("img", { src: `data:${block.mimeType};base64,${block.data}`, alt: "Image from the agent" });
    case "resource_link":
      return make("code", { className: "place" }, isolated(block.title ?? block.name ?? block.uri));
    case "resource":
      return make("pre", {}, block.resource.text ?? block.resource.uri);
    default:
      return make("p", { className: "dim" }, `(${block?.type ?? "something"} cannot be shown here)`);
  }
}

function drawDiff({ path, oldText, newText }) {
  const rows = [];
  const parts = diffLines(oldText ?? "", newText);
  parts.forEach((part, index) => {
    const sign = part.added ? "+" : part.removed ? "-" : " ";
    let lines = part.value.replace(/\n$/, "").split("\n");
    if (sign === " " && lines.length > 2 * CONTEXT + 1) {
      const head = index === 0 ? [] : lines.slice(0, CONTEXT);
      const tail = index === parts.length - 1 ? [] : lines.slice(-CONTEXT);
      lines = [...head, null, ...tail];
    }
    for (const line of lines) {
      rows.push(line === null ? make("span", { className: "gap" }, "⋯\n") : make("span", { className: { "+": "added", "-": "removed" }[sign] ?? "same" }, `${sign} `, isolated(line), "\n"));
    }
  });
  return make("figure", { className: "diff" }, make("figcaption", {}, isolated(path)), make("pre", {}, ...rows));
}
