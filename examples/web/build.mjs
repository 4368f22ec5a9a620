// The page as it is served: scripts, one style sheet, and the modules, each compressed as well: `node build.mjs [FOLDER]`.
// The folder has the packages in `node_modules`, and gets the page in `site`; it is this one if none is named.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = resolve(process.argv[2] ?? here);
const packages = join(folder, "node_modules");
const site = join(folder, "site");
const { build } = createRequire(join(folder, "package.json"))("esbuild");

rmSync(site, { recursive: true, force: true });
mkdirSync(site, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: ["app.js", "theme.js", "style.css"],
  outdir: site,
  bundle: true,
  // What speaks HTTP is loaded where a page does so.
  splitting: true,
  chunkNames: "[name]-[hash]",
  minify: true,
  format: "esm",
  target: ["chrome120", "firefox121", "safari17.4"],
  conditions: ["browser"],
  nodePaths: [packages],
  legalComments: "none",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, name), join(site, name));
for (const name of ["libacp_client_bg.wasm", "libacp_http_bg.wasm"]) copyFileSync(join(packages, "libacp/dist", name), join(site, name));
for (const name of readdirSync(site)) {
  const bytes = readFileSync(join(site, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(join(site, `${name}.br`), brotliCompressSync(bytes, { params }));
  writeFileSync(join(site, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}
