// Bytes of answers, of one connection: those that are being made, and those that have not been written yet. Which request
// waits for which is the core's to say.
import { theBorder } from "./connection.js";
import { Gate } from "./queue.js";

// So many bytes may be unwritten before an answer that is there waits.
const MOST = 16 << 20;
// So many requests whose answers may be large are served before it is known how large. They hold no bytes until then: those
// that wait for the one in front, as reads of the same file do, would keep it from having its own.
const UNKNOWN = 16;

export class Budget {
  #shares = new (theBorder().glue.Budget)();
  #unwritten;
  #gate = new Gate(UNKNOWN);
  /** Serial numbers of those that have a place there, or wait for it. */
  #unknown = new Set();
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
    if (this.#over || !theBorder().glue.Budget.isLarge(method)) return undefined;
    this.#unknown.add(serial);
    return this.#gate.enter();
  }

  /** Makes the share of a request so large. What it has to wait for, if anything; until then it holds nothing. */
  reserve({ serial }, bytes) {
    if (!(bytes >= 0)) throw new TypeError("reserve: expected a number of bytes");
    this.#known(serial);
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
    this.#known(serial);
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

  #known(serial) {
    if (this.#unknown.delete(serial)) this.#gate.leave();
  }

  #leave(serial) {
    this.#turns.get(serial)?.();
    this.#turns.delete(serial);
  }
}
