// What an agent that asks for a lot and reads nothing costs its client, and the client's other agents.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Agent, Client, connect, pipes } from "./both.mjs";

// Each answer is 10 MB, so not all of them are waited for here.
const READ = process.env.LIBACP_READ ?? "60";
// Two of the thousand answers wait for the pipe (16 MiB) and one is made. Each stands in memory as bytes, as text and as JSON until
// the collector runs, when it likes.
const FEW = 128;

test("an agent that pipelines reads of a large file and reads no answer costs little", { skip: process.platform !== "linux" }, async (t) => {
  const place = mkdtempSync(join(tmpdir(), "libacp-memory-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const path = join(place, "file");
  writeFileSync(path, "0123456789abcde\n".repeat(625_000));
  const program = new URL("deaf.mjs", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [program, "client", path, "1000", READ], { encoding: "utf8" });
  const { peaks, answers, least, p99, trips } = JSON.parse(stdout);
  t.diagnostic(stdout.trim());
  assert.ok(peaks[0] < FEW, `it grew by ${peaks[0]} MiB while nobody read`);
  assert.ok(peaks[1] < 3 * FEW, `it grew by ${peaks[1]} MiB`);
  assert.ok(answers === Number(READ) && least > 10_000_000, `${answers} answers, the shortest of ${least} bytes`);
  assert.ok(p99[0] < 100, `a neighbour's round trip took ${p99[0]} ms`);
  assert.ok(trips[0] > 100);
});

test("answers of handlers of one's own are held back while nobody reads, and all are given", async (t) => {
  const [ours, theirs] = pipes();
  let [begun, written] = [0, 0];
  const { write } = ours;
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  ours.write = async (bytes) => {
    if (begun > 0) await opened;
    written += bytes.length;
    await write(bytes);
  };
  const files = {
    async readTextFile() {
      begun += 1;
      await null;
      return "x".repeat(1 << 20);
    },
  };
  const agent = new Agent("a", "1");
  let ask;
  const asked = new Promise((resolve) => (ask = resolve));
  agent.prompt(async (turn) => {
    ask(Promise.all(Array.from({ length: 100 }, () => turn.readTextFile("/work/a"))));
    return asked.then(() => {});
  });
  const served = agent.serve(theirs);
  const peer = await connect(ours, new Client("c", "1", { files }), { grace: 200 });
  t.after(async () => {
    await peer.close();
    await served;
  });
  const session = await peer.newSession("/work");
  const turn = session.prompt("x");
  const over = turn.then((result) => result);
  const all = asked;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.ok(begun < 50, `${begun} of 100 were begun`);
  assert.ok(peer.connection.unsent < 20 << 20, `${peer.connection.unsent} bytes wait`);
  open();
  assert.deepEqual((await all).map((text) => text.length), Array(100).fill(1 << 20));
  assert.equal((await over).stopReason, "end_turn");
  assert.equal(begun, 100);
});
