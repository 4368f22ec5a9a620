// The host vectors: what the high levels of every language do alike.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { check } from "./hosts/format.mjs";
import * as agent from "./hosts/agent.mjs";
import * as client from "./hosts/client.mjs";

const root = new URL("../hosts/", import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));

// How a scenario fails that is wrong, as its member `fails` says.
const FAILS = {
  format: /there is no|it is|expected|only|takes no|missing/,
  frame: /^(steps|initialize)|no frame came|stands for/,
  event: /^steps|no event came/,
  "left over": /is left over/,
  refused: /was not refused|does not say/,
};

async function replay(scenario, role) {
  check(scenario);
  if (!scenario.refused) return role.play(scenario);
  const text = await role.refusal(scenario);
  assert.ok(text !== undefined, "it was not refused");
  for (const part of scenario.refused) assert.ok(text.includes(part), `"${text}" does not say ${part}`);
  return undefined;
}

for (const [folder, role] of Object.entries({ agent, client })) {
  const files = existsSync(new URL(folder, root)) ? readdirSync(new URL(folder, root)).filter((name) => name.endsWith(".json")).sort() : [];
  const seen = new Set();
  for (const file of files) {
    for (const scenario of read(`${folder}/${file}`)) {
      test(`${folder}/${file}: ${scenario.name}`, { skip: scenario.gaps?.javascript }, async () => {
        assert.ok(!seen.has(scenario.name), "another scenario has this name");
        seen.add(scenario.name);
        await replay(scenario, role);
      });
    }
  }
}

if (existsSync(new URL("wrong.json", root))) {
  const wrong = read("wrong.json");
  for (const [folder, role] of Object.entries({ agent, client })) {
    for (const { fails, ...scenario } of wrong[folder]) {
      test(`wrong.json: ${folder}: ${scenario.name} fails`, async () => {
        await assert.rejects(replay(scenario, role), (error) => FAILS[fails].test(error.message));
      });
    }
  }
}
