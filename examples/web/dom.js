// Small helpers for the document, and text that comes from elsewhere made safe to show.

import DOMPurify from "./lib/dompurify/purify.es.mjs";
import { marked } from "./lib/marked/marked.esm.js";

/** An element with properties and children; what is null or undefined is left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

// Characters that are not seen and change how others are: control characters, and those that turn the direction of writing.
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text of the agent's with these characters written out. */
export const plain = (text) => String(text).replace(HIDDEN, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same as an element that nothing around it is turned by. */
export const isolated = (text) => make("bdi", {}, plain(text));

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
});

/** Shows Markdown in an element. */
export function showMarkdown(element, text) {
  const html = marked.parse(text, { gfm: true, async: false });
  element.replaceChildren(
    DOMPurify.sanitize(html, { RETURN_DOM_FRAGMENT: true, FORBID_TAGS: ["img", "style", "form", "input", "video", "audio"] }),
  );
}

const waiting = new Map();

/** Shows Markdown at the next frame, however often it changes before. */
export function showMarkdownSoon(element, text) {
  if (waiting.size === 0) {
    requestAnimationFrame(() => {
      const all = [...waiting];
      waiting.clear();
      for (const [place, latest] of all) showMarkdown(place, latest);
    });
  }
  waiting.set(element, text);
}
