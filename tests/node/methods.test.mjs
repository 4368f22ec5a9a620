// The table of methods against the types, which the specification's schema makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { folder } from "./both.mjs";

const dist = join(folder, "node_modules/libacp/dist");
const { Connection } = await import(process.env.LIBACP_ENTRY);
const { DRAFTS, GATES, SERVED, SHOWN } = await import(pathToFileURL(join(dist, "methods.js")));
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

test("the capability that speaks of each request is the one that the connection asks for", () => {
  const ends = ["client", "agent"].map((role) => new Connection({ role, drafts: DRAFTS }));
  const carry = (from, to) => {
    const bytes = from.transmit();
    from.consume(bytes.length);
    to.receive(bytes);
    return [...to.events()];
  };
  const [client, agent] = ends;
  client.request("initialize", { clientCapabilities: {} });
  for (const event of carry(client, agent)) if (event.type === "request") agent.respond(event, { agentCapabilities: {} });
  carry(agent, client);
  let gated = 0;
  for (const [sender, from, role] of [["Client", client, "agent"], ["Agent", agent, "client"]]) {
    for (const [method] of declared(`${sender}Requests`)) {
      const [, needed] = from.whyNot(method)?.message.match(/needs the capability ([\w.]+)/) ?? [];
      assert.equal(GATES[method], needed, `${method} of ${role}s`);
      gated += needed === undefined ? 0 : 1;
    }
  }
  assert.equal(gated, Object.keys(GATES).length);
});
