// Small helpers for the document, and text that comes from elsewhere made safe to show.

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

export const byId = (id) => document.getElementById(id);

// Characters that are not seen and change how others are: control characters, and those that turn the direction of writing.
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text of the agent's with these characters written out. */
export const plain = (text) => String(text).replace(HIDDEN, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same as an element that nothing around it is turned by. */
export const isolated = (text) => make("bdi", {}, plain(text));

/** A button; `label` is what is read out where the text is only a sign. */
export const button = (text, onclick, { label, className, ...more } = {}) =>
  make("button", { type: "button", className, ariaLabel: label, title: label, onclick, ...more }, text);

const ICONS = {
  menu: "M3 5h14M3 10h14M3 15h14",
  panel: "M3 4h14v12H3zM12 4v12",
  plus: "M10 4v12M4 10h12",
  close: "M5 5l10 10M15 5L5 15",
  bin: "M4 6h12M8 6V4h4v2M6 6l1 10h6l1-10",
  again: "M16 10a6 6 0 1 1-2-4.5M16 3v3.5h-3.5",
  system: "M3 4h14v9H3zM7 17h6M10 13v4",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5l1.3 1.3M14.2 14.2l1.3 1.3M15.5 4.5l-1.3 1.3M5.8 14.2l-1.3 1.3",
  dark: "M16 12.5A6.5 6.5 0 0 1 7.5 4a6.5 6.5 0 1 0 8.5 8.5z",
};

/** A drawing for a button. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  for (const [attribute, value] of [["viewBox", "0 0 20 20"], ["class", "icon"], ["aria-hidden", "true"]]) svg.setAttribute(attribute, value);
  svg.append(path);
  return svg;
}

/** Replaces what is in an element, unless it is the same already. */
export function fill(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const PASSES = 8000;

/** Says something that is no part of a conversation, such as why a call has failed; it goes away by itself. */
export function tell(text) {
  const note = make("li", {}, isolated(text));
  note.append(button(icon("close"), () => note.remove(), { label: "Dismiss", className: "quiet" }));
  byId("alerts").append(note);
  setTimeout(() => note.remove(), PASSES);
}
