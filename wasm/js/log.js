// What the library itself writes: without control characters of a peer's, and not without end.

// Line ends and tabs are not among them; those that turn the direction of text, and U+2028 and U+2029, are.
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const BREAK = /[\t\n]/g;
// So many lines of one kind, in so many milliseconds.
const LINES = 5;
const SPAN = 10_000;
// Characters of an error, and errors that are each other's causes.
const LONG = 8192;
const CAUSES = 4;

const escaped = (character) => {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
};

/** Text of a peer's for a terminal or a log: control characters are shown, and do nothing. */
export const printable = (text) => String(text).replace(CONTROL, escaped);

/** The beginning of a text, in the same way. */
export function excerpt(text, most) {
  const shown = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text;
  return printable(shown);
}

/** All of it, in one line. */
export const oneLine = (text) => printable(text).replace(BREAK, escaped);

/** What was thrown. Not everything that can be thrown can be printed. */
function described(error, causes = CAUSES) {
  try {
    const text = String(typeof error?.stack === "string" ? error.stack : error).slice(0, LONG);
    const message = typeof error?.message === "string" ? error.message : "";
    // The lines of a stack are its own, those of its message are not.
    const own = message === "" ? text : text.split(message).join(oneLine(message));
    const cause = error?.cause === undefined || causes === 0 ? "" : `\ncaused by: ${described(error.cause, causes - 1)}`;
    return printable(own) + cause;
  } catch {
    return "what cannot be printed";
  }
}

// An agent's standard output is the wire, and a client's is its host's: under Node, where the console writes some levels
// there, all go to standard error.
const { process } = globalThis;
const onlyErrors = process?.release?.name === "node" || globalThis.Deno !== undefined;
const toConsole = (level, text) => console[onlyErrors ? "error" : level](text);

/** Whoever is given takes the lines, with `true` or nothing the console does, and with `false` nobody. */
function sink(to) {
  if (to === undefined || to === true) return toConsole;
  if (to === false) return () => {};
  if (typeof to === "function") return to;
  throw new TypeError("log: expected a function, or whether anything is written");
}

export class Log {
  #kinds = new Map();
  #write;

  constructor(to) {
    this.#write = sink(to);
  }

  /** Writes a line, unless there were too many of its kind of late. */
  write(level, kind, text) {
    this.#limited(level, kind, () => oneLine(text));
  }

  /** Writes what has been thrown. */
  failed(what, error) {
    this.#limited("error", what, () => `${oneLine(what)}: ${described(error)}`);
  }

  #limited(level, kind, text) {
    const now = performance.now();
    let seen = this.#kinds.get(kind);
    if (!seen || now - seen.since >= SPAN) {
      if (seen?.count > LINES) this.#write(level, `libacp: ${oneLine(kind)}: ${seen.count - LINES} more were not written`);
      this.#kinds.set(kind, (seen = { since: now, count: 0 }));
    }
    seen.count += 1;
    if (seen.count <= LINES) this.#write(level, `libacp: ${text()}`);
    if (seen.count === LINES + 1) this.#write(level, `libacp: more of ${oneLine(kind)} is not written for ${SPAN / 1000} s`);
  }
}
