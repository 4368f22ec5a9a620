// What marked has read, as elements: only those that are made here, with no attributes but those that are set here. So no
// text of an agent's is ever read as HTML, and nothing has to be cleaned afterwards.

import { make, plain } from "./dom.js";

/** Elements within elements. What lies deeper is shown as it was written: browsers fail on trees without end. */
const DEEPEST = 40;
/** Where links may lead; anything else is a text. */
const SCHEMES = /^(?:https?|mailto):/i;
const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–", copy: "©", times: "×", rarr: "→", larr: "←", bull: "•", middot: "·" };
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,31}));/gi;

const written = (text) =>
  text.replace(ENTITY, (all, decimal, hex, name) => {
    if (name) return NAMED[name] ?? all;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });

/** The elements of tokens. */
export const drawn = (tokens, depth = 0) => {
  const fragment = document.createDocumentFragment();
  for (const token of tokens ?? []) fragment.append(depth < DEEPEST ? element(token, depth + 1) : token.raw);
  return fragment;
};

function element(token, depth) {
  return DRAW[token.type]?.(token, (tokens) => drawn(tokens, depth)) ?? token.raw;
}

const around = (tag) => ({ tokens }, inner) => make(tag, {}, inner(tokens));

/** A link that says where it leads. An address was chosen by somebody else: nothing is loaded from it. */
function link({ href, tokens }, inner) {
  if (!SCHEMES.test(href)) return make("span", { title: plain(href) }, inner(tokens));
  return make("a", { href, title: plain(href), target: "_blank", rel: "noreferrer noopener" }, inner(tokens));
}

function list({ ordered, start, items }, inner) {
  const item = ({ tokens }) => make("li", {}, inner(tokens));
  return make(ordered ? "ol" : "ul", { start: ordered && start !== 1 ? start : undefined }, ...items.map(item));
}

function table({ header, rows }, inner) {
  const row = (cells) => make("tr", {}, ...cells.map((cell) => make(cell.header ? "th" : "td", { className: cell.align }, inner(cell.tokens))));
  return make("table", { tabIndex: 0 }, make("thead", {}, row(header)), make("tbody", {}, ...rows.map(row)));
}

const DRAW = {
  space: () => "",
  def: () => "",
  hr: () => make("hr"),
  br: () => make("br"),
  paragraph: around("p"),
  blockquote: around("blockquote"),
  strong: around("strong"),
  em: around("em"),
  del: around("del"),
  heading: ({ depth, tokens }, inner) => make(`h${depth}`, {}, inner(tokens)),
  // What scrolls can be scrolled with keys.
  code: ({ text }) => make("pre", { tabIndex: 0 }, make("code", {}, text)),
  codespan: ({ text }) => make("code", {}, text),
  escape: ({ text }) => text,
  text: ({ text, tokens }, inner) => (tokens ? inner(tokens) : written(text)),
  checkbox: ({ checked }) => make("input", { type: "checkbox", disabled: true, checked, ariaLabel: checked ? "done" : "to do" }),
  html: ({ block, raw }) => (block ? make("p", {}, raw) : raw),
  image: ({ href, text }, inner) => link({ href, tokens: [{ type: "escape", text: text || href }] }, inner),
  link,
  list,
  table,
};
