// The host vectors: what the high levels of every language do alike.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { check } from "./hosts/format.mjs";
import * as agent from "./hosts/agent.mjs";
import * as client from "./hosts/client.mjs";
import { Connection } from "./pair.mjs";

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

/** The params of the updates that an agent writes. */
function written(said, framing, merges) {
  const connection = new Connection({ role: "agent", framing, handlers: [] });
  connection.mergeChunks(merges);
  const opened = { cwd: "/work", mcpServers: [] };
  const asked = [
    ["initialize", { protocolVersion: 1 }, {}],
    ["session/new", opened, { sessionId: "s" }],
    ["session/new", opened, { sessionId: "t" }],
  ];
  for (const [id, [method, params, result]] of asked.entries()) {
    connection.receive(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + (framing === "lines" ? "\n" : ""));
    connection.respond(connection.pollEvent(), result);
  }
  const found = [];
  const take = () => {
    while (connection.unsent > 0) {
      const bytes = connection.transmit();
      connection.consume(bytes.length);
      found.push(...new TextDecoder().decode(bytes).split("\n").filter((line) => line !== ""));
    }
  };
  take();
  for (const step of said) {
    if (step === "taken") take();
    else connection.notify("session/update", step);
  }
  take();
  const frames = found.map((line) => JSON.parse(line));
  return frames.filter(({ method }) => method === "session/update").map(({ params }) => params);
}

for (const { name, said, written: expected } of read("merging.json")) {
  test(`merging.json: ${name}`, () => {
    for (const framing of ["lines", "messages"]) {
      assert.deepEqual(written(said, framing, true), expected);
      assert.deepEqual(written(said, framing, false), said.filter((step) => step !== "taken"));
    }
  });
}
