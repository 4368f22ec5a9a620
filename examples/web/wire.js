// The messages of the connection as they cross it, with the rules that they break, and what the client could not call at that
// time and why. Pieces of one message are one row. The list is drawn only while it is seen, and only so much is kept.

import { byId, button, fill, isolated, make, plain } from "./dom.js";
import { drawData } from "./items.js";

/** Rows that are kept, rules of each that are listed, and characters of each. */
const KEPT = 400;
const RULES = 20;
const LONGEST = 16_384;
const CHUNK = /^\{"jsonrpc":"2\.0","method":"session\/update",[^]{0,400}?"sessionUpdate":"(\w+_chunk)"/;
const METHODS = [
  "authenticate", "logout", "session/new", "session/load", "session/resume", "session/list", "session/prompt", "session/cancel",
  "session/set_mode", "session/set_config_option", "session/close", "session/delete", "session/fork",
];

/** The beginning of a text, as a text of its own: a part of it would keep all of it. */
const begin = (text) => structuredClone(String(text).slice(0, LONGEST));

const time = (at) => new Date(at).toISOString().slice(11, 23);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a message is, in a few words. */
function named(message, methods) {
  if (message === undefined) return "not JSON";
  const { id, method, error, params } = message;
  if (method) return [method, params?.update?.sessionUpdate].filter(Boolean).join(" · ");
  return `${error ? "error" : "answer"} to ${methods.get(String(id)) ?? `request ${id}`}`;
}

export class WireLog {
  #rows = [];
  #next = 0;
  #asked = false;
  /** Methods of open requests, by direction and id. */
  #methods = { sent: new Map(), received: new Map() };
  #filter = "";
  #drawn = new Map();
  violations = 0;

  /** `whyNot(method)` says why the client cannot call a method now. */
  constructor(whyNot) {
    this.whyNot = whyNot;
    this.list = byId("wire");
    this.tab = byId("tab-wire");
    byId("filter").oninput = ({ target }) => {
      this.#filter = target.value.trim().toLowerCase();
      this.#clear();
    };
    byId("empty").onclick = () => {
      this.#rows = [];
      this.#clear();
    };
  }

  /** A message: `sent` or `received`. */
  add(direction, text) {
    const [, chunk] = CHUNK.exec(text) ?? [];
    const last = this.#rows.at(-1);
    if (chunk && last?.chunk === chunk) {
      last.count += 1;
      last.size += text.length;
      last.text = begin(text);
      this.#soon();
      return;
    }
    const message = chunk ? undefined : parsed(text);
    const name = chunk ? `session/update · ${chunk}` : begin(named(message, this.#methods[direction === "sent" ? "received" : "sent"]));
    const kind = chunk || (message?.method && message.id === undefined) ? "notification" : message?.method ? "request" : "answer";
    if (kind === "request") this.#remember(this.#methods[direction], begin(message.id), begin(message.method));
    const row = { at: Date.now(), direction, kind, name, chunk, count: 1, size: text.length, text: begin(text), rules: [] };
    // What can be called changes with what is no update.
    if (chunk === undefined && message?.method !== "session/update") row.not = this.#blocked();
    this.#push(row);
  }

  /** A call that the connection has refused: nothing was sent. */
  refused(method, error) {
    this.#push({ at: Date.now(), direction: "unsent", kind: "request", name: method, count: 1, size: 0, text: "", rules: [{ ...rule(error), consequence: "not sent" }] });
  }

  /** A violation or an advice, beside the message that it is about. */
  about(event) {
    const direction = event.type === "violation" ? "received" : "sent";
    this.violations += Number(event.type === "violation");
    const isIt = (row) => row.direction === direction && (event.method === undefined || row.name.startsWith(event.method) || row.name.endsWith(` ${event.method}`));
    const found = this.#rows.findLast(isIt) ?? this.#rows.findLast((row) => row.direction === direction);
    if (found?.rules.length < RULES) {
      found.rules.push({ ...rule(event), consequence: event.consequence ?? "advice" });
      found.isNew = true;
    }
    fill(byId("count"), String(this.violations));
    byId("count").hidden = this.violations === 0;
    this.#soon();
  }

  /** Whether the list can be seen has changed. */
  show() {
    this.#soon();
  }

  #remember(methods, id, method) {
    methods.set(id, method);
    if (methods.size > KEPT) methods.delete(methods.keys().next().value);
  }

  #blocked() {
    return METHODS.map((method) => [method, this.whyNot(method)]).filter(([, why]) => why);
  }

  #push(row) {
    this.#rows.push(Object.assign(row, { number: this.#next++ }));
    if (this.#rows.length > KEPT) this.#rows.shift();
    this.#soon();
  }

  #soon() {
    if (this.#asked || byId("panel-wire").hidden || !byId("panel").checkVisibility()) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#draw();
    });
  }

  #clear() {
    this.#drawn.clear();
    this.list.replaceChildren();
    this.#draw();
  }

  #draw() {
    const rows = this.#rows.filter((row) => `${row.name} ${row.rules.map((it) => it.rule).join(" ")}`.toLowerCase().includes(this.#filter));
    const kept = new Set(rows);
    for (const [row, element] of this.#drawn) {
      if (kept.has(row)) continue;
      element.remove();
      this.#drawn.delete(row);
    }
    const { scrollHeight, scrollTop, clientHeight } = this.list;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40;
    for (const row of rows) {
      let element = this.#drawn.get(row);
      if (!element) {
        element = this.#row(row);
        this.#drawn.set(row, element);
        this.list.append(element);
      }
      this.#update(row, element);
    }
    if (!isAtEnd) return;
    const toEnd = () => (this.list.scrollTop = this.list.scrollHeight);
    toEnd();
    // Rows get their height when they are first seen.
    requestAnimationFrame(toEnd);
  }

  #row(row) {
    const element = make("details", { className: "message" }, make("summary"));
    element.dataset.direction = row.direction;
    element.ontoggle = () => {
      element.querySelector(".inside")?.remove();
      if (element.open) element.append(this.#inside(row));
    };
    return element;
  }

  #update(row, element) {
    if (element.shown === row.size && !row.isNew) return;
    element.shown = row.size;
    row.isNew = false;
    const arrow = { sent: "→", received: "←", unsent: "⊘" }[row.direction];
    const rules = row.rules.map(({ rule, consequence }) => make("b", { className: "rule", "data-consequence": consequence }, rule));
    const times = row.count > 1 ? make("span", { className: "times" }, `×${row.count}`) : undefined;
    element.firstElementChild.replaceChildren(
      make("span", { className: "arrow", ariaLabel: row.direction, role: "img" }, arrow),
      make("span", { className: "name" }, isolated(row.name)),
      ...[times, ...rules].filter(Boolean),
      make("span", { className: "size" }, row.size > 0 ? `${row.size.toLocaleString()} B` : "not sent"),
    );
    if (element.open) element.ontoggle();
  }

  #inside(row) {
    const inside = make("div", { className: "inside" }, make("p", { className: "dim" }, `${time(row.at)} · ${row.kind} ${row.direction}${row.count > 1 ? " · the last of them:" : ""}`));
    for (const { rule, message, pointer, consequence } of row.rules) {
      inside.append(make("p", { className: "broken", "data-consequence": consequence }, make("b", {}, rule), ` (${consequence}) `, isolated(message), ...(pointer ? [" ", make("code", {}, plain(pointer))] : [])));
    }
    if (row.text) inside.append(drawData(parsed(row.text) ?? row.text));
    if (row.not?.length > 0) {
      const why = ([method, { rule, message }]) => make("li", {}, make("code", {}, method), " ", make("b", {}, rule), " ", isolated(message));
      inside.append(make("details", { className: "why-not" }, make("summary", {}, `${row.not.length} calls were not possible then`), make("ul", {}, ...row.not.map(why))));
    }
    if (row.text) inside.append(button("Copy", () => navigator.clipboard.writeText(row.text), { className: "quiet" }));
    return inside;
  }
}

const rule = ({ rule, message, pointer }) => ({ rule, message, pointer });
