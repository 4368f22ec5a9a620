// What a page downloads, in bytes after compression: libacp with its wasm file, and the official SDK.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compressed, script } from "./download.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const wasm = compressed(readFileSync(fileURLToPath(import.meta.resolve("libacp/wasm"))));
const libacp = wasm + (await script(build, ["libacp"], here));
const official = await script(build, ["@agentclientprotocol/sdk"], here);
console.log(JSON.stringify({ libacp, official }));
