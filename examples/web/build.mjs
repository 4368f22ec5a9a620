// The page as it is served: scripts, one style sheet, and the modules, each compressed as well: `node build.mjs [FOLDER]`.
// The folder has the packages in `node_modules`, and gets the page in `site`; it is this one if none is named.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = resolve(process.argv[2] ?? here);
const packages = join(folder, "node_modules");
const site = join(folder, "site");
const require = createRequire(join(folder, "package.json"));
const { build } = require("esbuild");
const { minify } = require("terser");
const { Lexer, getDefaults } = await import(pathToFileURL(join(packages, "marked/lib/marked.esm.js")));

/** Marked's modules, which the source map of its one file has. */
function modules() {
  const { sources, sourcesContent } = JSON.parse(readFileSync(join(packages, "marked/lib/marked.esm.js.map"), "utf8"));
  const known = new Map(sources.map((source, index) => [basename(source), sourcesContent[index]]));
  // The page reads one dialect. What differs between dialects, and what extensions would do, is settled here.
  const defaults = getDefaults();
  for (const name of ["Lexer.ts", "Tokenizer.ts"]) {
    known.set(name, known.get(name).replace(/this\.options\.(?!tokenizer)(\w+)/g, (_, option) => defaults[option]));
  }
  known.set("defaults.ts", "export const _defaults = {};");
  known.set("Lexer.ts", known.get("Lexer.ts").replace(/\n  static [^]*?\n  }\n/g, "\n"));
  const { block, inline } = new Lexer().tokenizer.rules;
  const all = (rules) => Object.entries(rules).map(([name, rule]) => `${name}: ${rule instanceof RegExp ? rule : "noopTest"}`);
  const [, before, tag] = /^(.*)\/\*\*\n \* Block-Level.*?\n(const _tag = .*?;)/s.exec(known.get("rules.ts"));
  known.set("rules.ts", `${before}${tag} export const block = { gfm: { ${all(block)} } }, inline = { gfm: { ${all(inline)} } };`);
  return known.set("reader.ts", 'export { _Lexer as Lexer } from "./Lexer.ts";');
}

/**
 * Marked's reader without what makes HTML of what was read, and without other dialects. Its one file makes an instance of
 * everything as it is loaded, and puts all expressions together from parts, so that nothing could be left out of it.
 */
const reader = {
  name: "reader",
  setup(bundle) {
    const known = modules();
    bundle.onResolve({ filter: /^marked$/ }, () => ({ path: "reader.ts", namespace: "marked" }));
    bundle.onResolve({ filter: /^\.\//, namespace: "marked" }, ({ path }) => ({ path: basename(path), namespace: "marked" }));
    bundle.onLoad({ filter: /^/, namespace: "marked" }, ({ path }) => ({ contents: known.get(path), loader: "ts" }));
  },
};

/** The smallest of what Brotli makes of it: which way of writing distances is best differs. */
function brotli(bytes) {
  const always = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const made = [[0, 0], [0, 4], [1, 0], [1, 2], [2, 0], [2, 8], [2, 16]].map(([postfix, direct]) => {
    const ways = { [constants.BROTLI_PARAM_NPOSTFIX]: postfix, [constants.BROTLI_PARAM_NDIRECT]: direct };
    return brotliCompressSync(bytes, { params: { ...always, ...ways } });
  });
  return made.reduce((best, next) => (next.length < best.length ? next : best));
}

rmSync(site, { recursive: true, force: true });
mkdirSync(site, { recursive: true });
const always = { bundle: true, minify: true, format: "esm", target: ["chrome120", "firefox121", "safari17.4"], legalComments: "none", logLevel: "warning" };
await build({
  ...always,
  absWorkingDir: here,
  entryPoints: ["app.js", "theme.js", "style.css"],
  outdir: site,
  // What speaks HTTP is loaded where a page does so.
  splitting: true,
  // Without a hash, which depends on where the checkout is.
  chunkNames: "[name]",
  conditions: ["browser"],
  nodePaths: [packages],
  plugins: [reader],
});
// What both of them need is a file of its own so far. The page's script loads it in any case, and compresses better with it.
const scripts = readdirSync(site).filter((name) => name.endsWith(".js"));
const common = scripts.find((name) => name === "chunk.js");
const remote = scripts.find((name) => name.startsWith("http."));
const both = { contents: `import "./app.js"; export * from "./${common}";`, resolveDir: site };
await build({ ...always, stdin: both, outfile: join(site, "app.js"), allowOverwrite: true, external: [`./${remote}`] });
writeFileSync(join(site, remote), readFileSync(join(site, remote), "utf8").replaceAll(common, "app.js"));
rmSync(join(site, common));
// esbuild shortens names and leaves out spaces; this also finds what can be said in fewer words, and shortens the names of members that
// are no part of the package's interface: to the same ones in each file, as they share objects. What loads the modules warns of servers
// that say another type of them, and of older calls; the page's does not.
const names = {};
const properties = { regex: /^_[a-z]/, reserved: ["_meta"] };
for (const name of readdirSync(site).filter((name) => name.endsWith(".js")).sort().reverse()) {
  const options = { module: true, ecma: 2020, compress: { passes: 3, pure_funcs: ["console.warn"] }, mangle: { properties }, nameCache: names };
  const { code } = await minify(readFileSync(join(site, name), "utf8"), options);
  writeFileSync(join(site, name), code);
}
writeFileSync(join(site, "index.html"), readFileSync(join(here, "index.html"), "utf8").replace(/\n +/g, "\n"));
for (const name of ["libacp_client_bg.wasm", "libacp_http_bg.wasm"]) copyFileSync(join(packages, "libacp/dist", name), join(site, name));
for (const name of readdirSync(site)) {
  const bytes = readFileSync(join(site, name));
  writeFileSync(join(site, `${name}.br`), brotli(bytes));
  writeFileSync(join(site, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
