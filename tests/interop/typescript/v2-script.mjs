// What both hosts of version 2 have: the script, a queue, and what counts the lines on a stream.
import { readFileSync, writeSync } from "node:fs";

export function load(path) {
  const script = JSON.parse(readFileSync(path, "utf8"));
  if (script.format !== 2) throw new Error(`script format ${script.format}, expected 2`);
  return script;
}

/** Things in the order of their arrival. */
export class Queue {
  #things = [];
  #waiting = [];

  push(thing) {
    const next = this.#waiting.shift();
    if (next === undefined) this.#things.push(thing);
    else next(thing);
  }

  async shift() {
    return this.#things.length > 0 ? this.#things.shift() : new Promise((next) => this.#waiting.push(next));
  }

  get size() {
    return this.#things.length;
  }
}

/** Counts, and on demand records, the lines that pass. */
export class Tap extends TransformStream {
  lines = 0;
  bytes = 0;

  constructor(direction, file) {
    let rest = Buffer.alloc(0);
    super({
      transform: (data, controller) => {
        this.bytes += data.length;
        rest = Buffer.concat([rest, data]);
        for (let end; (end = rest.indexOf(10)) >= 0; rest = rest.subarray(end + 1)) {
          this.lines += 1;
          const record = { d: direction, ms: Number(performance.now().toFixed(3)), s: rest.subarray(0, end).toString() };
          if (file !== undefined) writeSync(file, `${JSON.stringify(record)}\n`);
        }
        controller.enqueue(data);
      },
    });
  }
}
