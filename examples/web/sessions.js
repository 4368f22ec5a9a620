// The sessions: those that are open, and those that the agent remembers. What can be done with each is what the agent offers.

import { byId, button, icon, isolated, make, plain, tell } from "./dom.js";

/** Sessions that are listed. */
const MOST = 200;
/** How long a second click on a button that deletes counts; one of a double click does not. */
const SURE = 4000;

/** A time as people say it. */
function ago(text) {
  const seconds = (Date.parse(text) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const units = [["day", 86_400], ["hour", 3600], ["minute", 60]];
  const [unit, size] = units.find(([, size]) => -seconds >= size) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export class Sessions {
  #agent;
  #stored = [];
  #asking = 0;
  #sure;
  /** What was drawn, and what ends hearing of each session. */
  #drawn;
  #heard = new Map();
  #isDue = false;

  /** `open(id, how)` shows a session, with `how` one of `show`, `load`, `resume`; `left(id)` is told that one is gone. */
  constructor({ open, left, waiting }) {
    this.open = open;
    this.left = left;
    this.waiting = waiting;
    this.place = byId("sessions");
  }

  /** The agent, and the session on display. */
  show(agent, current) {
    if (agent !== this.#agent) this.#stored = [];
    this.#agent = agent;
    this.current = current;
    this.draw();
  }

  /** Asks the agent what it remembers. */
  async refresh() {
    const agent = this.#agent;
    if (!agent?.can("session/list")) return;
    const asking = ++this.#asking;
    const found = [];
    try {
      for await (const session of agent.listSessions()) {
        found.push(session);
        if (found.length === MOST) break;
      }
    } catch (error) {
      tell(error.message);
    }
    if (asking !== this.#asking || agent !== this.#agent) return;
    this.#stored = found;
    this.draw();
  }

  /** What the agent has listed of a session. */
  stored(id) {
    return this.#stored.find(({ sessionId }) => sessionId === id);
  }

  /** Draws at the next frame; a session that is not on display changes, too. */
  soon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.draw();
    });
  }

  draw() {
    const agent = this.#agent;
    const open = [...(agent?.sessions.values() ?? [])];
    this.#hear(open);
    const stored = this.#stored.filter(({ sessionId }) => !agent?.sessions.has(sessionId));
    stored.sort((a, b) => (b.updatedAt ?? "").localeCompare(a.updatedAt ?? ""));
    const rows = [...open.reverse().map((session) => this.#told(session, { sessionId: session.id })), ...stored.map((it) => this.#told(undefined, it))];
    const drawn = JSON.stringify([rows.map(({ session, ...told }) => [Boolean(session), told]), this.current?.id, this.#sure]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const focus = this.place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    this.place.replaceChildren(...rows.map((row) => this.#row(row)));
    byId("no-sessions").hidden = rows.length > 0;
    if (focus) this.place.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  }

  #hear(open) {
    for (const [session, forget] of this.#heard) {
      if (open.includes(session)) continue;
      forget();
      this.#heard.delete(session);
    }
    for (const session of open) {
      if (!this.#heard.has(session)) this.#heard.set(session, session.view.subscribe(() => this.soon()));
    }
  }

  /** What a row says. */
  #told(session, { sessionId, title, updatedAt, cwd }) {
    const name = session?.view.title ?? title ?? this.stored(sessionId)?.title ?? (session ? "New conversation" : sessionId);
    return { session, sessionId, name, told: session ? this.#state(session) : ago(updatedAt) || cwd };
  }

  #row({ session, sessionId, name, told }) {
    const isCurrent = sessionId === this.current?.id;
    const row = make("li", { className: isCurrent ? "current" : "" });
    const main = button("", () => this.open(sessionId, this.#how(session)), { className: "row" });
    main.dataset.key = sessionId;
    main.disabled = this.#how(session) === undefined;
    if (isCurrent) main.ariaCurrent = "true";
    main.append(make("span", { className: "name" }, isolated(name)), make("span", { className: "told" }, isolated(told ?? "")));
    row.append(main, ...this.#actions(session, sessionId, name));
    return row;
  }

  #state(session) {
    const waiting = this.waiting(session);
    if (waiting > 0) return waiting === 1 ? "asks you" : `asks you ${waiting} things`;
    const { state, replaying } = session.view;
    return replaying ? "loading" : state === "idle" ? "open" : plain(state.replaceAll("_", " "));
  }

  /** How a session is opened by a click on it. */
  #how(session) {
    if (session) return "show";
    if (this.#agent.can("session/load")) return "load";
    return this.#agent.can("session/resume") ? "resume" : undefined;
  }

  #actions(session, sessionId, name) {
    const agent = this.#agent;
    const actions = [];
    const add = (key, sign, label, does) => {
      const made = button(sign, does, { label: `${label}: ${plain(name)}`, className: "quiet" });
      made.dataset.key = `${key} ${sessionId}`;
      actions.push(made);
    };
    if (!session && agent.can("session/load") && agent.can("session/resume")) {
      add("resume", icon("again"), "Resume without the history", () => this.open(sessionId, "resume"));
    }
    if (session && agent.can("session/close")) add("close", icon("close"), "Close", () => this.#end(() => session.close(), sessionId));
    if (agent.can("session/delete")) {
      const isSure = this.#sure === sessionId;
      add("delete", isSure ? "Delete?" : icon("bin"), isSure ? "Really delete" : "Delete", ({ detail }) => detail < 2 && this.#delete(sessionId));
    }
    return actions;
  }

  #delete(sessionId) {
    if (this.#sure === sessionId) {
      this.#sure = undefined;
      this.#end(() => this.#agent.deleteSession(sessionId), sessionId);
      return;
    }
    this.#sure = sessionId;
    setTimeout(() => {
      if (this.#sure === sessionId) this.#sure = undefined;
      this.draw();
    }, SURE);
    this.draw();
  }

  async #end(call, sessionId) {
    try {
      await call();
      this.#stored = this.#stored.filter((stored) => stored.sessionId !== sessionId || this.#agent.can("session/list"));
      await this.refresh();
      this.left(sessionId);
    } catch (error) {
      tell(error.message);
    }
    this.draw();
  }
}
