// The script of ../script.json: loading, placeholders, generated texts and the comparison.
// Read next: player.mjs, which plays it.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

export function load(path) {
  const script = JSON.parse(readFileSync(path, "utf8"));
  if (script.format !== 1) throw new Error(`script format ${script.format}, expected 1`);
  return script;
}

/** A text rule as the list of texts it stands for. */
export function expand(rule) {
  if (typeof rule === "string") return [rule];
  if ("repeat" in rule) return [rule.repeat.repeat(rule.times)];
  const texts = [];
  for (let i = rule.from; i <= rule.to; i++) texts.push(rule.series.replaceAll("{i}", String(i)));
  return texts;
}

/** Puts the values of `{cwd}`, `{work}` and `{work_uri}` into every string of `value`. */
export function fill(value, vars) {
  if (typeof value === "string") {
    return value.replace(/\{(cwd|work|work_uri)\}/g, (whole, name) => vars[name] ?? whole);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, vars));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, vars)]));
  }
  return value;
}

/** Running length and FNV-1a (32 bits) over UTF-8. */
export class Checksum {
  bytes = 0;
  #hash = 0x811c9dc5;

  add(text) {
    const data = Buffer.from(text);
    for (const byte of data) this.#hash = Math.imul(this.#hash ^ byte, 0x01000193);
    this.bytes += data.length;
    return this;
  }

  get fnv1a32() {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }
}

const empty = (value) =>
  value === null || (typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0);

/** The first difference between what the script expects and what came, or undefined. */
export function difference(expected, actual, at = "") {
  if (empty(expected) && (actual === undefined || actual === null)) return undefined;
  const both = (test) => test(expected) && test(actual);
  if (both(Array.isArray)) {
    if (expected.length !== actual.length) return `${at}: ${expected.length} items expected, ${actual.length} came`;
    return first(expected.map((item, i) => () => difference(item, actual[i], `${at}/${i}`)));
  }
  if (both((v) => v !== null && typeof v === "object" && !Array.isArray(v))) {
    return first(Object.keys(expected).map((key) => () => difference(expected[key], actual[key], `${at}/${key}`)));
  }
  return Object.is(expected, actual) ? undefined : `${at}: expected ${brief(expected)}, got ${brief(actual)}`;
}

/** Extension payloads have no schema that could add or drop a member: they must be equal. */
export function exactDifference(expected, actual) {
  return isDeepStrictEqual(expected, actual) ? undefined : `: expected ${brief(expected)}, got ${brief(actual)}`;
}

function first(tests) {
  for (const test of tests) {
    const found = test();
    if (found !== undefined) return found;
  }
  return undefined;
}

export function brief(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 160 ? `${text.slice(0, 160)}... (${text.length} characters)` : text;
}

export function pathToUri(path) {
  return path.replace(/[^A-Za-z0-9._~/-]/gu, (c) => encodeURIComponent(c).replace(/^[!'()*]$/, percent));
}

const percent = (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`;
