// Drawers, tabs and keys: what the page has around a conversation.

import { byId, icon } from "./dom.js";

const NARROW = matchMedia("(max-width: 60rem)");

/** A part of the page that a button shows and hides. On narrow screens there is one at a time, above the rest. */
class Drawer {
  static #all = [];

  constructor(control, name, changed) {
    this.control = byId(control);
    this.name = name;
    this.changed = changed;
    Drawer.#all.push(this);
    this.control.onclick = () => this.set(!this.isOpen);
    this.set(!NARROW.matches);
    NARROW.addEventListener("change", () => this.set(!NARROW.matches));
  }

  get isOpen() {
    return this.control.ariaExpanded === "true";
  }

  set(isOpen) {
    if (isOpen && NARROW.matches) for (const other of Drawer.#all) if (other !== this) other.set(false);
    this.control.ariaExpanded = String(isOpen);
    document.body.classList.toggle(`no-${this.name}`, !isOpen);
    this.changed?.();
  }

  /** Away with it where it covers the conversation. */
  static leave() {
    if (NARROW.matches) for (const drawer of Drawer.#all) drawer.set(false);
  }
}

export const leaveDrawers = () => Drawer.leave();

// theme.js has set it before the first line was drawn.
const THEMES = ["system", "light", "dark"];

function showTheme(change) {
  const root = document.documentElement;
  const now = root.dataset.theme ?? "system";
  const theme = change ? THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] : now;
  if (change) document.cookie = `libacp-theme=${theme}; path=/; max-age=31536000; SameSite=Strict`;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  const button = byId("theme");
  button.replaceChildren(icon(theme));
  button.title = button.ariaLabel = `Theme: ${theme}`;
  button.onclick = () => showTheme(true);
}

/** `wire` is told when its list may be seen. */
export function layOut(wire) {
  for (const element of document.querySelectorAll("[data-icon]")) element.append(icon(element.dataset.icon));
  showTheme();
  const drawer = new Drawer("list", "drawer");
  const panel = new Drawer("side", "panel", () => wire.show());
  const tabs = ["session", "wire"].map((name) => ({ tab: byId(`tab-${name}`), panel: byId(`panel-${name}`) }));
  const choose = (chosen) => {
    for (const one of tabs) {
      one.tab.ariaSelected = String(one === chosen);
      one.tab.tabIndex = one === chosen ? 0 : -1;
      one.panel.hidden = one !== chosen;
    }
    wire.show();
  };
  for (const [index, one] of tabs.entries()) {
    one.tab.onclick = () => choose(one);
    one.tab.onkeydown = ({ key }) => {
      if (key !== "ArrowLeft" && key !== "ArrowRight") return;
      const next = tabs[(index + 1) % tabs.length];
      choose(next);
      next.tab.focus();
    };
  }
  byId("brief").onclick = () => {
    choose(tabs[0]);
    panel.set(true);
  };
  const question = () => document.querySelector('.permission [class^="reject"], .permission button')?.focus();
  const keys = { a: question, n: () => byId("fresh").click(), p: () => panel.set(!panel.isOpen), s: () => drawer.set(!drawer.isOpen) };
  document.addEventListener("keydown", (event) => {
    if (!event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
