// The page of bundle/ as Vite and esbuild build it, beside the installed package.
import { copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";

const source = fileURLToPath(new URL("bundle", import.meta.url));

/** Builds both in the folder of the package; where they lie. */
export async function bundles(folder, root) {
  const app = join(folder, "bundle");
  cpSync(source, app, { recursive: true });
  const out = (name) => join(folder, name);
  await vite({ root: app, base: "./", logLevel: "warn", configFile: false, build: { outDir: out("vite"), emptyOutDir: true, target: "es2022" } });
  const how = { bundle: true, format: "esm", target: "es2022", minify: true };
  await esbuild({ ...how, entryPoints: [join(app, "app.js")], outdir: out("esbuild") });
  // esbuild leaves `new URL(…, import.meta.url)` as it is: the file goes beside the script.
  copyFileSync(join(root, "dist/libacp_core_bg.wasm"), join(out("esbuild"), "libacp_core_bg.wasm"));
  copyFileSync(join(app, "index.html"), join(out("esbuild"), "index.html"));
  return { "/vite/": out("vite"), "/esbuild/": out("esbuild") };
}
