// The table of methods against the types, which the specification's schema makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "./both.mjs";

const dist = join(folder, "node_modules/libacp/dist");
const { DRAFTS, SERVED, SHOWN } = await import(pathToFileURL(join(dist, "methods.js")));
const types = readFileSync(join(dist, "types.v1.d.ts"), "utf8");

/** The methods of an interface, with their drafts. */
function declared(name) {
  const [, body] = types.match(new RegExp(`^export interface ${name} \\{\n([^]*?)^\\}`, "m"));
  const found = [...body.matchAll(/(?:@experimental Draft `(\w+)`\.\n {3}\*\/\n|\*\/\n) {2}"([^"]+)":/g)];
  return found.map(([, draft = "", method]) => [method, draft]).filter(([method]) => method !== "$/cancel_request");
}

test("each side serves the methods that the other one sends, and no others", () => {
  for (const [role, sender] of [["agent", "Client"], ["client", "Agent"]]) {
    const expected = new Map(["Requests", "Notifications"].flatMap((kind) => declared(`${sender}${kind}`)));
    assert.ok(expected.size > 10);
    assert.deepEqual(new Map([...SERVED[role]].sort()), new Map([...expected].sort()));
  }
});

test("the drafts are those that a connection takes", () => {
  const index = readFileSync(join(dist, "index.d.ts"), "utf8");
  const [, body] = index.match(/export type Draft =\n([^;]*);/);
  assert.deepEqual(DRAFTS, [...body.matchAll(/"(\w+)"/g)].map(([, name]) => name));
});

test("what a handler shows is of a method that there is", () => {
  for (const method of Object.keys(SHOWN)) assert.ok(SERVED.agent.has(method) || SERVED.client.has(method), method);
});
