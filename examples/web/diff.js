// Changes of files, as lines in colours.

import { diffLines } from "diff";
import { isolated, make } from "./dom.js";

const CONTEXT = 3;
/** Lines that are shown, and milliseconds to find them. */
const MOST = 2000;
const TIME = 25;
const SIGNS = { "+": "added", "-": "removed", "@": "gap" };

const figure = (path, rows) =>
  make(
    "figure",
    { className: "diff" },
    make("figcaption", {}, isolated(path)),
    make("pre", { tabIndex: 0 }, ...rows.slice(0, MOST), rows.length > MOST ? make("span", { className: "gap" }, `⋯ ${rows.length - MOST} more\n`) : undefined),
  );

const row = (sign, line) => make("span", { className: SIGNS[sign] ?? "same" }, `${sign} `, isolated(line), "\n");

/** All lines of a text. */
const whole = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** What a change makes of a text; without the old one the file is new. */
export function drawDiff({ path, oldText, newText }) {
  const parts = diffLines(oldText ?? "", newText, { timeout: TIME });
  // Where it takes too long to find what is the same, nothing is.
  const found = parts ?? [{ removed: true, value: oldText }, { added: true, value: newText }];
  const rows = found.flatMap((part, index) => {
    const sign = part.added ? "+" : part.removed ? "-" : " ";
    const lines = whole(part.value);
    if (sign !== " " || lines.length <= 2 * CONTEXT + 1) return lines.map((line) => row(sign, line));
    const head = index === 0 ? [] : lines.slice(0, CONTEXT);
    const tail = index === found.length - 1 ? [] : lines.slice(-CONTEXT);
    return [...head.map((line) => row(" ", line)), make("span", { className: "gap" }, "⋯\n"), ...tail.map((line) => row(" ", line))];
  });
  return figure(path, rows);
}

/** Changes of several files, with a patch where there is one. */
export function drawChanges({ changes = [], patch }) {
  const paths = changes.map(({ operation, path, oldPath, newPath }) => `${operation} ${path ?? `${oldPath} → ${newPath}`}`);
  const lines = patch?.format === "git_patch" ? whole(patch.text) : [];
  return figure(paths.join("\n"), lines.map((line) => row(SIGNS[line[0]] && !/^(\+\+\+|---) /.test(line) ? line[0] : " ", line.replace(/^[+\- ]/, ""))));
}
