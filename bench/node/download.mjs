// What a page downloads: also the tests of the package print it. `build` is esbuild's, of whoever asks.
import { gzipSync } from "node:zlib";

/** Bytes after compression. */
export const compressed = (bytes) => gzipSync(bytes, { level: 9 }).length;

/** What some modules come to as one minified script, as a program in this folder would import them. */
export async function script(build, modules, resolveDir) {
  const contents = modules.map((name) => `export * from ${JSON.stringify(name)};`).join("\n");
  const how = { bundle: true, minify: true, format: "esm", target: "es2022", write: false };
  const { outputFiles } = await build({ ...how, stdin: { contents, resolveDir } });
  return compressed(outputFiles[0].contents);
}
