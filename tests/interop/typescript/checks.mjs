// What the full hosts' tests look at, counted.
import { inspect, isDeepStrictEqual } from "node:util";

export class Checks {
  passed = 0;
  #wrong = [];

  /** Found has to equal expected. */
  same(what, found, expected) {
    if (isDeepStrictEqual(found, expected)) this.passed += 1;
    else this.#wrong.push(`${what}: expected ${shown(expected)}, found ${shown(found)}`);
  }

  true(what, found) {
    this.same(what, Boolean(found), true);
  }

  /** The request has to be answered with an error. */
  async refused(what, code, answer) {
    this.same(what, await answer.then(() => "a result", (error) => error.code), code);
  }

  end() {
    for (const each of this.#wrong) console.log(each);
    console.log(`${this.passed} passed, ${this.#wrong.length} failed`);
    process.exitCode = this.#wrong.length > 0 ? 1 : 0;
  }
}

const shown = (value) => inspect(value, { depth: 8, breakLength: Infinity });
