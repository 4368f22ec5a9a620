// Bytes of answers, of one connection: those that are being made, and those that have not been written yet.
import { Gate } from "./queue.js";

// So many, unless one answer alone has more.
const MOST = 16 << 20;
// Requests whose answers may be large, so many of which are served before it is known how large.
const LARGE = new Set(["fs/read_text_file", "terminal/output"]);
const UNKNOWN = 16;

/** What a request holds of the budget. */
class Share {
  held = 0;
  isUnknown = false;
}

export class Budget {
  #unwritten;
  #held = 0;
  #waiting = [];
  #answers = [];
  #unknown = new Gate(UNKNOWN);
  #over = false;

  /** `unwritten` says how many bytes wait for the transport. */
  constructor(unwritten) {
    this.#unwritten = unwritten;
  }

  /** A share for a new request. What it has to wait for first, if anything, is its `begun`. */
  share(method) {
    const share = new Share();
    if (!LARGE.has(method) || this.#over) return share;
    share.isUnknown = true;
    share.begun = this.#unknown.enter();
    return share;
  }

  /** Makes a share so large. What it has to wait for, if anything; until then it holds nothing. */
  reserve(share, bytes) {
    this.#known(share);
    if (!(bytes >= 0)) throw new TypeError("reserve: expected a number of bytes");
    const grows = bytes > share.held;
    this.#held -= share.held;
    share.held = 0;
    if (!grows || this.#over || (this.#waiting.length === 0 && this.#fits(bytes))) {
      this.#grant(share, bytes);
      this.go();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push({ share, bytes, resolve });
      this.go();
    });
  }

  /** Waits until an answer that is there may be sent, if it has to. */
  answer() {
    if (this.#over || (this.#answers.length === 0 && this.#unwritten() < MOST)) return undefined;
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  /** The request has been answered: its bytes wait for the transport, or are none. */
  release(share) {
    this.#known(share);
    this.#held -= share.held;
    share.held = 0;
    this.go();
  }

  /** Lets those go on for whom there is room now. */
  go() {
    // One at a time: it comes back when its answer has been sent.
    if (this.#answers.length > 0 && this.#unwritten() < MOST) this.#answers.shift()();
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0].bytes)) {
      const { share, bytes, resolve } = this.#waiting.shift();
      this.#grant(share, bytes);
      resolve();
    }
  }

  /** Nobody reads any more: nobody waits. */
  end() {
    this.#over = true;
    for (const resolve of this.#answers.splice(0)) resolve();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  #fits(bytes) {
    const used = this.#held + this.#unwritten();
    return used === 0 || used + bytes <= MOST;
  }

  #grant(share, bytes) {
    share.held = bytes;
    this.#held += bytes;
  }

  #known(share) {
    if (!share.isUnknown) return;
    share.isUnknown = false;
    this.#unknown.leave();
  }
}
