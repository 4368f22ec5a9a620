// The remote transports: our client with our server over HTTP/1.1, HTTP/2 and WebSocket; who is refused. `cargo xtask demo
// --remote` has the other languages and the official SDKs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, RequestError, all, folder, texts } from "./both.mjs";
import { replay } from "./remote.mjs";
import {
  HttpClient, HttpServer, WAYS, WebSocket, connect, listener, nodeHandler, ours, sdkAgent, sdkServer, storyteller,
} from "./faraway.mjs";

const vectors = fileURLToPath(new URL("../http", import.meta.url));
const files = Object.fromEntries(readdirSync(vectors).map((name) => [name, readFileSync(join(vectors, name), "utf8")]));

test("the vectors under Node", () => {
  const { count, failed } = replay({ HttpServer, HttpClient }, files);
  assert.deepEqual(failed, []);
  assert.ok(count > 200, `${count} scenarios`);
  console.log(`note: vectors of the remote transports replayed in JavaScript: ${count}`);
});

test("the vectors in the build for browsers", () => {
  // In a process of its own: the module is one, whichever entry has loaded it.
  const script = `
    import { readFileSync } from "node:fs";
    import * as browser from "./node_modules/libacp/dist/http.browser.js";
    import { replay } from ${JSON.stringify(new URL("remote.mjs", import.meta.url).href)};
    try { new browser.HttpClient(); process.exit(1); } catch (error) { if (!/init/.test(error.message)) throw error; }
    await browser.init(readFileSync("node_modules/libacp/dist/libacp_http_bg.wasm"));
    console.log(JSON.stringify(replay(browser, JSON.parse(readFileSync(0, "utf8")))));`;
  writeFileSync(join(folder, "remote-browser.mjs"), script);
  const how = { cwd: folder, encoding: "utf8", input: JSON.stringify(files), maxBuffer: 1 << 26 };
  const { count, failed } = JSON.parse(execFileSync(process.execPath, ["remote-browser.mjs"], how));
  assert.deepEqual(failed, []);
  assert.ok(count > 200, `${count} scenarios`);
});

/** The whole conversation; what was seen of it. */
async function converse(agent, { updates, violations }) {
  const seen = {};
  const session = await agent.newSession("/work");
  seen.echo = texts(await all(session.prompt("hello")));
  seen.ask = texts(await all(session.prompt("ask")));
  const waiting = session.prompt("wait");
  for await (const { content } of waiting) if (content?.text === "waiting") await waiting.cancel();
  seen.cancel = waiting.stopReason;
  const other = await agent.newSession("/other");
  seen.other = texts(await all(other.prompt("second")));
  const loading = agent.loadSession(session.id, "/work");
  seen.load = texts(await all(loading));
  seen.after = texts(await all((await loading.session).prompt("again")));
  await agent.deleteSession(other.id);
  seen.sessions = [...agent.sessions.keys()].length;
  seen.updates = updates;
  seen.violations = violations;
  return seen;
}

const WHOLE = {
  echo: ["hello"],
  ask: ["answered allow_once"],
  cancel: "cancelled",
  other: ["second"],
  load: ["hello", "answered allow_once", "waiting"],
  after: ["again"],
  sessions: 1,
  updates: [],
  violations: [],
};

for (const [name, way] of Object.entries(WAYS)) {
  test(`our client and our server over ${name}`, async (t) => {
    const { agent, stories } = storyteller();
    const wrong = [];
    const server = await ours(t, agent, { http2: name === "http/2", onViolation: (report) => wrong.push(report), onError: (error) => wrong.push(error) });
    const heard = listener();
    const remote = await connect(server.url, heard.client, { ...way(t), onTransport: heard.onTransport });
    assert.deepEqual(await converse(remote, heard), WHOLE);
    assert.deepEqual(heard.events.map(({ type, carrier }) => [type, carrier]), [
      ["connecting", name === "websocket" ? "websocket" : "http"],
      ["connected", name === "websocket" ? "websocket" : "http"],
    ]);
    assert.equal(server.service.connections, 1);
    await remote.close();
    await remote.closed;
    for (let tries = 0; server.service.connections > 0 && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(server.service.connections, 0);
    assert.deepEqual(wrong, []);
    assert.equal(stories.size, 1);
  });
}

/** A plain request with any headers. */
function plain(url, { method = "POST", headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const request = ask(url, { method, headers }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", reject).end(body);
  });
}

const HELLO = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
const JSON_TYPE = { "content-type": "application/json" };

/** What a handshake with these headers gets. */
function handshake(url, headers) {
  const { host, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = ask(`http://${host}${pathname}`, {
      headers: { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", ...headers },
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    request.on("response", (response) => {
      response.resume();
      resolve(response);
    });
    request.on("error", reject).end();
  });
}

test("foreign hosts and origins are refused, also for sockets", async (t) => {
  const { agent } = storyteller();
  const rules = [];
  const { url, service } = await ours(t, agent, { origins: ["https://editor.example.com"], onViolation: ({ rule }) => rules.push(rule) });
  const post = (headers) => plain(url, { headers: { ...JSON_TYPE, ...headers }, body: HELLO });
  for (const ask of [post, (headers) => handshake(url, headers).then(({ statusCode }) => ({ status: statusCode }))]) {
    assert.equal((await ask({ host: "evil.example" })).status, 421);
    assert.equal((await ask({ origin: "http://evil.example" })).status, 403);
    assert.equal((await ask({ origin: "null" })).status, 403);
  }
  assert.deepEqual(rules, ["HTTP-24", "HTTP-23", "HTTP-23", "HTTP-24", "HTTP-23", "HTTP-23"]);
  assert.equal(service.connections, 0);
  const { status, headers } = await post({ origin: "https://editor.example.com" });
  assert.deepEqual([status, headers["access-control-allow-origin"]], [200, "https://editor.example.com"]);
  const opened = await handshake(url, { origin: "https://editor.example.com" });
  assert.equal(opened.statusCode, 101);
  assert.match(opened.headers["acp-connection-id"], /^[0-9a-f]{32}$/);
});

test("what the SDK's server lets through, as its node-adapter.js and server.js look at neither header", async (t) => {
  const { make } = sdkAgent();
  const url = await sdkServer(t, make);
  assert.equal((await handshake(url, { origin: "http://evil.example" })).statusCode, 101);
  for (const foreign of [{ origin: "http://evil.example" }, { host: "evil.example" }]) {
    assert.equal((await plain(url, { headers: { ...JSON_TYPE, ...foreign }, body: HELLO })).status, 200);
  }
});

test("a token, and other credentials in the middle", async (t) => {
  const { agent } = storyteller();
  const { url } = await ours(t, agent, { token: "s3cret" });
  const asked = [];
  const heard = listener();
  const authorize = ({ status, challenge }) => {
    asked.push([status, challenge]);
    return { authorization: "Bearer s3cret" };
  };
  for (const way of [{ transport: "http" }, { transport: "websocket", WebSocket }]) {
    const remote = await connect(url, heard.client, { ...way, authorize });
    assert.deepEqual(texts(await all((await remote.newSession("/")).prompt("x"))), ["x"]);
    await remote.close();
  }
  assert.deepEqual(asked.map(([status]) => status), [401, 401]);
  await assert.rejects(connect(url, heard.client, { transport: "http" }), ({ outcome, cause }) => outcome === "closed" && cause.name === "RemoteError");
  await assert.rejects(connect(url, heard.client, { transport: "http", headers: { authorization: "Bearer wrong" } }));
});

test("an agent that cannot be served", async (t) => {
  const errors = [];
  const fail = () => { throw new Error("no such file: /secret"); };
  const refuse = async () => { throw new RequestError(-32603, "All agents are busy"); };
  for (const [agent, why] of [[fail, "The agent could not be served"], [refuse, "All agents are busy"]]) {
    const { url } = await ours(t, agent, { onError: (error) => errors.push(error.message) });
    const expected = { jsonrpc: "2.0", id: 0, error: { code: -32603, message: why } };
    const { status, headers, body } = await plain(url, { headers: JSON_TYPE, body: HELLO });
    assert.deepEqual([status, headers["acp-connection-id"], JSON.parse(body)], [200, undefined, expected]);
    // Here the agent has failed before it is asked anything.
    const socket = new WebSocket(url.replace("http", "ws"));
    await once(socket, "open");
    await sleep(50);
    socket.send(HELLO);
    const [answer] = await once(socket, "message");
    assert.deepEqual(JSON.parse(answer), expected);
  }
  const [failed, refused] = ["no such file: /secret", "All agents are busy"];
  assert.deepEqual(errors, [failed, failed, refused, refused]);
});

test("nothing there, and nothing that speaks this", async (t) => {
  const server = createServer((request, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.close());
  const { port } = server.address();
  for (const transport of ["http", "websocket", "auto"]) {
    const error = await connect(`http://127.0.0.1:${port}/acp`, undefined, { transport, WebSocket, grace: 100 }).catch((error) => error);
    assert.deepEqual([error.outcome, error.cause?.why, error.cause?.status], ["closed", "not-served", 404], transport);
    const gone = await connect("http://127.0.0.1:1/acp", undefined, { transport, WebSocket, grace: 100 }).catch((error) => error);
    assert.deepEqual([gone.outcome, gone.cause?.why], ["closed", "unreachable"], transport);
  }
  // A proxy whose server is away.
  const proxy = createServer((request, response) => response.writeHead(502).end()).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  for (const transport of ["http", "websocket", "auto"]) {
    const options = { transport, WebSocket, grace: 100 };
    const { cause } = await connect(`http://127.0.0.1:${proxy.address().port}/acp`, undefined, options).catch((error) => error);
    assert.deepEqual([cause?.why, cause?.status], ["unreachable", 502], transport);
    assert.match(cause.message, /reached: it answers with status 502$/);
  }
  await assert.rejects(connect("http://localhost/", undefined, { onTransport: 1 }), /^TypeError: onTransport: expected a function/);
  await assert.rejects(connect("ftp://localhost/"), /^TypeError: connect: expected an address/);
  await assert.rejects(connect("http://localhost/", undefined, { transprt: "http" }), /did you mean transport/);
});

test("a listener that fails costs nothing but a line of the log", async (t) => {
  const { agent } = storyteller();
  const { url } = await ours(t, agent);
  const said = [];
  const client = new Client("c", "1", { log: (line) => said.push(line), onError: (error) => said.push(error) });
  const remote = await connect(url, client, { transport: "http", onTransport: () => { throw new Error("mine"); } });
  assert.deepEqual(texts(await all((await remote.newSession("/")).prompt("x"))), ["x"]);
  await remote.close();
  assert.ok(said.length > 0);
});

test("auto takes a socket, and requests where there is none; and remembers", async (t) => {
  const { agent } = storyteller();
  const carriers = async (url, how) => {
    const events = [];
    const remote = await connect(url, undefined, { ...how, onTransport: (event) => events.push(event) });
    await remote.close();
    return events.filter(({ type }) => type === "connecting").map(({ carrier }) => carrier);
  };
  const both = await ours(t, agent);
  assert.deepEqual(await carriers(both.url, { WebSocket }), ["websocket"]);
  // Without what Node 20 lacks, there is no choice.
  assert.deepEqual(await carriers(both.url, { WebSocket: null }), ["http"]);
  const handler = nodeHandler(agent);
  const plainServer = createServer(handler).listen(0, "127.0.0.1");
  await new Promise((resolve) => plainServer.once("listening", resolve));
  t.after(async () => {
    await handler.close();
    plainServer.closeAllConnections();
    plainServer.close();
  });
  const url = `http://127.0.0.1:${plainServer.address().port}/acp`;
  assert.deepEqual(await carriers(url, { WebSocket }), ["websocket", "http"]);
  assert.deepEqual(await carriers(url, { WebSocket }), ["http"]);
});

test("a command is an agent like others", async () => {
  const script = `import { Agent } from ${JSON.stringify(new URL(`file://${folder}/agent.mjs`).href)};
    await new Agent("child", "1").prompt((turn) => turn.message(turn.text)).serve();`;
  const agent = await connect([process.execPath, "--input-type=module", "-e", script]);
  assert.equal(agent.info.name, "child");
  assert.equal(await (await agent.newSession("/")).prompt("x").readText(), "x");
  await agent.close();
});
