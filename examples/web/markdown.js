// Markdown that grows: blocks that have ended are drawn once, and only the last one again with each piece that comes.
// A block that gets long is cut, and its rest drawn as one of its kind. So a frame costs what is new, however long the text is.

import DOMPurify from "dompurify";
import { Lexer, marked } from "marked";
import { make } from "./dom.js";

/** What is read at a time. */
const PIECE = 4096;
/** A block that is longer is cut. */
const LONG = 2048;
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*\n/;

// Markdown allows HTML; here it is text like any other.
const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
marked.use({ renderer: { html: ({ text }) => escape(text) } });

// Pictures and links from an agent are addresses that somebody else chose: links say where they lead, pictures are not loaded.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("rel", "noreferrer noopener");
    node.setAttribute("target", "_blank");
    node.setAttribute("title", node.getAttribute("href") ?? "");
  }
  // What scrolls can be scrolled with keys.
  if (node.tagName === "PRE" || node.tagName === "TABLE") node.setAttribute("tabindex", "0");
});

const RULES = { RETURN_DOM_FRAGMENT: true, FORBID_TAGS: ["img", "style", "form", "input", "video", "audio"], FORBID_ATTR: ["style"] };

/** The blocks of a text. Where links lead that it names may have been said before. */
function blocksOf(text, links) {
  const lexer = new Lexer();
  lexer.tokens.links = links;
  return lexer.lex(text);
}

const drawn = (tokens) => DOMPurify.sanitize(marked.parser(tokens), RULES);

/** Where to cut a block, and what to put before the rest so that it is read as what it was. */
function cut(token, source) {
  const line = source.lastIndexOf("\n", source.length - 2) + 1;
  const fence = token.type === "code" && FENCE.exec(source)?.[0];
  if (fence) return { at: line > fence.length ? line : source.length, prefix: fence };
  if (token.type === "table") {
    const head = source.split("\n", 2).join("\n").length + 1;
    return { at: line > head ? line : source.length, prefix: source.slice(0, head) };
  }
  if (token.type === "list" && token.items.length > 1) {
    const at = token.items.slice(0, -1).reduce((sum, { raw }) => sum + raw.length, 0);
    if (source.startsWith(token.items.at(-1).raw, at)) return { at, prefix: "" };
  }
  return { at: line || source.lastIndexOf(" ") + 1 || source.length, prefix: "" };
}

export class Markdown {
  element = make("div", { className: "markdown" });
  #tail = make("div", { className: "block" });
  #links = {};
  /** How much of the text is in blocks that have ended. */
  #done = 0;
  /** What the rest is read with before it. */
  #prefix = "";
  #drawn;

  constructor() {
    this.element.append(this.#tail);
  }

  /** Draws more of a text, which begins like the one before, until a time; whether that was all. */
  advance(text, deadline = Infinity) {
    for (;;) {
      const rest = text.slice(this.#done, this.#done + PIECE).replaceAll("\r", " ");
      const isLast = this.#done + PIECE >= text.length;
      const source = this.#prefix + rest;
      if (isLast && source === this.#drawn) return true;
      const tokens = blocksOf(source, this.#links);
      const length = this.#ended(tokens, source, isLast);
      if (length === undefined) {
        this.#tail.replaceChildren(drawn(tokens));
        this.#drawn = source;
        return true;
      }
      this.#done += length;
      this.#drawn = undefined;
      if (performance.now() > deadline) return false;
    }
  }

  /** Takes over what has ended; how many characters that were, or nothing if the text has none such. */
  #ended(tokens, source, isLast) {
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    const ended = tokens.slice(0, Math.max(last, 0));
    const length = ended.reduce((sum, { raw }) => sum + raw.length, 0);
    if (length > 0 && source.startsWith(tokens[last].raw, length)) {
      this.#take(ended, "");
      return length - this.#forget();
    }
    if (isLast && source.length <= LONG + this.#prefix.length) return undefined;
    const { at, prefix } = cut(tokens[Math.max(last, 0)] ?? {}, source);
    const head = source.slice(0, at);
    this.#take(blocksOf(head, this.#links), prefix);
    const taken = at - this.#forget();
    this.#prefix = prefix;
    this.#tail.classList.add("goes-on");
    return taken;
  }

  /** The length of what stood before the text that was taken. */
  #forget() {
    const { length } = this.#prefix;
    this.#prefix = "";
    return length;
  }

  #take(tokens, prefix) {
    const block = this.#tail.cloneNode();
    block.append(drawn(tokens));
    if (prefix !== "") block.classList.add("is-cut");
    this.#tail.before(block);
    this.#tail.className = "block";
    this.#tail.replaceChildren();
  }
}
