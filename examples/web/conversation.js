// The entries of a view, drawn in frames: each draws what has changed for a few milliseconds and leaves the rest to the next.
// Only the last entries are in the document; those before them come when they are asked for.

import { byId, plain } from "./dom.js";
import { drawingOf } from "./entries.js";

/** Milliseconds of a frame. */
const BUDGET = 8;
/** Entries that are drawn; when there are twice as many, the first half goes. */
const WINDOW = 200;
/** This near to the end, the end is followed. */
const NEAR = 80;

const NOTHING = { entries: [], terminals: [], epoch: 0 };

export class Conversation {
  #view;
  #forget;
  #shown = NOTHING;
  /** By index: the drawing of an entry, and the entry. */
  #drawn = new Map();
  /** Indexes of entries that are not drawn as they are. */
  #open = new Set();
  /** How many entries come before those that are drawn. */
  #from = 0;
  #asked = false;
  #follows = true;
  #top = 0;

  /**
   * `changed(snapshot, before)` is called in a frame with what there is of the view on display, and what there was of it;
   * `drawn()` in any frame; `stop(method, params)` asks the agent to stop one tool call or one command.
   */
  constructor({ changed, drawn, stop }) {
    Object.assign(this, { changed, drawn });
    this.context = { terminal: (id) => this.#shown.terminals.findLast((terminal) => terminal.id === id), stop };
    this.element = byId("conversation");
    this.entries = byId("entries");
    this.outcome = byId("outcome");
    this.earlier = byId("earlier");
    this.earlier.onclick = () => this.#showEarlier();
    this.jump = byId("jump");
    this.jump.onclick = () => this.toEnd();
    this.element.onscroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = this.element;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
      // What grows below leaves the place as it is; only who goes back wants to stay there.
      if (isNear) this.#follows = true;
      else if (scrollTop < this.#top) this.#follows = false;
      this.#top = scrollTop;
      this.jump.hidden = this.#follows;
    };
    new ResizeObserver(() => this.#follows && this.toEnd()).observe(this.element.firstElementChild);
  }

  /** Shows a view from now on, or nothing. */
  show(view) {
    if (view === this.#view) return;
    this.#forget?.();
    this.#view = view;
    this.#forget = view?.subscribe(() => this.soon());
    this.#clear();
    this.#shown = NOTHING;
    this.soon();
  }

  toEnd() {
    this.#follows = true;
    this.jump.hidden = true;
    this.element.scrollTop = this.element.scrollHeight;
  }

  /** Draws at the next frame. */
  soon() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#frame(performance.now() + BUDGET);
    });
  }

  /** The place in the card of a tool call, if that is drawn. */
  slot(toolCallId) {
    const entry = this.#shown.entries.findLast(({ type, id }) => type === "tool_call" && id === toolCallId);
    return entry && this.#drawn.get(entry.index)?.drawing.slot;
  }

  #clear() {
    this.entries.replaceChildren();
    this.#drawn.clear();
    this.#open.clear();
    this.#from = 0;
    this.#follows = true;
  }

  #frame(deadline) {
    if (!this.#view) return void this.drawn();
    const now = this.#view.getSnapshot();
    const before = this.#shown;
    if (now !== before) this.#compare(now, before);
    this.#shown = now;
    for (const index of this.#open) {
      if (!this.#draw(index, deadline)) break;
      this.#open.delete(index);
      if (performance.now() > deadline) break;
    }
    if (now !== before) {
      this.#end(now);
      this.changed(now, before === NOTHING ? undefined : before);
    }
    this.drawn();
    if (this.#follows) this.toEnd();
    if (this.#open.size > 0) this.soon();
  }

  /** Finds what is to be drawn: entries are the same objects while they are the same. */
  #compare(now, before) {
    if (now.epoch !== before.epoch) this.#clear();
    const { entries } = now;
    if (this.#follows && entries.length - this.#from > 2 * WINDOW) this.#from = entries.length - WINDOW;
    const first = entries[this.#from]?.index ?? Infinity;
    const kept = new Set(entries.map(({ index }) => index));
    for (const [index, { drawing }] of this.#drawn) {
      if (index >= first && kept.has(index)) continue;
      drawing.card.remove();
      this.#drawn.delete(index);
      this.#open.delete(index);
    }
    for (const entry of entries.slice(this.#from)) {
      if (this.#drawn.get(entry.index)?.entry !== entry) this.#open.add(entry.index);
    }
    for (const terminal of now.terminals) {
      if (before.terminals.includes(terminal)) continue;
      for (const [index, { drawing }] of this.#drawn) if (drawing.shows?.(terminal.id)) this.#open.add(index);
    }
    this.earlier.hidden = this.#from === 0;
  }

  #draw(index, deadline) {
    const entry = this.#entry(index);
    if (!entry) return true;
    let known = this.#drawn.get(index);
    if (!known) {
      const drawing = drawingOf(entry);
      if (!drawing) return true;
      known = { drawing };
      this.#drawn.set(index, known);
      this.#put(index, drawing.card);
    }
    known.entry = entry;
    return known.drawing.advance(entry, deadline, this.context);
  }

  #entry(index) {
    const { entries } = this.#shown;
    let [from, to] = [0, entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (entries[middle].index < index) from = middle + 1;
      else to = middle;
    }
    return entries[from]?.index === index ? entries[from] : undefined;
  }

  /** Puts an element where its index says. */
  #put(index, element) {
    element.dataset.index = index;
    let next = null;
    for (let last = this.entries.lastElementChild; last && Number(last.dataset.index) > index; last = last.previousElementSibling) next = last;
    this.entries.insertBefore(element, next);
  }

  #showEarlier() {
    const { scrollHeight } = this.element;
    this.#from = Math.max(this.#from - WINDOW, 0);
    this.#follows = false;
    this.#compare(this.#shown, this.#shown);
    while (this.#open.size > 0) {
      for (const index of this.#open) if (this.#draw(index, Infinity)) this.#open.delete(index);
    }
    this.element.scrollTop += this.element.scrollHeight - scrollHeight;
  }

  /** How the work ended last, where that is worth a word. */
  #end({ state, stopReason, error, entries, replaying }) {
    const isOver = state === "idle" && !replaying && entries.length > 0;
    const failed = isOver && error ? plain(error.message) : "";
    const ended = isOver && !error && stopReason && stopReason !== "end_turn" ? plain(stopReason.replaceAll("_", " ")) : "";
    this.outcome.className = failed ? "error" : "note";
    if (this.outcome.textContent !== failed + ended) this.outcome.textContent = failed + ended;
  }
}

