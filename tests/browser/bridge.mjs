// The bridge between page and agent, tried by those who mean harm: real sockets and real agents, no browser.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { get } from "node:http";
import { connect } from "node:net";
import { WebSocket } from "ws";
import { BRIDGE, pause, register, runs, start, store, until } from "./served.mjs";

// What a process costs is read where Linux says it.
const LINUX = existsSync("/proc/self/status");
const MIB = 2 ** 20;
const TICKS = 100;
// For what only takes long where the machine has much else to do.
const PATIENCE = 60_000;
// The same for agents that end without grace, which would be a minute.
const SOON = 20_000;

const status = (url, headers = {}) =>
  new Promise((resolve, reject) => get(url, { headers }, (answer) => resolve(answer.resume().statusCode)).on("error", reject));

/** The page's socket, opened as the page does. */
function opened(address) {
  const { origin } = new URL(address);
  const socket = new WebSocket(new URL("agent", address.replace(/^http/, "ws")), { origin });
  const closed = new Promise((resolve) => socket.on("close", (code, reason) => resolve(String(reason))));
  socket.on("error", () => {});
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve({ socket, closed }));
    socket.once("error", reject);
  });
}

/** Sockets that send something and wait, which are opened again when they are closed, until `end` is called. */
function crowd(address, count, text) {
  const { port } = new URL(address);
  const sockets = new Set();
  let over = false;
  const enter = () => {
    if (over) return;
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket) && setTimeout(enter, 200)).resume();
  };
  for (let one = 0; one < count; one += 1) enter();
  return () => {
    over = true;
    for (const socket of sockets) socket.destroy();
  };
}

const limited = (descriptors) => ["sh", "-c", `ulimit -n ${descriptors}; exec "$0" "$@"`, ...BRIDGE];
/** Says who it is by a file, and does then what is said. */
const shell = (folder, what) => ["sh", "-c", `: > "$0/$$"; ${what}`, folder];

/** What a client says first, and an agent that answers it and then does something. */
const INITIALIZE = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } });
const ANSWER = JSON.stringify({ jsonrpc: "2.0", id: 0, result: { protocolVersion: 1 } });
const answers = (then) => `read -r line; printf '%s\\n' '${ANSWER}'; ${then}`;
const notice = (size) => JSON.stringify({ jsonrpc: "2.0", method: "_tests/notice", params: { text: "x".repeat(size) } });

/** The page's socket, once the agent has answered. */
async function initialized(address) {
  const opening = await opened(address);
  const answer = new Promise((resolve) => opening.socket.once("message", resolve));
  opening.socket.send(INITIALIZE);
  await Promise.race([answer, opening.closed]);
  return opening;
}

/** The most memory that the bridge has taken, in bytes. */
function peak({ bridge }) {
  const [, kib] = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${bridge.pid}/status`, "latin1"));
  return kib * 1024;
}

/** The page is served, maybe not at the first try. */
async function serves({ address, bridge, said }, patience = PATIENCE) {
  await until(`the page is served; ${said}`, () => {
    assert.equal(bridge.exitCode, null, "the bridge has ended");
    return status(address).then((code) => code === 200, () => false);
  }, patience);
}

export const bridgeTests = {
  async "the bridge serves nobody else"() {
    const { bridge, address } = await start();
    const { origin, host } = new URL(address);
    const agent = new URL("agent", address);
    const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==" };
    assert.equal(await status(address), 200);
    assert.equal(await status(`${origin}/`), 404);
    const [, token] = new URL(address).pathname.split("/");
    // Differs from the token whatever its first digit is.
    const another = (token[0] === "0" ? "1" : "0") + token.slice(1);
    assert.equal(await status(`${origin}/${token}/`), 200);
    assert.equal(await status(`${origin}/${another}/`), 404);
    assert.equal(await status(address, { Host: `evil.example:${new URL(address).port}` }), 404);
    assert.equal(await status(`${address}..%2f..%2fCargo.toml`), 404);
    assert.equal(await status(agent, { ...upgrade, Origin: "http://evil.example" }), 403);
    assert.equal(await status(agent, upgrade), 403);
    // Files and commands are only there where they were asked for.
    assert.equal(await status(new URL("machine", address), { ...upgrade, Origin: origin }), 403);
    // As a browser would not send it: a path that climbs, a second host, a coding that is refused.
    const { pathname, port } = new URL(address);
    const raw = (path, ...headers) =>
      new Promise((resolve) => {
        const lines = [`GET ${pathname}${path} HTTP/1.1`, ...headers, "Connection: close", "", ""];
        const socket = connect(Number(port), "127.0.0.1", () => socket.write(lines.join("\r\n")));
        let text = "";
        socket.on("data", (data) => (text += data.toString("latin1"))).on("close", () => resolve(text));
      });
    assert.match(await raw("../../Cargo.toml", `Host: ${host}`), /^HTTP\/1.1 404/);
    assert.match(await raw("", `Host: ${host}`, "Host: evil.example"), /^HTTP\/1.1 404/);
    assert.match(await raw("", "Host: evil.example", `Host: ${host}`), /^HTTP\/1.1 404/);
    assert.match(await raw(""), /^HTTP\/1.1 404/);
    // Over HTTP, too: a page of another origin, and a host that is another's.
    const post = (headers) =>
      fetch(agent, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }, body: INITIALIZE }).then((answer) => answer.status);
    assert.equal(await post({ origin: "http://evil.example" }), 403);
    assert.equal(await post({ origin }), 200);
    assert.equal(await status(new URL("agent", address), { Origin: "http://evil.example" }), 403);
    assert.match(await raw("app.js", `Host: ${host}`, "Accept-Encoding: gzip, br"), /\r\ncontent-encoding: br\r\n/i);
    assert.match(await raw("app.js", `Host: ${host}`, "Accept-Encoding: br;q=0, gzip;q=0.5"), /\r\ncontent-encoding: gzip\r\n/i);
    assert.doesNotMatch(await raw("app.js", `Host: ${host}`, "Accept-Encoding: br;q=0.0, gzip; q=0"), /content-encoding/i);
    // What a document may do is said with each document.
    assert.match(await raw("", `Host: ${host}`), /default-src 'none';.*trusted-types 'none'/);
    bridge.kill();
  },

  async "what ends the command ends its server"() {
    const other = await start(undefined, ["target/debug/xtask", "web", "--cwd", store]);
    const { port } = new URL(other.address);
    const refused = () =>
      new Promise((resolve) => {
        const socket = connect(Number(port), "127.0.0.1", () => resolve(socket.destroy() === undefined));
        socket.on("error", () => resolve(true));
      });
    assert.equal(await refused(), false);
    // A process that is killed cannot end its children, so this only works if the command itself is the server.
    other.bridge.kill("SIGKILL");
    await other.ended;
    assert.equal(await refused(), true);
  },

  async "80 idle connections at a limit of 64 descriptors keep nobody out"() {
    const served = await start(undefined, limited(64));
    const end = crowd(served.address, 80, "");
    await pause(500);
    await serves(served);
    const { socket } = await opened(served.address);
    socket.close();
    end();
    served.bridge.kill();
  },

  async "a server without a descriptor left goes on"() {
    // Fewer than the connections that it would take: here the system itself says that there are too many open files.
    const served = await start(undefined, limited(16));
    const end = crowd(served.address, 80, "GET ");
    await pause(500);
    assert.equal(served.bridge.exitCode, null, served.said);
    end();
    await serves(served);
    assert.match(served.said, /too many open files/i);
    assert.ok(served.said.split("\n").length < 20, "each failure is a line");
    served.bridge.kill();
  },

  async "200 half heads cost little"() {
    if (!LINUX) return;
    const served = await start();
    const cost = () => {
      const stat = readFileSync(`/proc/${served.bridge.pid}/stat`, "latin1").split(") ")[1].split(" ");
      return (Number(stat[11]) + Number(stat[12])) / TICKS;
    };
    const end = crowd(served.address, 200, `GET / HTTP/1.1\r\n${`X: ${"x".repeat(300)}\r\n`.repeat(49)}`);
    await pause(1000);
    const before = cost();
    await pause(3000);
    const used = (cost() - before) / 3;
    await serves(served);
    end();
    served.bridge.kill();
    assert.ok(used < 0.3, `${Math.round(used * 100)} % of a processor`);
  },

  async "a line without an end is dropped, and costs little"() {
    const { folder, ids } = register();
    const served = await start(shell(folder, answers("head -c 209715200 /dev/zero | tr '\\0' x; echo; exec cat")));
    const { socket } = await initialized(served.address);
    await until("the line is dropped", () => /RPC-21: a line is over the limit/.test(served.said), PATIENCE);
    // What follows arrives.
    const heard = new Promise((resolve) => socket.on("message", (text) => resolve(String(text))));
    socket.send(notice(1));
    assert.match(await heard, /_tests.notice/);
    if (LINUX) assert.ok(peak(served) < 160 * MIB, `${peak(served)} bytes of memory`);
    const [agent] = ids();
    socket.close();
    await until("the agent has ended", () => !runs(agent), SOON);
    served.bridge.kill();
  },

  async "what the page says and the agent does not read is bounded"() {
    const { folder, ids } = register();
    const served = await start(shell(folder, answers("exec sleep 600")));
    const { socket } = await initialized(served.address);
    for (let message = 0; message < 20; message += 1) socket.send(notice(4 * MIB));
    await pause(1000);
    // The rest waits where it is.
    assert.ok(socket.bufferedAmount > 40 * MIB, `${socket.bufferedAmount} bytes wait`);
    if (LINUX) assert.ok(peak(served) < 60 * MIB, `${peak(served)} bytes of memory`);
    const [agent] = ids();
    assert.ok(runs(agent));
    served.bridge.kill();
    await until("the agent has ended", () => !runs(agent), SOON);
  },

  async "an agent that does not read ends with its page"() {
    const { folder, ids } = register();
    // One has a child, which does not read either.
    const child = '[ "$(ls "$0" | wc -l)" = 1 ] && { sleep 600 & : > "$0/$!"; wait; }';
    const served = await start(shell(folder, answers(`${child}; exec sleep 600`)));
    const pages = [];
    for (let page = 0; page < 3; page += 1) {
      const opening = await initialized(served.address);
      opening.socket.send(notice(MIB));
      pages.push(opening);
      await until("the agent runs", () => ids().length >= page + 2);
    }
    const agents = ids();
    assert.equal(agents.length, 4);
    assert.ok(agents.every(runs));
    // Now all that was said has come to where nobody reads it.
    await pause(500);
    // Leaves as a page does that is closed, as one whose browser crashes, and as one that only stops speaking.
    pages[0].socket.close();
    pages[1].socket.terminate();
    pages[2].socket._socket.end();
    await until("no agent is left", () => !agents.some(runs), SOON);
    served.bridge.kill();
  },

  async "an agent that does not read ends with the bridge, also when that is killed"() {
    for (const signal of ["SIGTERM", ...(LINUX ? ["SIGKILL"] : [])]) {
      const { folder, ids } = register();
      const served = await start(shell(folder, answers("exec sleep 600")));
      const { socket } = await initialized(served.address);
      socket.send(notice(MIB));
      await until("the agent runs", () => ids().length === 1);
      const [agent] = ids();
      await pause(200);
      served.bridge.kill(signal);
      // Nobody is there to ask an agent whose server was killed: after a second it is told to end.
      await until(`${signal} leaves no agent`, () => !runs(agent), SOON);
    }
  },

  async "there are 16 agents at most"() {
    const { folder, ids } = register();
    const served = await start(shell(folder, answers("exec cat")));
    const pages = [];
    for (let page = 0; page < 16; page += 1) pages.push(await initialized(served.address));
    await assert.rejects(opened(served.address), /503/);
    assert.equal(ids().length, 16);
    pages[0].socket.close();
    await until("one has gone, and there is room again", () => initialized(served.address).then(() => true, () => false));
    served.bridge.kill();
  },
};
