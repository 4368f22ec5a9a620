// Bytes of answers, of one connection: those that are being made, and those that have not been written yet. Which request
// waits for which is the core's to say.
import { theBorder } from "./connection.js";

// So many bytes may be unwritten before an answer that is there waits.
const MOST = 16 << 20;
// Requests whose answers may be large, and what one takes before it is known how large: sixteen are made at a time.
const LARGE = new Set(["fs/read_text_file", "terminal/output"]);
const UNKNOWN = 1 << 20;

export class Budget {
  #shares = new (theBorder().glue.Budget)();
  #unwritten;
  /** What goes on once a request has its share, by its serial number. */
  #turns = new Map();
  #answers = [];
  #over = false;

  /** `unwritten` says how many bytes wait for the transport. */
  constructor(unwritten) {
    this.#unwritten = unwritten;
  }

  /** What a new request has to wait for first, if anything. */
  begin({ serial, method }) {
    return LARGE.has(method) ? this.#ask(serial, UNKNOWN) : undefined;
  }

  /** Makes the share of a request so large. What it has to wait for, if anything; until then it holds nothing. */
  reserve({ serial }, bytes) {
    if (!(bytes >= 0)) throw new TypeError("reserve: expected a number of bytes");
    return this.#ask(serial, bytes);
  }

  #ask(serial, bytes) {
    if (this.#over) return undefined;
    this.#leave(serial);
    const turn = this.#shares.ask(serial, bytes) ? undefined : new Promise((resolve) => this.#turns.set(serial, resolve));
    this.go();
    return turn;
  }

  /** Waits until an answer that is there may be sent, if it has to. */
  answer() {
    if (this.#over || (this.#answers.length === 0 && this.#unwritten() < MOST)) return undefined;
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  /** The answer to a request has been written, or there is none. */
  release({ serial }) {
    this.#leave(serial);
    this.#shares.release(serial);
    this.go();
  }

  /** Lets those go on for whom there is room now. */
  go() {
    // One at a time: it comes back when its answer has been sent.
    if (this.#answers.length > 0 && this.#unwritten() < MOST) this.#answers.shift()();
    for (let next; (next = this.#shares.poll()) >= 0; ) this.#leave(next);
  }

  /** Nobody reads any more: nobody waits. */
  end() {
    this.#over = true;
    for (const resolve of [...this.#answers.splice(0), ...this.#turns.values()]) resolve();
    this.#turns.clear();
  }

  #leave(serial) {
    this.#turns.get(serial)?.();
    this.#turns.delete(serial);
  }
}
