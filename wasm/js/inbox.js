// What a source that pushes has brought, in order. The connection takes it piece by piece without waiting in between;
// anybody else iterates over it.

export class Inbox {
  /** Bytes, or characters, that wait. */
  size = 0;
  isOver = false;
  #chunks = [];
  #problem;
  /** Who waits for a piece, or the end. */
  #waiting = [];

  /** `pushed` and `taken` hear when that has happened, and `shown` says what a piece is to who iterates. */
  constructor({ pushed, taken, shown } = {}) {
    this.pushed = pushed;
    this.taken = taken;
    this.shown = shown;
  }

  get isEmpty() {
    return this.#chunks.length === 0;
  }

  push(chunk) {
    this.#chunks.push(chunk);
    this.size += chunk.byteLength ?? chunk.length;
    this.pushed?.(this.size);
    this.#wake();
  }

  /** Nothing more comes. What has come is still taken, and the problem after it. */
  end(problem) {
    if (this.isOver) return;
    this.isOver = true;
    this.#problem = problem;
    this.#wake();
  }

  /** The next piece, if there is one. */
  take() {
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return undefined;
    this.size -= chunk.byteLength ?? chunk.length;
    this.taken?.(this.size);
    return chunk;
  }

  /** Waits for a piece; false at the end. */
  async more() {
    while (this.isEmpty) {
      if (this.#problem) throw this.#problem;
      if (this.isOver) return false;
      await new Promise((resolve) => this.#waiting.push(resolve));
    }
    return true;
  }

  #wake() {
    while (this.#waiting.length > 0) this.#waiting.pop()();
  }

  async *[Symbol.asyncIterator]() {
    while (await this.more()) {
      for (let chunk; (chunk = this.take()) !== undefined; ) yield this.shown ? this.shown(chunk) : chunk;
    }
  }
}
