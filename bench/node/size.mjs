// What a page downloads, in bytes after compression: libacp with its wasm file, and the official SDK.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const resolveDir = fileURLToPath(new URL(".", import.meta.url));
const compressed = (bytes) => gzipSync(bytes, { level: 9 }).length;

async function script(module) {
  const contents = `export * from ${JSON.stringify(module)};`;
  const how = { bundle: true, minify: true, format: "esm", target: "es2022", write: false };
  const { outputFiles } = await build({ ...how, stdin: { contents, resolveDir } });
  return compressed(outputFiles[0].contents);
}

const wasm = compressed(readFileSync(fileURLToPath(import.meta.resolve("libacp/wasm"))));
const [libacp, official] = [wasm + (await script("libacp")), await script("@agentclientprotocol/sdk")];
console.log(JSON.stringify({ libacp, official }));
