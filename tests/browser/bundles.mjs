// The page of bundle/ as Vite and esbuild build it, beside the installed package.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as vite } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PATH = [here("node_modules/.bin"), process.env.PATH].join(delimiter);

/** A page made by a command of the book, in a folder that has what its readers' have; where it lies. */
function made(folder, name, command, source = "app.js") {
  const work = join(folder, name);
  cpSync(here("bundle"), work, { recursive: true });
  if (source !== "app.js") copyFileSync(join(work, source), join(work, "app.js"));
  symlinkSync(join(folder, "node_modules"), join(work, "node_modules"));
  const said = readFileSync(here(`../../docs/snippets/onefile/${command}.sh`), "utf8");
  // What npx would run is on the way.
  execFileSync("sh", ["-euc", said.replace(/^npx /gm, "")], { cwd: work, env: { ...process.env, PATH }, stdio: "pipe" });
  const site = join(work, "site");
  copyFileSync(join(work, "index.html"), join(site, "index.html"));
  return site;
}

/** Builds them in the folder of the package; where they lie. */
export async function bundles(folder) {
  const app = join(folder, "bundle");
  cpSync(here("bundle"), app, { recursive: true });
  const built = join(folder, "vite");
  await vite({ root: app, base: "./", logLevel: "warn", configFile: false, build: { outDir: built, emptyOutDir: true, target: "es2022" } });
  const bare = made(folder, "bare", "page");
  rmSync(join(bare, "libacp_core_bg.wasm"));
  return {
    "/vite/": built,
    "/esbuild/": made(folder, "esbuild", "page"),
    "/one/": made(folder, "one", "page-one", "one.js"),
    "/bare/": bare,
    "/script/": made(folder, "script", "page-one", "late.js"),
  };
}
