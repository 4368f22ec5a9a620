// Asks an installed package what its users would: run by `cargo xtask release npm` with the version.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";

const folder = "node_modules/libacp";
const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
assert.equal(manifest.version, process.argv[2]);
assert.equal(manifest.dependencies, undefined, "it depends on something");
for (const name of ["repository", "homepage", "bugs", "license", "description"]) assert.ok(manifest[name], name);

/** The files that an entry names under any condition. */
const files = (entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(files));
for (const [name, entry] of Object.entries(manifest.exports)) {
  for (const file of files(entry)) assert.ok(existsSync(`${folder}/${file}`), `${name}: ${file}`);
  if (files(entry).some((file) => file.endsWith(".js"))) assert.ok(entry.types, `${name} has no types`);
}

const { Connection } = await import("libacp");
const client = new Connection({ role: "client" });
const agent = new Connection({ role: "agent" });
client.request("initialize", {});
agent.receive(client.transmit());
for (const event of agent.events()) agent.respond(event.id, { agentInfo: { name: "a", version: "1" } });
client.receive(agent.transmit());
const answers = [...client.events()].filter((event) => event.type === "response");
assert.deepEqual(answers.map((event) => event.method), ["initialize"]);
assert.equal(client.whyNot("session/load").rule, "SESS-09");
for (const name of ["agent", "client", "rules"]) assert.ok(Object.keys(await import(`libacp/${name}`)).length > 0, name);
