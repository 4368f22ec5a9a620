// Tool calls as cards: status, places, text and coloured diffs, and the buttons of a permission request.

import { diffLines } from "./lib/diff/index.js";
import { make, showMarkdown } from "./dom.js";

const CONTEXT = 3;

export class ToolCard {
  #call = {};
  #summary = make("summary");
  #body = make("div", { className: "body" });
  #buttons = make("div", { className: "permission" });

  constructor() {
    this.element = make("details", { className: "tool" }, this.#summary, this.#body, this.#buttons);
  }

  /** Takes over what an update says; what it does not mention stays. */
  update(update) {
    for (const [name, value] of Object.entries(update)) {
      if (value !== null && value !== undefined) this.#call[name] = value;
    }
    this.#draw();
  }

  #draw() {
    const { title = "Tool", kind, status = "pending", locations = [], content = [], rawOutput } = this.#call;
    this.element.dataset.status = status;
    this.#summary.replaceChildren(
      make("span", { className: "kind" }, (kind ?? "tool").replace("_", " ")),
      make("span", { className: "title" }, title),
      make("span", { className: "status" }, status.replace("_", " ")),
    );
    this.#body.replaceChildren(
      ...locations.map(({ path, line }) => make("code", { className: "place" }, line ? `${path}:${line}` : path)),
      ...content.map(drawContent),
    );
    if (content.length === 0 && rawOutput !== undefined) {
      this.#body.append(make("pre", {}, JSON.stringify(rawOutput, null, 2)));
    }
    if (content.some(({ type }) => type === "diff")) this.element.open = true;
  }

  /** Puts the question; `choose` gets the id of an option. */
  ask(options, choose) {
    this.element.open = true;
    this.#buttons.replaceChildren(
      ...options.map(({ optionId, name, kind }, index) =>
        make("button", { type: "button", className: kind, onclick: () => choose(optionId), title: `Key ${index + 1}` }, name),
      ),
    );
    this.#buttons.onkeydown = ({ key }) => {
      const option = options[Number(key) - 1];
      if (option) choose(option.optionId);
    };
    this.#buttons.firstElementChild?.focus();
  }

  /** Takes the question away. */
  settle() {
    this.#buttons.replaceChildren();
  }
}

function drawContent(item) {
  if (item.type === "diff") return drawDiff(item);
  if (item.type === "terminal") return make("p", {}, `Terminal ${item.terminalId}`);
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
      return make("code", { className: "place" }, block.title ?? block.name ?? block.uri);
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
      rows.push(line === null ? make("span", { className: "gap" }, "⋯\n") : make("span", { className: { "+": "added", "-": "removed" }[sign] ?? "same" }, `${sign} ${line}\n`));
    }
  });
  return make("figure", { className: "diff" }, make("figcaption", {}, path), make("pre", {}, ...rows));
}
