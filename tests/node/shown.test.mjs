// What a peer's text does to the console, and what an answer allows.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Client, RequestError, clientSide, connect, folder, joined, quiet } from "./both.mjs";

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
  const said = quiet(t);
  const client = new Client("c", "1").on("_note", () => {
    throw new Error(`about ${EVIL}\nlibacp: forged`, { cause: EVIL });
  });
  const lines = [{ id: EVIL, method: `x${EVIL}` }, { method: `y${EVIL}` }, { id: 1, method: "fs/read_text_file", params: { [EVIL]: EVIL } },
    { method: "_note", params: {} }];
  const peer = await connect(saying(lines), client, { grace: 100 });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await peer.close();
  const all = said();
  assert.ok(all.length >= 3, all.join("\n"));
  for (const line of all) {
    assert.ok(!CONTROL.test(line), JSON.stringify(line));
    assert.ok(!line.includes("\nlibacp: forged"), line);
  }
  assert.equal(printable(`a\tb\n${"\x1b"}[2K\u202e`), "a\tb\n\\x1b[2K\\u202e");
});

test("what is wrong again and again is written a few times", async (t) => {
  const said = quiet(t);
  let heard = 0;
  const client = new Client("c", "1", { onViolation: () => void (heard += 1) });
  const lines = Array.from({ length: 1000 }, () => ({ method: "nothing/known" })).concat({ jsonrpc: "1.0", id: 4, method: "x" });
  const peer = await connect(saying(lines), client, { grace: 100 });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await peer.close();
  const all = said();
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

test("nothing that the library logs goes to standard output", () => {
  // A reminder is advice; what the peer did is a violation; what a handler throws is an error.
  const program = join(folder, "logging.mjs");
  writeFileSync(program, `
import { Agent, streams } from "libacp/agent";
import { Client, connect } from "libacp/client";
const [there, back] = [new TransformStream(), new TransformStream()];
const agent = new Agent("a", "1", { reminder: 20 })
  .on("_slow", () => new Promise((resolve) => setTimeout(() => resolve({}), 200)))
  .on("_broken", () => { throw new Error("broken"); });
const served = agent.serve(streams(there.readable, back.writable));
const peer = await connect(streams(back.readable, there.writable), new Client());
await peer.request("_slow");
await peer.request("_broken").catch(() => {});
const wrong = '{"jsonrpc":"2.0","method":"nothing/known"}\\n';
peer.connection.receive(wrong);
await peer.request("_slow");
await peer.close();
await served;
`);
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.match(stderr, /^libacp: advice: /m);
  assert.match(stderr, /^libacp: RPC-\d+: nothing\/known/m);
  assert.match(stderr, /^libacp: _broken: its handler has failed/m);
});

/** What somebody who waits for a call catches. */
async function failure(call) {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

test("an error of the peer's says what its data says, without steering a terminal and without end", async (t) => {
  const answers = {
    _details: [{ details: "no such model" }, "Internal error: no such model"],
    _message: [{ message: "no such model" }, "Internal error: no such model"],
    _text: ["no such model", "Internal error: no such model"],
    _same: [{ details: "Internal error" }, "Internal error"],
    _other: [{ details: { deep: 1 }, message: 5 }, "Internal error"],
    _none: [undefined, "Internal error"],
    _evil: [{ details: `a${EVIL}\nb` }, /^Internal error: a\\x1b\]52;c;cm0=\\x07[^\x1b]*\nb$/],
    _slow: [{ details: `${"a".repeat(1 << 21)}b` }, /^Internal error: a{1000}…$/],
    _long: [{ details: "\u{1f980}".repeat(1 << 16) }, /^Internal error: (?:\u{1f980}){500}…$/u],
  };
  const agent = new Agent("a", "1");
  for (const [method, [data]] of Object.entries(answers)) {
    agent.on(method, () => {
      throw new RequestError(-32603, "Internal error", data);
    });
  }
  const { peer } = await joined(t, () => {}, { agent });
  for (const [method, [data, message]] of Object.entries(answers)) {
    const error = await failure(() => peer.request(method));
    assert.equal(error.name, "PeerError");
    const said = error.message.slice(`${method}: `.length, -" (-32603)".length);
    assert.equal(error.message, `${method}: ${said} (-32603)`);
    if (typeof message === "string") assert.equal(said, message, method);
    else assert.match(said, message);
    assert.equal(String(error), `PeerError: ${error.message}`);
    assert.ok(error.stack.startsWith(String(error)));
    assert.match(error.stack, /shown\.test\.mjs/);
    assert.ok(!CONTROL.test(error.message), method);
    assert.deepEqual([error.error.code, error.error.message, error.error.data], [-32603, "Internal error", data]);
  }
});

test("an error of the peer's cannot keep the host busy", async (t) => {
  const [message, details] = ["a".repeat(1 << 22), `${"a".repeat(1 << 20)}b${"a".repeat(1 << 20)}`];
  const agent = new Agent("a", "1").on("_slow", () => {
    throw new RequestError(-32603, message, { details });
  });
  const { peer } = await joined(t, () => {}, { agent });
  const before = process.cpuUsage();
  const error = await peer.request("_slow").catch((error) => error);
  assert.ok(error.message.length < 3000);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 5_000_000, `${user / 1e6} s`);
});

test("an error of the peer's without a message, or with one that is none, is no crash", async () => {
  for (const error of [{ code: -32603 }, { code: -32603, message: null }, { code: -32603, message: 5, data: null }, "no", null]) {
    let send;
    const said = [];
    async function* readable() {
      for (;;) yield await new Promise((resolve) => (send = resolve));
    }
    const transport = {
      readable: readable(),
      write(bytes) {
        const { id, method } = JSON.parse(Buffer.from(bytes).toString().split("\n")[0]);
        said.push(method);
        const answer = method === "initialize" ? { result: { protocolVersion: 1 } } : { error };
        send(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
      },
      close() {},
    };
    const peer = await connect(transport, new Client("c", "1", { log: false }), { grace: 50 });
    const failed = await peer.request("_x", {}, { timeout: 200 }).catch((error) => error);
    assert.match(failed.name, /PeerError|NoResult/);
    assert.equal(typeof failed.message, "string");
    await peer.close();
  }
});
