// What a peer's text does to the console, and what an answer allows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client, clientSide, connect, folder, joined, quiet } from "./both.mjs";

const { PermissionRequest, allowAll, printable } = clientSide;
const EVIL = "\x1b]52;c;cm0=\x07\x9b2K\r\u202e\u2028\u2066\x7f\0";
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** An agent that says lines after its greeting, and nothing else. */
function saying(lines) {
  let send;
  const answered = new Promise((resolve) => (send = resolve));
  async function* readable() {
    yield await answered;
    yield `${lines.map((line) => JSON.stringify({ jsonrpc: "2.0", ...line })).join("\n")}\n`;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return {
    readable: readable(),
    write(bytes) {
      const { id } = JSON.parse(Buffer.from(bytes).toString().split("\n")[0]);
      send(`${JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } })}\n`);
    },
    close() {},
  };
}

test("no control character of a peer's reaches the console", async (t) => {
  const said = ["debug", "warn", "error"].map((method) => quiet(t, method));
  const client = new Client("c", "1").on("_note", () => {
    throw new Error(`about ${EVIL}\nlibacp: forged`, { cause: EVIL });
  });
  const lines = [{ id: EVIL, method: `x${EVIL}` }, { method: `y${EVIL}` }, { id: 1, method: "fs/read_text_file", params: { [EVIL]: EVIL } },
    { method: "_note", params: {} }];
  const peer = await connect(saying(lines), client, { grace: 100 });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await peer.close();
  const all = said.flatMap((each) => each());
  assert.ok(all.length >= 3, all.join("\n"));
  for (const line of all) {
    assert.ok(!CONTROL.test(line), JSON.stringify(line));
    assert.ok(!line.includes("\nlibacp: forged"), line);
  }
  assert.equal(printable(`a\tb\n${"\x1b"}[2K\u202e`), "a\tb\n\\x1b[2K\\u202e");
});

test("what is wrong again and again is written a few times", async (t) => {
  const said = ["debug", "warn"].map((method) => quiet(t, method));
  let heard = 0;
  const client = new Client("c", "1", { onViolation: () => void (heard += 1) });
  const lines = Array.from({ length: 1000 }, () => ({ method: "nothing/known" })).concat({ jsonrpc: "1.0", id: 4, method: "x" });
  const peer = await connect(saying(lines), client, { grace: 100 });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await peer.close();
  const all = said.flatMap((each) => each());
  assert.ok(heard >= 1000);
  assert.ok(all.length < 20, `${all.length} lines`);
  assert.ok(all.some((line) => line.includes("more of")), all.join("\n"));
});

test("once is never widened to always", async (t) => {
  const option = (kind) => ({ optionId: kind, name: kind, kind });
  const request = (...kinds) => new PermissionRequest({}, { toolCall: {}, options: kinds.map(option) });
  assert.equal(request("allow_always", "allow_once").allow(), "allow_once");
  assert.equal(request("allow_always", "reject_once").allow(), undefined);
  assert.equal(request("allow_always", "reject_once").allowAlways(), "allow_always");
  assert.equal(allowAll(request("allow_always")), "allow_always");
  const outcomes = [];
  const client = new Client("c", "1", { permission: (asked) => asked.allow() });
  const { session } = await joined(t, async (turn) => {
    const call = await turn.toolCall("T", { status: "pending" });
    outcomes.push((await call.askPermission([option("allow_always"), option("reject_once")])).allowed);
    await call.complete();
  }, { client });
  await session.prompt("x");
  assert.deepEqual(outcomes, [false]);
});

test("the example prints what an agent says without its control characters", () => {
  const source = readFileSync(new URL("../../examples/node/short-client.mjs", import.meta.url), "utf8");
  writeFileSync(join(folder, "short-client.mjs"), source);
  writeFileSync(join(folder, "evil.mjs"), `
    import { Agent } from "libacp/agent";
    const evil = ${JSON.stringify(EVIL)};
    const agent = new Agent("evil", "1");
    agent.prompt(async (turn) => {
      await turn.message("said " + evil);
      await turn.plan(["plan " + evil]);
      await turn.toolCall("title " + evil, { id: "i" + evil, status: "pending" }, (call) => call.askPermission());
    });
    await agent.serve();
  `);
  const args = [join(folder, "short-client.mjs"), "x", "--", process.execPath, join(folder, "evil.mjs")];
  const said = execFileSync(process.execPath, args, { encoding: "utf8", cwd: folder });
  assert.match(said, /said .*\n?.*title /s);
  assert.ok(!CONTROL.test(said), JSON.stringify(said));
});
