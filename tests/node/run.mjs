// Tests of the installed package under Node: `node run.mjs`. The last line is `N passed, N failed`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compressed, script } from "../../bench/node/download.mjs";
import { install } from "./installed.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { folder, root, entry, tarball } = install();
Object.assign(process.env, { LIBACP_ENTRY: entry, LIBACP_FOLDER: folder, LIBACP_TARBALL: tarball });

let passed = 0;
let failed = 0;
const files = readdirSync(here).filter((name) => name.endsWith(".test.mjs"));
const stream = run({ files: files.map((name) => join(here, name)), concurrency: 1, timeout: 360_000 });
stream.on("test:pass", ({ details }) => (passed += details.type === "suite" ? 0 : 1));
stream.on("test:fail", ({ name, details, file }) => {
  if (details.type === "suite") return;
  failed += 1;
  console.error(`failed: ${name} (${file})\n${details.error?.cause?.stack ?? details.error}`);
});
stream.resume();
await new Promise((end) => stream.on("end", end));

const [wasm, remote] = ["core", "http"].map((name) => compressed(readFileSync(join(root, `dist/libacp_${name}_bg.wasm`))));
const [glue, whole, sdk] = [
  await script(build, ["libacp"], folder),
  await script(build, ["libacp/agent", "libacp/client"], folder),
  await script(build, ["@agentclientprotocol/sdk"], here),
];
const kib = (size) => `${(size / 1024).toFixed(1)} KiB`;
console.log(
  `note: npm package, as a page downloads it: wasm ${kib(wasm)} and glue ${kib(glue)}, together ${kib(wasm + glue)}; ` +
    `with the high level ${kib(wasm + whole)}; the remote transports ${kib(remote)} more; the official SDK ${kib(sdk)}`,
);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
