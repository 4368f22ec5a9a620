// What the compiler says of the mistakes in mistakes.ts: it sees all, and says of each what is wrong.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { folder } from "./both.mjs";

const source = fileURLToPath(new URL("mistakes.ts", import.meta.url));

test("the compiler catches each mistake, and names it", () => {
  const copy = join(folder, "mistakes.ts");
  copyFileSync(source, copy);
  const program = ts.createProgram([copy], {
    strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [],
  });
  const said = new Map();
  for (const { file, start, messageText, relatedInformation = [] } of ts.getPreEmitDiagnostics(program)) {
    assert.equal(file?.fileName, copy, ts.flattenDiagnosticMessageText(messageText, "\n"));
    const { line } = file.getLineAndCharacterOfPosition(start);
    const texts = [messageText, ...relatedInformation.map((more) => more.messageText)];
    said.set(line, [said.get(line) ?? "", ...texts.map((text) => ts.flattenDiagnosticMessageText(text, "\n"))].join("\n"));
  }
  const lines = readFileSync(source, "utf8").split("\n");
  const mistakes = lines.flatMap((line, index) => (line.startsWith("// says: ") ? [[index + 1, line.slice(9)]] : []));
  const missed = mistakes.filter(([line, word]) => !said.get(line)?.includes(word));
  assert.deepEqual(missed.map(([line, word]) => [lines[line], word, said.get(line) ?? "nothing"]), []);
  assert.deepEqual([...said.keys()].filter((line) => !mistakes.some(([where]) => where === line)), []);
  assert.ok(mistakes.length >= 39);
});
