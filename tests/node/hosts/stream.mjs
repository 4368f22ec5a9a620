// What is expected beside what comes: names that stand for values, and streams that are read from their first item on.
import assert from "node:assert/strict";

const NAME = /^<[^<>]+>$/;
// A busy machine may take its time; what never comes costs this once.
const PATIENCE = 10_000;

/** Compares, and binds names at their first place. */
export function match(expected, actual, names, where) {
  if (expected === "<any>") return;
  if (typeof expected === "string" && NAME.test(expected)) {
    if (!names.has(expected)) {
      assert.ok(["string", "number"].includes(typeof actual), `${where}: ${expected} stands for a string or a number`);
      names.set(expected, actual);
    }
    assert.deepEqual(actual, names.get(expected), where);
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual) && actual.length === expected.length, `${where}: expected ${show(expected)}, found ${show(actual)}`);
    for (const [index, each] of expected.entries()) match(each, actual[index], names, `${where}/${index}`);
  } else if (typeof expected === "object" && expected !== null) {
    const isObject = typeof actual === "object" && actual !== null && !Array.isArray(actual);
    assert.ok(isObject, `${where}: expected ${show(expected)}, found ${show(actual)}`);
    assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), `${where}: found ${show(actual)}`);
    for (const [name, each] of Object.entries(expected)) match(each, actual[name], names, `${where}/${name}`);
  } else {
    assert.deepEqual(actual, expected, where);
  }
}

export const show = (value) => JSON.stringify(value) ?? String(value);

/** The value, with the names in it replaced by what they stand for. */
export function filled(value, names) {
  if (typeof value === "string" && NAME.test(value)) {
    assert.ok(names.has(value), `${value} stands for nothing yet`);
    return names.get(value);
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, names)]));
}

export function later() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

export class Stream {
  items = [];
  #more;

  constructor(what) {
    this.what = what;
  }

  push(item) {
    this.items.push(item);
    this.#more?.resolve();
  }

  async next(wanted) {
    if (this.items.length === 0) {
      let timer;
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no ${this.what} came, expected ${show(wanted)}`)), PATIENCE);
      });
      this.#more = later();
      await Promise.race([this.#more.promise, late]).finally(() => clearTimeout(timer));
    }
    return this.items.shift();
  }
}

/** Places where somebody waits until a step says so. */
export class Labels {
  #all = new Map();

  at(label) {
    if (!this.#all.has(label)) this.#all.set(label, later());
    return this.#all.get(label);
  }
}
