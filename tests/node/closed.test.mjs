// `peer.closed`: who waits for the end of a connection hears of it, however it ends.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Client, clientSide, connect, folder, joined, pipes } from "./both.mjs";

const { spawnAgent } = clientSide;

/** Whether a promise has been fulfilled by now. */
const isOver = async (promise) => (await Promise.race([promise.then(() => true), pause(20, false)])) === true;

test("an agent that is killed closes the connection, and its sessions are over then", async (t) => {
  const program = join(folder, "closed-idle.mjs");
  writeFileSync(program, 'import { Agent } from "libacp/agent";\nawait new Agent("idle").prompt(() => {}).serve();\n');
  const ended = [];
  const client = new Client("c", "1", { onSessionEnd: (session) => ended.push(session.id) });
  const agent = await spawnAgent([process.execPath, program], client);
  t.after(() => agent.close());
  const session = await agent.newSession(folder);
  assert.equal(await isOver(agent.closed), false);
  agent.process.kill("SIGKILL");
  assert.equal(await agent.closed, undefined);
  assert.deepEqual([agent.open, session.open, ended], [false, false, [session.id]]);
  await assert.rejects(async () => await session.prompt("x"), { name: "AgentEnded", signal: "SIGKILL" });
});

test("close on the one side is the end on the other", async (t) => {
  let client;
  const { peer, served, session } = await joined(t, (turn) => void (client = turn.client));
  await session.prompt("x");
  const [here, there] = [peer.closed, client.closed];
  assert.deepEqual([await isOver(here), await isOver(there)], [false, false]);
  await peer.close();
  await here;
  await there;
  await served;
  assert.deepEqual([peer.open, client.open], [false, false]);
  // Whoever asks later hears the same.
  await peer.closed;
});

test("the end of what the agent says is the end of the connection", async (t) => {
  const ends = pipes();
  const stop = new AbortController();
  const served = new Agent("a").prompt(() => {}).serve(ends[1], { signal: stop.signal });
  const peer = await connect(ends[0], new Client(), { grace: 200 });
  t.after(() => peer.close());
  stop.abort();
  await peer.closed;
  assert.equal(peer.open, false);
  await assert.rejects(served, { name: "AbortError" });
});
