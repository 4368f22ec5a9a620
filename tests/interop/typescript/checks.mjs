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

  /** What went wrong, and then the counts. */
  lines() {
    return [...this.#wrong, `${this.passed} passed, ${this.#wrong.length} failed`];
  }

  end() {
    console.log(this.lines().join("\n"));
    process.exitCode = this.#wrong.length > 0 ? 1 : 0;
  }
}

const shown = (value) => inspect(value, { depth: 8, breakLength: Infinity });
