// When the module's memory is full: who asks for more is told, and nobody else notices.
import assert from "node:assert/strict";
import { test } from "node:test";

let memory;
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...parts) {
    super(...parts);
    memory ??= this.exports.memory;
  }
};
const { LimitMisuse } = await import(process.env.LIBACP_ENTRY);
const { carry, sent, withSession } = await import("./pair.mjs");

const PAGE = 64 * 1024;
const MOST = 65_536;

/** Leaves the module with what it has. Pages that nobody touches cost nothing. */
function fill() {
  for (let step = MOST; step >= 1; step = Math.floor(step / 2)) {
    while (memory.buffer.byteLength / PAGE + step <= MOST) memory.grow(step);
  }
  assert.throws(() => memory.grow(1), RangeError);
}

test("when its memory is full, one is refused, and the others go on", () => {
  const reads = { clientCapabilities: { fs: { readTextFile: true } } };
  const [greedy, modest] = [withSession(reads), withSession(reads)];
  const turn = { sessionId: "s", prompt: [{ type: "text", text: "hi" }] };
  const prompts = [greedy, modest].map(({ client, agent }) => {
    client.request("session/prompt", turn);
    return carry(client, agent)[0];
  });
  const content = "0123456789abcde\n".repeat(625_000);
  const read = ({ client, agent }) => {
    agent.request("fs/read_text_file", { sessionId: "s", path: "/work/a" });
    return carry(agent, client)[0];
  };
  // There is some memory that was needed once and is free now, as there is in a process that has run for a while.
  const early = withSession(reads);
  early.client.request("session/prompt", turn);
  carry(early.client, early.agent);
  early.client.respond(read(early), { content });
  early.client.free();
  early.agent.free();
  fill();

  let refused;
  const asked = Array.from({ length: 100 }, () => read(greedy));
  let taken = 0;
  for (const request of asked) {
    try {
      greedy.client.respond(request, { content });
      taken += 1;
    } catch (error) {
      refused ??= error;
    }
    // Each time, the other one can do what it always does.
    modest.client.respond(read(modest), { content: "little" });
    const [answer] = carry(modest.client, modest.agent);
    assert.deepEqual(answer.result, { content: "little" });
  }
  assert.ok(taken < asked.length && refused, `${taken} of 10 MB were taken`);
  assert.ok(refused instanceof LimitMisuse || refused instanceof RangeError, String(refused));
  assert.match(String(refused), /memory/);

  // The request is still there, and has its answer.
  const open = greedy.client.unanswered().map(({ id }) => id);
  assert.equal(open.length, asked.length - taken);
  for (const { id } of greedy.client.unanswered()) greedy.client.respondError(id, { code: -32603, message: "no memory" });
  const answers = sent(greedy.client).trimEnd().split("\n");
  assert.equal(answers.length, asked.length);
  assert.ok(answers.every((answer) => Object.hasOwn(JSON.parse(answer), "id")));
  modest.agent.respond(prompts[1], { stopReason: "end_turn" });
  assert.equal(carry(modest.agent, modest.client)[0].result.stopReason, "end_turn");
});
