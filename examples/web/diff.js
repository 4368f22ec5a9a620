// Changes of files, as lines in colours.

import { diffLines } from "diff";
import { isolated, make } from "./dom.js";

const CONTEXT = 3;
/** Lines that are shown, and milliseconds to find them. */
const MOST = 2000;
const TIME = 25;
const SIGNS = { "+": "added", "-": "removed", "@": "gap", "⋯": "gap" };

/** What `draw` adds as lines with a sign; nothing is made of those that are not shown. */
function figure(path, draw) {
  const rows = [];
  let more = 0;
  draw((sign, lines) => {
    const shown = lines.slice(0, MOST - rows.length);
    rows.push(...shown.map((line) => row(sign, line)));
    more += lines.length - shown.length;
  });
  return make(
    "figure",
    { className: "diff" },
    make("figcaption", {}, isolated(path)),
    make("pre", { tabIndex: 0 }, ...rows, more > 0 ? make("span", { className: "gap" }, `⋯ ${more} more\n`) : undefined),
  );
}

const row = (sign, line) => make("span", { className: SIGNS[sign] ?? "same" }, `${sign} `, isolated(line), "\n");

/** All lines of a text. */
const whole = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** What a change makes of a text; without the old one the file is new. */
export function drawDiff({ path, oldText, newText }) {
  const before = oldText ?? "";
  // Where it takes too long to find what is the same, nothing is.
  const parts = diffLines(before, newText, { timeout: TIME }) ?? [{ removed: true, value: before }, { added: true, value: newText }];
  return figure(path, (add) => {
    for (const [index, part] of parts.entries()) {
      const lines = whole(part.value);
      if (part.added || part.removed || lines.length <= 2 * CONTEXT + 1) {
        add(part.added ? "+" : part.removed ? "-" : " ", lines);
        continue;
      }
      if (index > 0) add(" ", lines.slice(0, CONTEXT));
      add("⋯", [""]);
      if (index < parts.length - 1) add(" ", lines.slice(-CONTEXT));
    }
  });
}

/** Changes of several files, with a patch where there is one. */
export function drawChanges({ changes = [], patch }) {
  const paths = changes.map(({ operation, path, oldPath, newPath }) => `${operation} ${path ?? `${oldPath} → ${newPath}`}`);
  const lines = patch?.format === "git_patch" ? whole(patch.text) : [];
  return figure(paths.join("\n"), (add) => {
    for (const line of lines) add(SIGNS[line[0]] && !/^(\+\+\+|---) /.test(line) ? line[0] : " ", [line.replace(/^[+\- ]/, "")]);
  });
}
