// Work that waits for other work.

/** Work under one key is done in the order in which it was given; what is under different keys, at the same time. */
export class Queues {
  #ends = new Map();

  has(key) {
    return this.#ends.has(key);
  }

  after(key, work) {
    const before = this.#ends.get(key);
    const done = before ? before.then(work) : work();
    const end = done.then(nothing, nothing).finally(() => {
      if (this.#ends.get(key) === end) this.#ends.delete(key);
    });
    this.#ends.set(key, end);
    return done;
  }
}

const nothing = () => {};

/** So many at a time. */
export class Gate {
  #free;
  #waiting = [];

  constructor(places) {
    this.#free = places;
  }

  /** Nothing where there is a place, or a promise of one. */
  enter() {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
