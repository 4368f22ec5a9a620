// Markdown that grows: blocks that have ended are drawn once, and only the last one again with each piece that comes.
// A block that gets long is cut, and its rest drawn as one of its kind. So a frame costs what is new, however long the text is.

import { Lexer } from "marked";
import { make } from "./dom.js";
import { drawn } from "./markup.js";

/** What is read at a time. */
const PIECE = 4096;
/** A block that is longer is cut. */
const LONG = 2048;
/** What a cut leaves of it at least, and what has to follow, so that it is known how the rest begins. */
const LEAST = 512;
const AHEAD = 16;
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*\n/;
/** Ends of sentences, and of words. */
const SENTENCE = /[.!?…。！？]['")\]]*\s+/g;
const WORD = /\s+/g;
/** What could begin or end emphasis, code or a link: the other half may be yet to come. */
const HALF = /[*_~`[<]/;
/** What would be read as another block at the beginning of a line. */
const BLOCK = /^(?:[-+*#>=~`|<:]|\d{1,9}[.)]|\s)/;

/** Quotes and lists in each other that are read as such. */
const DEEPEST = 20;

/** Marked reads what is in a quote or a list by calling itself. An agent chooses how often, so that has an end: the rest is text. */
class Reader extends Lexer {
  #depth = 0;

  blockTokens(text, tokens, ...more) {
    if (this.#depth > DEEPEST) {
      tokens.push({ type: "escape", raw: text, text });
      return tokens;
    }
    this.#depth += 1;
    super.blockTokens(text, tokens, ...more);
    this.#depth -= 1;
    return tokens;
  }
}

/** The blocks of a text. Where links lead that it names may have been said before. */
function blocksOf(text, links) {
  const lexer = new Reader();
  lexer.tokens.links = links;
  return lexer.lex(text);
}

/** The last place after a match of `pattern` from which a paragraph can go on as one. */
function placeIn(source, from, to, pattern) {
  let found;
  for (const { 0: text, index } of source.slice(from, to).matchAll(pattern)) {
    const at = from + index + text.length;
    if (at > LEAST && at + AHEAD <= source.length && !BLOCK.test(source.slice(at, at + AHEAD))) found = at;
  }
  return found;
}

/** Where a paragraph is cut: after a sentence or else a word, and not within what is emphasised, linked or code. */
function between({ tokens = [] }, source) {
  const found = {};
  let at = 0;
  for (const { type, raw } of tokens) {
    // Half of an emphasis that has not come to its other half by now is no more than a character.
    const skipped = Math.max(LEAST - at, 0);
    const half = type === "text" ? raw.slice(skipped).search(HALF) : -1;
    const end = type === "text" ? at + (half < 0 ? raw.length : skipped + half) : at;
    found.sentence = placeIn(source, at, end, SENTENCE) ?? found.sentence;
    found.word = placeIn(source, at, end, WORD) ?? found.word;
    if (half >= 0) break;
    at += raw.length;
  }
  return found.sentence ?? found.word ?? placeIn(source, 0, source.length, WORD) ?? source.length - Number(/[\ud800-\udbff]$/.test(source));
}

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
    if (source.startsWith(token.items.at(-1).raw, at)) return { at, prefix: "", isWhole: true };
  }
  if (token.type === "paragraph") return { at: between(token, source), prefix: "" };
  if (token.type === "heading") return { at: between({}, source), prefix: `${"#".repeat(token.depth)} ` };
  const at = line || between({}, source);
  const prefix = line > 0 ? "" : ({ blockquote: "> ", code: "    " }[token.type] ?? "");
  return { at, prefix };
}
export class Markdown {
  element = make("div", { className: "markdown" });
  #tail = make("div", { className: "block" });
  #links = Object.create(null);
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
      this.#take(ended, false);
      return length - this.#forget();
    }
    if (isLast && source.length <= LONG + this.#prefix.length) return undefined;
    const { at, prefix, isWhole = false } = cut(tokens[Math.max(last, 0)] ?? {}, source);
    const head = source.slice(0, at);
    this.#take(blocksOf(head, this.#links), !isWhole);
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

  #take(tokens, isCut) {
    const block = this.#tail.cloneNode();
    block.append(drawn(tokens));
    if (isCut) block.classList.add("is-cut");
    this.#tail.before(block);
    this.#tail.className = "block";
    this.#tail.replaceChildren();
  }
}
