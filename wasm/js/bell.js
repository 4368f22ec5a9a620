// Tells the views of a connection that it may have changed: in a microtask, once for all that happens until then.

const bells = new WeakMap();

/** The bell of a connection or an observer. */
export const bellOf = (owner) => bells.get(owner);

export class Bell {
  /** `isHeard` says whether there are views. */
  constructor(owner, isHeard = false) {
    this.isHeard = isHeard;
    bells.set(owner, this);
  }

  /** Grows with everything that may change a view. */
  count = 0;
  /** The connection is freed: nothing can be asked of it any more. */
  isOver = false;
  #views = new Set();
  #isRung = false;

  ring() {
    this.count += 1;
    if (this.#isRung || this.#views.size === 0) return;
    this.#isRung = true;
    queueMicrotask(() => {
      this.#isRung = false;
      for (const view of [...this.#views]) view._heard();
    });
  }

  add(view) {
    this.#views.add(view);
  }

  delete(view) {
    this.#views.delete(view);
  }

  /** The last that is heard; what the views read before that stays. */
  end() {
    for (const view of [...this.#views]) view._end();
    this.isOver = true;
  }
}
