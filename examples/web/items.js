// What messages and tool calls are made of: text, pictures, links, diffs, terminals. Each has a drawing that is kept while its
// item is the same, and text one that grows with it.

import { drawChanges, drawDiff } from "./diff.js";
import { button, fill, isolated, make, plain } from "./dom.js";
import { Markdown } from "./markdown.js";

const PICTURES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
/** Characters of the end of a terminal's output, and of data that is shown as it came. */
const SHOWN = 20_000;

const code = (text) => make("pre", { tabIndex: 0 }, plain(text.length > SHOWN ? `${text.slice(0, SHOWN)}\n⋯` : text));
/** Data that a client cannot show any better. */
export const drawData = (value) => code(JSON.stringify(value, null, 2) ?? "");

const place = (text) => make("code", { className: "place" }, isolated(text));

function drawPicture({ mimeType, data }, whose) {
  if (!PICTURES.test(mimeType)) return make("p", { className: "dim" }, `(a picture of the type ${plain(mimeType)})`);
  return make("img", { className: "picture", src: `data:${mimeType};base64,${data}`, alt: `Picture from ${whose}`, loading: "lazy" });
}

const DRAW = {
  // An agent names the type.
  __proto__: null,
  image: drawPicture,
  resource_link: ({ title, name, uri }) => place(title ?? name ?? uri),
  resource: ({ resource }) => (resource.text === undefined ? place(resource.uri) : code(resource.text)),
  diff: (item) => (item.changes ? drawChanges(item) : drawDiff(item)),
  // Of the page's own: what it asks before it runs one, all of it.
  command: ({ line, folder }) => make("figure", { className: "terminal" }, make("figcaption", {}, isolated(`in ${folder}`)), make("pre", { tabIndex: 0 }, plain(line))),
  session: ({ sessionId }) => make("p", { className: "dim" }, "Session ", isolated(sessionId)),
};

/** A button that asks the agent to stop something, where the agent offers that (version 2). It is there once. */
export class Stop {
  #asks;
  element = button("Stop", async () => {
    this.element.disabled = true;
    await this.#asks();
    this.element.disabled = false;
  });

  constructor(label) {
    this.element.className = "stop";
    this.element.ariaLabel = label;
    this.element.hidden = true;
  }

  /** `asks()` is called for a click, and says when that has been heard. */
  show(capabilities, asks) {
    this.#asks = asks;
    this.element.hidden = !capabilities?.cancel;
  }
}

/** A terminal, whose output grows elsewhere. */
class Terminal {
  element = make("figure", { className: "terminal" });
  #caption = make("figcaption");
  #output = make("pre", { tabIndex: 0, ariaLabel: "Output" });
  #stop = new Stop("Stop this command");
  #shown;

  constructor() {
    this.element.append(this.#caption, this.#output, this.#stop.element);
  }

  advance({ terminalId }, deadline, { terminal, stop }) {
    const found = terminal(terminalId);
    if (found === this.#shown && found) return true;
    this.#shown = found;
    const { command, exitStatus, output = "", before = 0 } = found ?? {};
    const ended = exitStatus ? (exitStatus.signal ? `ended by ${exitStatus.signal}` : `exit ${exitStatus.exitCode ?? "?"}`) : "running";
    this.#caption.replaceChildren(isolated(command ?? `Terminal ${terminalId}`), make("span", { className: "status" }, plain(found ? ended : "")));
    this.#stop.show(exitStatus ? undefined : found?.capabilities, () => stop("terminal/cancel", { terminalId }));
    this.element.dataset.ended = exitStatus ? String(exitStatus.exitCode === 0) : "";
    const isCut = before > 0 || output.length > SHOWN;
    fill(this.#output, plain((isCut ? "⋯" : "") + output.slice(-SHOWN)));
    this.#output.scrollTop = this.#output.scrollHeight;
    return true;
  }
}

class Text {
  #markdown = new Markdown();
  #text = "";

  get element() {
    return this.#markdown.element;
  }

  /** Whether it can go on with this one. */
  takes({ text }, rewritten) {
    return !rewritten && text.length >= this.#text.length;
  }

  advance({ text }, deadline) {
    this.#text = text;
    return this.#markdown.advance(text, deadline);
  }
}

class Fixed {
  constructor(item, whose) {
    const draw = DRAW[item.type] ?? (({ type }) => make("p", { className: "dim" }, `(${plain(type ?? "something")} cannot be shown here)`));
    this.element = draw(item, whose);
  }

  advance() {
    return true;
  }
}

/** A list of items in an element. */
export class Items {
  element = make("div", { className: "items" });
  #drawings = [];
  #rewritten = 0;

  constructor(whose = "the agent") {
    this.whose = whose;
  }

  /** Draws items until a time; whether that was all. */
  advance(items, { rewritten = 0 }, deadline, context) {
    const isNew = rewritten !== this.#rewritten;
    this.#rewritten = rewritten;
    for (const { drawing } of this.#drawings.splice(items.length)) drawing.element.remove();
    for (const [index, given] of items.entries()) {
      const item = given.type === "content" ? given.content : given;
      let known = this.#drawings[index];
      if (known && known.item !== item && !(known.drawing.takes?.(item, isNew) && known.item.type === item.type)) known = undefined;
      if (!known) known = this.#draw(index, item);
      known.item = item;
      if (!known.drawing.advance(item, deadline, context)) return false;
    }
    return true;
  }

  #draw(index, item) {
    const drawing = item.type === "text" ? new Text() : item.type === "terminal" ? new Terminal() : new Fixed(item, this.whose);
    const before = this.#drawings[index]?.drawing.element;
    if (before) before.replaceWith(drawing.element);
    else this.element.append(drawing.element);
    return (this.#drawings[index] = { drawing, item });
  }

  /** Whether a terminal is among them. */
  shows(terminalId) {
    return this.#drawings.some(({ item }) => item.type === "terminal" && item.terminalId === terminalId);
  }
}
