// The package as a user gets it: packed, and installed into an empty folder. Everything in tests/ takes it from here.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../../wasm", import.meta.url));

/** Runs npm and returns what it prints. */
export function npm(folder, ...args) {
  return execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

/** A new folder with the package in it, which is gone when the process is. */
export function install() {
  if (!existsSync(join(source, "dist/node.js"))) {
    throw new Error("the package is not built; run: cargo run -p libacp-npm");
  }
  const folder = mkdtempSync(join(tmpdir(), "libacp-npm-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const [{ filename }] = JSON.parse(npm(source, "pack", "--json", "--loglevel=error", "--pack-destination", folder));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  npm(folder, "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", `./${filename}`);
  // Resolves the name as a module of the folder does.
  writeFileSync(join(folder, "entry.mjs"), 'export * from "libacp";\nexport * from "libacp/rules";\n');
  for (const half of ["agent", "client"]) writeFileSync(join(folder, `${half}.mjs`), `export * from "libacp/${half}";\n`);
  writeFileSync(join(folder, "http.mjs"), 'export * from "libacp/http";\n');
  writeFileSync(join(folder, "httpnode.mjs"), 'export * from "libacp/http/node";\n');
  const [entry, agent] = ["entry.mjs", "agent.mjs"].map((name) => pathToFileURL(join(folder, name)).href);
  return { folder, root: join(folder, "node_modules/libacp"), tarball: join(folder, filename), entry, agent };
}
