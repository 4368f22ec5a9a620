// The scripted conversation of ../../tests/interop: its texts, its placeholders, and how something is compared with it.
// Read next: player.mjs, which plays it.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

export function load(path) {
  if (path === undefined) throw new Error("--script is missing");
  const script = JSON.parse(readFileSync(path, "utf8"));
  if (script.format !== 1) throw new Error(`${path}: format 1 expected, found ${script.format}`);
  return script;
}

/** The texts that a text rule stands for. */
export function texts(rule) {
  if (typeof rule === "string") return [rule];
  if (rule.repeat !== undefined) return [rule.repeat.repeat(rule.times)];
  const count = rule.to - rule.from + 1;
  return Array.from({ length: count }, (_, index) => rule.series.replaceAll("{i}", rule.from + index));
}

/** A copy of a value with its placeholders replaced. */
export function filled(value, places) {
  if (typeof value === "string") return value.replace(/\{(\w+)\}/g, (all, name) => places[name] ?? all);
  if (Array.isArray(value)) return value.map((item) => filled(item, places));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member, places)]));
}

/** Length and FNV-1a of texts, in UTF-8. */
export class Sum {
  bytes = 0;
  #hash = 0x811c9dc5;

  add(text) {
    const data = Buffer.from(text);
    this.bytes += data.length;
    for (const byte of data) this.#hash = Math.imul(this.#hash ^ byte, 0x01000193);
    return this;
  }

  get fnv1a32() {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }
}

/** Where and how a value differs from what the script asks for; nothing when it does not. */
export function difference(expected, found, at = "") {
  if (isObject(expected) && isObject(found)) {
    const names = Object.keys(expected);
    return firstOf(names, (name) => difference(expected[name], found[name], `${at}/${name}`));
  }
  if (Array.isArray(expected) && expected.length === found?.length) {
    return firstOf([...expected.keys()], (index) => difference(expected[index], found[index], `${at}/${index}`));
  }
  const nothing = expected === null || (isObject(expected) && Object.keys(expected).length === 0);
  if (nothing && (found ?? null) === null) return undefined;
  return exactDifference(expected, found, at);
}

/** The same for what nobody may add to: extensions. */
export function exactDifference(expected, found, at = "") {
  return isDeepStrictEqual(expected, found) ? undefined : `${at}: expected ${brief(expected)}, got ${brief(found)}`;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function firstOf(keys, check) {
  for (const key of keys) {
    const found = check(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

function brief(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 120 ? text : `${text.slice(0, 120)}… (${text.length} characters)`;
}
