// WebSockets and Node's own sockets as transports.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as dial, createServer } from "node:net";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { Agent, agentSide, all, clientSide, connect, texts } from "./both.mjs";

const { nodeStreams, webSocket } = agentSide;

const agent = new Agent("a", "1").prompt(async (turn) => {
  if (turn.text === "cut") turn.client.info.cut = true;
  for (let index = 0; index < 3; index += 1) await turn.message("é".repeat(100_000));
});

test("a WebSocket, from both sides, with one message a frame", async (t) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  t.after(() => server.close());
  const sockets = [];
  const served = [];
  server.on("connection", (socket) => {
    sockets.push(socket);
    served.push(agent.serve(webSocket(socket)));
  });
  const address = `ws://127.0.0.1:${server.address().port}`;
  const peer = await connect(webSocket(new WebSocket(address)), undefined, { grace: 200 });
  const session = await peer.newSession("/");
  assert.deepEqual(texts(await all(session.prompt("x"))), Array(3).fill("é".repeat(100_000)));
  await peer.close();
  await served[0];

  const second = await connect(webSocket(new WebSocket(address)), undefined, { grace: 200 });
  const turn = second.request("_none", {}).catch((error) => error);
  sockets[1].terminate();
  assert.equal((await turn).outcome, "closed");
  await second.close();
  await served[1];

  await assert.rejects(connect(webSocket(new WebSocket("ws://127.0.0.1:1")), undefined, { grace: 50 }), { outcome: "closed" });
});

test("a socket of Node's", async (t) => {
  const served = [];
  const server = createServer((socket) => served.push(agent.serve(nodeStreams(socket, socket))));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const socket = dial(server.address().port, "127.0.0.1");
  const peer = await connect(nodeStreams(socket, socket), undefined, { grace: 200 });
  const session = await peer.newSession("/");
  assert.equal((await all(session.prompt("x"))).length, 3);
  await peer.close();
  await served[0];
});
