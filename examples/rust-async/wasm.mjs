// Runs `acp-local` as WebAssembly: `node wasm.mjs acp-local.wasm`. It imports nothing, so nothing helps it along.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const module = await WebAssembly.compile(await readFile(process.argv[2]));
assert.deepEqual(WebAssembly.Module.imports(module), []);
const { exports } = await WebAssembly.instantiate(module, {});
assert.equal(exports.main(0, 0), 0);
console.log("an agent and a client have talked");
