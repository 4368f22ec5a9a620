// JSON with exact integers: what a number cannot hold is a bigint, in both directions.
//
// JavaScript's own parser and writer do the work. Only where a bigint is in play do numbers pass them as strings with a
// mark in front; a string that begins with the mark by itself gets a second one, so nothing can be taken for the other.

import { ParamsMisuse, branded, misuse } from "./mistakes.js";

const MARK = "\u0001";
// How the mark stands in JSON text; it has no other spelling there.
const WRITTEN = '"\\u0001';
const UNSAFE = /^-?\d{16,}$/;
// More than 20,000 digits: a frame full of them would take minutes to become a bigint.
const TOO_LONG = /\d{20001}/;

/** JSON text that is passed on as it is. */
export class RawJson {
  constructor(text) {
    if (typeof text !== "string") throw new TypeError(`raw: expected JSON text, found ${typeof text}`);
    this.text = text;
    Object.freeze(this);
  }

  toJSON() {
    throw new TypeError("raw: expected as the whole of params, a result or data, found inside a value");
  }
}

// Another copy of this package may have made it.
const RAW = branded(RawJson, "RawJson");

export const raw = (text) => new RawJson(text);

const isDigit = (text, at) => {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
};

/** Whether 16 digits stand in a row. Wherever they begin, one of them is among every 16th character. */
function hasLongNumber(text) {
  for (let at = 15; at < text.length; at += 16) {
    if (!isDigit(text, at)) continue;
    let [from, to] = [at, at + 1];
    while (isDigit(text, from - 1)) from -= 1;
    while (isDigit(text, to)) to += 1;
    if (to - from >= 16) return true;
  }
  return false;
}

export function parse(text) {
  if (!hasLongNumber(text)) return JSON.parse(text);
  const marked = eachToken(text, (token) => {
    if (token.startsWith(WRITTEN)) return WRITTEN + token.slice(1);
    return UNSAFE.test(token) && !Number.isSafeInteger(Number(token)) ? `${WRITTEN}${token}"` : token;
  });
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== "string" || value[0] !== MARK) return value;
    if (value[1] === MARK) return value.slice(1);
    return TOO_LONG.test(value) ? raw(value.slice(1)) : BigInt(value.slice(1));
  });
}

/** The text of a value; `undefined` for what JSON has no word for. */
export function stringify(value) {
  if (value?.[RAW] === true) return value.text;
  try {
    const text = JSON.stringify(value);
    // What is no number is null to JSON.stringify, and most texts have no null in them.
    if (text?.includes("null")) JSON.stringify(value, finite);
    return text;
  } catch (error) {
    if (error instanceof ParamsMisuse) throw error;
    // A bigint, or something that fails once more below.
  }
  const marked = JSON.stringify(value, (name, found) => {
    const member = finite(name, found);
    if (typeof member === "bigint") return MARK + member;
    return typeof member === "string" && member[0] === MARK ? MARK + member : member;
  });
  return eachToken(marked, (token) => {
    if (!token.startsWith(WRITTEN)) return token;
    const rest = token.slice(WRITTEN.length);
    return rest.startsWith(WRITTEN.slice(1)) ? `"${rest}` : rest.slice(0, -1);
  });
}

/** The member itself, unless it is a number that JSON does not have. */
function finite(_, member) {
  if (typeof member === "number" && !Number.isFinite(member)) {
    throw misuse("params", "RPC-21", "", `expected a finite number, found ${member}`);
  }
  return member;
}

/** Replaces the strings that are values, and the numbers, of a JSON text. */
function eachToken(text, replace) {
  const begin = /"|-?\d[-+.\deE]*/g;
  const colon = /\s*:/y;
  let out = "";
  let copied = 0;
  for (let found; (found = begin.exec(text)); ) {
    let end = begin.lastIndex;
    if (found[0] === '"') {
      end = stringEnd(text, end);
      begin.lastIndex = end;
      colon.lastIndex = end;
      if (colon.test(text)) continue;
    }
    out += text.slice(copied, found.index) + replace(text.slice(found.index, end));
    copied = end;
  }
  return out + text.slice(copied);
}

/** The end of a string whose inside begins at `from`. */
function stringEnd(text, from) {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}
