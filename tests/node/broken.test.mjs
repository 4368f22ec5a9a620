// Remote connections that break: streams and servers that go away in the middle, readers that do not read, calls that are
// given up. Nothing is left over.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createTcp, connect as dial } from "node:net";
import { createServer } from "node:http";
import { test } from "node:test";
import { Agent, NoResult, all, later, texts } from "./both.mjs";
import { WAYS, WebSocket, WebSocketServer, connect, listener, ours, serve, storyteller } from "./faraway.mjs";

const encoder = new TextEncoder();
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(met, what) {
  for (let tries = 0; tries < 500; tries += 1) {
    if (met()) return;
    await sleep(10);
  }
  assert.fail(`it never came to be: ${what}`);
}

/** What stands between a client and a server, and can cut all connections. */
async function between(t, port) {
  const sockets = new Set();
  const proxy = createTcp((near) => {
    const far = dial(port, "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]]) {
      sockets.add(one);
      one.pipe(other);
      one.on("error", () => {}).on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${proxy.address().port}/acp`, cut };
}

test("streams that are cut during a turn are opened again, and the turn goes on", async (t) => {
  const { agent } = storyteller();
  const { server } = await ours(t, agent);
  const { url, cut } = await between(t, server.address().port);
  const heard = listener();
  const remote = await connect(url, heard.client, { transport: "http", onTransport: heard.onTransport });
  const session = await remote.newSession("/");
  const turn = session.prompt("wait");
  for await (const { content } of turn) {
    if (content?.text !== "waiting") continue;
    cut();
    await until(() => heard.events.filter(({ type }) => type === "gap").length === 2, "both streams are open again");
    await turn.cancel();
  }
  assert.equal(turn.stopReason, "cancelled");
  assert.deepEqual(new Set(heard.events.map(({ type }) => type)), new Set(["connecting", "connected", "gap"]));
  assert.equal(await session.prompt("hello").readText(), "hello");
  assert.deepEqual(heard.violations, []);
  await remote.close();
});

for (const [name, way] of Object.entries(WAYS)) {
  test(`a server that is started anew during a turn, over ${name}`, async (t) => {
    const { agent, stories } = storyteller();
    const options = { http2: name === "http/2", times: { remember: 0 } };
    const first = await ours(t, agent, options);
    const heard = listener();
    const remote = await connect(first.url, heard.client, { ...way(t), onTransport: heard.onTransport, times: { retry: 20 } });
    const session = await remote.newSession("/");
    assert.equal(await session.prompt("hello").readText(), "hello");
    const turn = session.prompt("wait");
    const failed = assert.rejects(all(turn), (error) => error instanceof NoResult && error.outcome === "unknown" && error.method === "session/prompt");
    await until(() => stories.get(session.id).length === 2, "the turn has begun");
    await first.close({ grace: 100 });
    await ours(t, agent, { ...options, port: Number(new URL(first.url).port) });
    await failed;
    await until(() => heard.events.some(({ type }) => type === "attached"), "the session is open again");
    const types = heard.events.map(({ type }) => type).filter((type) => !["retrying", "violation", "refused"].includes(type));
    assert.deepEqual(types, ["connecting", "connected", "lost", "connected", "replayed", "replayed", "attached"]);
    const told = heard.events.filter(({ type }) => type === "replayed").map(({ params }) => params.update.content.text);
    assert.deepEqual(told, ["hello", "waiting"]);
    assert.deepEqual(heard.updates, []);
    assert.equal(await session.prompt("again").readText(), "again");
    assert.deepEqual(heard.violations, []);
    await remote.close();
  });
}

test("a server that closes the socket is heard", async (t) => {
  const { agent } = storyteller();
  const { url } = await ours(t, agent, { limits: { body: 4000 } });
  const heard = listener();
  const remote = await connect(url.replace("http", "ws"), heard.client, { WebSocket, onTransport: heard.onTransport, times: { retry: 20 } });
  const session = await remote.newSession("/");
  await assert.rejects(session.prompt("x".repeat(5000)).readText(), ({ outcome }) => outcome === "unknown");
  const lost = heard.events.filter(({ type }) => type === "lost");
  assert.deepEqual(lost.map(({ calls, code }) => [calls.length, code]), [[1, 1009]]);
  assert.equal(await session.prompt("again").readText(), "again");
  await remote.close();
});

test("a question that is lost is withdrawn, and the same id can be asked again", async (t) => {
  const { agent } = storyteller();
  const first = await ours(t, agent);
  const heard = listener();
  const withdrawn = later();
  let asked = 0;
  heard.client.permission = (request) => {
    asked += 1;
    if (asked > 1) return request.allow();
    return new Promise((_, reject) => request.signal.addEventListener("abort", () => {
      withdrawn.resolve();
      reject(request.signal.reason);
    }));
  };
  const remote = await connect(first.url, heard.client, { transport: "http", onTransport: heard.onTransport, times: { retry: 20 } });
  const session = await remote.newSession("/");
  const failed = assert.rejects(all(session.prompt("ask")), { outcome: "unknown" });
  await until(() => asked === 1, "the question has come");
  await first.close({ grace: 100 });
  await ours(t, agent, { port: Number(new URL(first.url).port) });
  await Promise.all([failed, withdrawn.promise]);
  await until(() => heard.events.some(({ type }) => type === "attached"), "the session is open again");
  assert.deepEqual(texts(await all(session.prompt("ask"))), ["answered allow_once"]);
  assert.equal(asked, 2);
  assert.deepEqual(heard.violations, []);
  await remote.close();
});

test("a session that the agent cannot open again is over", async (t) => {
  const agent = new Agent("forgetful", "1", { log: () => {} }).newSession(() => ({})).prompt((turn) => turn.message(turn.text));
  const first = await ours(t, agent);
  const heard = listener();
  const ended = [];
  heard.client.onSessionEnd = (session) => ended.push(session.id);
  const remote = await connect(first.url, heard.client, { transport: "http", onTransport: heard.onTransport, times: { retry: 20 } });
  const session = await remote.newSession("/");
  await first.close({ grace: 100 });
  await ours(t, agent, { port: Number(new URL(first.url).port) });
  await until(() => !session.open, "the session is over");
  assert.deepEqual(ended, [session.id]);
  assert.ok(heard.events.some(({ type, session: id }) => type === "detached" && id === session.id));
  assert.equal(await (await remote.newSession("/")).prompt("x").readText(), "x");
  await remote.close();
});

test("without reconnecting, the end is the end", async (t) => {
  const { agent } = storyteller();
  for (const way of [{ transport: "http" }, { transport: "websocket", WebSocket }]) {
    const server = await ours(t, agent);
    const remote = await connect(server.url, undefined, { ...way, reconnect: false, grace: 100 });
    const session = await remote.newSession("/");
    const turn = all(session.prompt("wait"));
    const failed = assert.rejects(turn, (error) => ["unknown", "closed"].includes(error.outcome));
    await sleep(50);
    await server.close({ grace: 50 });
    await failed;
    await remote.closed;
    await assert.rejects(remote.newSession("/"), ({ outcome, cause }) => outcome === "closed" && cause?.name === "RemoteError");
    await remote.close();
  }
});

for (const [name, way] of Object.entries(WAYS)) {
  test(`an agent that tells more than its client reads has to wait, over ${name}`, async (t) => {
    const [size, count] = [50_000, 600];
    const { agent, stories } = storyteller({ size });
    const server = await ours(t, agent, { http2: name === "http/2" });
    const heard = listener();
    const remote = await connect(server.url, heard.client, way(t));
    const session = await remote.newSession("/");
    const turn = session.prompt(`say ${count}`);
    let got = 0;
    for await (const { content } of turn) {
      assert.equal(content.text.length, size);
      got += 1;
      if (got !== 1) continue;
      let before = -1;
      while (before !== stories.get(session.id).length) {
        before = stories.get(session.id).length;
        await sleep(300);
      }
      // The queues on the way, and what the operating system takes.
      assert.ok(before < count / 2, `${before} of ${count} were told to nobody`);
    }
    assert.equal(got, count);
    assert.deepEqual(heard.violations, []);
    await remote.close();
  });

  test(`a client whose agent does not read has to wait, over ${name}`, async (t) => {
    const [size, count] = [500_000, 100];
    const go = later();
    let got = 0;
    // It answers the first message, and reads no other one before it may.
    const slow = {
      async serve(transport) {
        const result = { protocolVersion: 1, agentCapabilities: {} };
        for await (const json of transport.readable) {
          const { id } = JSON.parse(json);
          if (id === undefined) got += 1;
          else await transport.write(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, result })));
          await go.promise;
        }
      },
    };
    const server = await ours(t, slow, { http2: name === "http/2" });
    const remote = await connect(server.url, listener().client, way(t));
    let sent = 0;
    const text = "x".repeat(size);
    const telling = (async () => {
      for (let at = 0; at < count; at += 1) {
        await remote.notify("_tell", { text });
        sent += 1;
      }
    })();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await sleep(1000);
    }
    // 4 MiB wait on each side, and what the connection and the operating system take.
    assert.ok(sent < count / 2, `${sent} of ${count} were sent to nobody`);
    go.resolve();
    await telling;
    await until(() => got === count, "all arrive");
    await remote.close();
  });

  test(`a call that is given up is cancelled, and nothing is left over, over ${name}`, async (t) => {
    const stopped = later();
    const agent = new Agent("a", "1").prompt(() => {});
    agent.on("_slow", (client, params, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => {
      stopped.resolve();
      reject(signal.reason);
    })));
    const server = await ours(t, agent, { http2: name === "http/2" });
    const remote = await connect(server.url, undefined, way(t));
    const controller = new AbortController();
    const call = remote.request("_slow", {}, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await assert.rejects(call, /enough/);
    await stopped.promise;
    await remote.close();
    await until(() => server.service.connections === 0, "the connection is over");
  });
}

test("web-standard requests and responses", async (t) => {
  const { agent } = storyteller();
  const wrong = [];
  const service = serve(() => agent, { onError: (error) => wrong.push(error) });
  const { fetch } = service;
  const asked = [];
  const ask = (url, init) => {
    asked.push(init.method);
    return fetch(new Request(url, { ...init, duplex: "half" }));
  };
  const remote = await connect("http://localhost/acp", undefined, { transport: "http", fetch: ask });
  const session = await remote.newSession("/");
  assert.equal(await session.prompt("hello").readText(), "hello");
  assert.equal((await fetch(new Request("http://localhost/other"))).status, 404);
  assert.equal((await fetch(new Request("http://evil.example/acp", { method: "POST" }))).status, 421);
  await remote.close();
  assert.deepEqual([...new Set(asked)], ["POST", "GET", "DELETE"]);
  assert.equal(service.connections, 0);
  // A reader that goes away leaves its stream to the next one.
  const hello = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1 } };
  const json = { "content-type": "application/json" };
  const opened = await fetch(new Request("http://localhost/acp", { method: "POST", headers: json, body: JSON.stringify(hello) }));
  const headers = { accept: "text/event-stream", "acp-connection-id": opened.headers.get("acp-connection-id") };
  for (let times = 0; times < 3; times += 1) {
    const controller = new AbortController();
    const stream = await fetch(new Request("http://localhost/acp", { headers, signal: controller.signal }));
    assert.equal(stream.status, 200);
    if (times % 2 === 0) await stream.body.cancel();
    else controller.abort();
  }
  await service.close();
  assert.deepEqual(wrong, []);
  assert.equal((await fetch(new Request("http://localhost/acp", { method: "POST", headers: json, body: JSON.stringify(hello) }))).status, 503);
});

test("sockets by the web-standard way", async (t) => {
  const { agent } = storyteller();
  const service = serve(agent);
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer().on("upgrade", async (request, socket, head) => {
    const asked = await service.upgrade(new Request(`http://${request.headers.host}${request.url}`, { headers: request.headers }));
    if (asked.response) return socket.end(`HTTP/1.1 ${asked.response.status} No\r\n\r\n`);
    assert.deepEqual(asked.headers.map(([name]) => name), ["acp-connection-id"]);
    sockets.handleUpgrade(request, socket, head, asked.take);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    await service.close();
    server.closeAllConnections();
    server.close();
  });
  const remote = await connect(`ws://127.0.0.1:${server.address().port}/acp`, undefined, { WebSocket });
  assert.equal(await (await remote.newSession("/")).prompt("hello").readText(), "hello");
  await remote.close();
  await until(() => service.connections === 0, "the connection is over");
});

test("a session that does not fit is refused, and nothing waits for ever", async (t) => {
  const { agent } = storyteller();
  const server = await ours(t, agent);
  const remote = await connect(server.url, undefined, { transport: "http", limits: { streams: 3 } });
  await remote.newSession("/");
  await remote.newSession("/");
  await assert.rejects(remote.newSession("/"), ({ name, rule, message }) => name === "LimitMisuse" && rule === "HTTP-27" && /WebSocket/.test(message));
  await remote.close();
});
