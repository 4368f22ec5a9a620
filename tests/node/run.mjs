// Tests of the installed package under Node: `node run.mjs`. The last line is `N passed, N failed`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { install } from "./installed.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { folder, root, entry } = install();
Object.assign(process.env, { LIBACP_ENTRY: entry, LIBACP_FOLDER: folder });

let passed = 0;
let failed = 0;
const files = readdirSync(here).filter((name) => name.endsWith(".test.mjs"));
const stream = run({ files: files.map((name) => join(here, name)), concurrency: 1 });
stream.on("test:pass", ({ details }) => (passed += details.type === "suite" ? 0 : 1));
stream.on("test:fail", ({ name, details, file }) => {
  if (details.type === "suite") return;
  failed += 1;
  console.error(`failed: ${name} (${file})\n${details.error?.cause?.stack ?? details.error}`);
});
stream.resume();
await new Promise((end) => stream.on("end", end));

const dist = join(root, "dist");
const read = (wanted) => readdirSync(dist).filter(wanted).map((name) => readFileSync(join(dist, name)));
const kib = (parts) => `${(parts.reduce((sum, part) => sum + part.length, 0) / 1024).toFixed(1)} KiB`;
const wasm = read((name) => name.endsWith(".wasm"));
// What a page loads: one entry, not both.
const script = read((name) => name.endsWith(".js") && name !== "node.js");
const packed = [...wasm, ...script].map((part) => gzipSync(part, { level: 9 }));
console.log(`note: npm package: wasm ${kib(wasm)}, script ${kib(script)}, both gzipped ${kib(packed)}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
