import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, spawnAgent } from "libacp/client";

test("it answers in capitals, and keeps to the rules", async (t) => {
  const broken = [];
  const client = new Client("test", "1.0", { onViolation: (violation) => broken.push(violation) });
  const agent = await spawnAgent(["node", "agent.mjs"], client);
  t.after(() => agent.close());

  const session = await agent.newSession(process.cwd());
  const turn = session.prompt("hello");
  assert.equal(await turn.readText(), "HELLO");
  assert.equal(turn.stopReason, "end_turn");
  assert.deepEqual(broken.map(({ rule, pointer, message }) => `${rule} ${pointer}: ${message}`), []);
});
