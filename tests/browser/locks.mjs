// What is installed for tests and benchmarks runs nothing while it is installed: npm leaves out the scripts of packages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./served.mjs";

/** Folders with a lock file. */
const FOLDERS = ["tests/browser", "examples/web", "tests/node", "bench/node", "docs/references"];

export const lockTests = {
  "no package runs a script when it is installed"() {
    for (const folder of FOLDERS) {
      const { packages } = JSON.parse(readFileSync(join(root, folder, "package-lock.json"), "utf8"));
      const scripts = Object.keys(packages).filter((name) => packages[name].hasInstallScript);
      if (scripts.length === 0) continue;
      const settings = readFileSync(join(root, folder, ".npmrc"), "utf8").split("\n");
      assert.ok(settings.includes("ignore-scripts=true"), `${folder}: ${scripts} would run a script`);
    }
  },
};
