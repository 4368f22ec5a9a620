// The buttons of a permission request, and what keeps them from being pressed by somebody who meant something else.
//
// An agent chooses when a request comes, so it can come under a finger that is on its way: a click, or the letters of a
// message. So the buttons work only after they have been in sight, in one place, for a second; a key counts only if
// nothing was typed in the second before; and the focus is never taken from a field.

import { isolated, make } from "./dom.js";

const SECOND = 1000;
/** Between two looks at where the buttons are. */
const LOOK = 100;
/** Buttons that have moved or grown by no more than this, in pixels, are where they were. */
const STILL = 2;
const SIDES = ["x", "y", "width", "height"];

const FIELDS = "input, textarea, select, [contenteditable]";
let typedAt = -Infinity;
let before = -Infinity;

// Typing is what makes letters, blanks included; Tab and arrows only lead to a button.
addEventListener(
  "keydown",
  ({ key, timeStamp }) => {
    if (key.length === 1) [before, typedAt] = [typedAt, timeStamp];
  },
  { capture: true },
);

/** Whether somebody may be typing: a field has the focus. */
export const typing = () => document.activeElement?.matches(FIELDS) ?? false;

export class Question {
  #place;
  #options;
  #choose;
  #since = Infinity;
  #last;
  #timer;
  #early = false;

  /** Puts the options of a request into an element; `choose` gets the id of one of them, once. */
  constructor(place, options, choose) {
    this.#place = place;
    this.#options = options;
    this.#choose = choose;
    place.tabIndex = -1;
    place.replaceChildren(
      ...options.map(({ optionId, name, kind }, index) =>
        make(
          "button",
          { type: "button", className: kind, title: `Key ${index + 1}`, onclick: () => this.#click(optionId) },
          isolated(name),
        ),
      ),
    );
    place.onpointerdown = () => {
      this.#look();
      this.#early = !this.#works();
    };
    place.onkeydown = (event) => this.#key(event);
    this.#timer = setInterval(() => this.#look(), LOOK);
    this.again();
    this.#focus();
  }

  /** What is asked about has changed: it has to be in sight for a second once more. */
  again() {
    this.#since = Infinity;
    this.#last = undefined;
    this.#look();
  }

  /** Takes the buttons away. */
  end() {
    clearInterval(this.#timer);
    this.#choose = () => {};
    this.#place.replaceChildren();
    this.#place.removeAttribute("tabindex");
    this.#place.onpointerdown = this.#place.onkeydown = null;
  }

  #works() {
    return performance.now() - this.#since >= SECOND;
  }

  #look() {
    const now = this.#inSight();
    const still = now && this.#last && SIDES.every((side) => Math.abs(now[side] - this.#last[side]) <= STILL);
    if (!still) [this.#since, this.#last] = [now ? performance.now() : Infinity, now];
    for (const button of this.#place.children) button.ariaDisabled = String(!this.#works());
  }

  /** Where the buttons are, if they can be seen there. */
  #inSight() {
    const box = this.#place.getBoundingClientRect();
    const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return document.visibilityState === "visible" && this.#place.contains(found) ? box : undefined;
  }

  /** Only who is nowhere else is led here, and to what refuses. A button that has just been hidden is nowhere. */
  #focus() {
    const { activeElement } = document;
    if (activeElement !== document.body && activeElement?.id !== "conversation" && activeElement?.checkVisibility()) return;
    const refuses = this.#options.findIndex(({ kind }) => kind.startsWith("reject"));
    (this.#place.children[refuses] ?? this.#place).focus({ preventScroll: true });
  }

  #click(optionId) {
    this.#look();
    if (this.#works() && !this.#early) this.#choose(optionId);
  }

  #key(event) {
    const { key, repeat, timeStamp } = event;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    this.#look();
    const meant = this.#works() && !repeat && timeStamp - (key.length === 1 ? before : typedAt) >= SECOND;
    // A key that presses a button does so by a click, which comes after it.
    this.#early = !meant;
    const option = this.#options[Number(key) - 1];
    if (option && meant) this.#choose(option.optionId);
    if (option || ((key === " " || key === "Enter") && !meant)) event.preventDefault();
  }
}
