// The floor of W7 and W8: the same texts through the same libraries, with no JSON made or read and no protocol around.
import { createServer } from "node:http";
import { WebSocket, WebSocketServer } from "ws";
import { CHUNKS, READS, check, main, text, timed } from "./measure.mjs";

const update = (words) =>
  JSON.stringify({
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } } },
  });
const question = (id) =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "fs/read_text_file", params: { sessionId: "s", path: "/work/main.rs" } });
const answer = (id) => JSON.stringify({ jsonrpc: "2.0", id, result: { content: text("file.txt") } });

const listening = (server) => new Promise((resolve) => server.once("listening", () => resolve(server.address().port)));

/** A WebSocket whose server says so many texts: one after the other, or each after the answer to the one before. */
async function socket(count, said, reply) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  const port = await listening(server);
  server.on("connection", (socket) => {
    let next = 0;
    socket.on("message", (data) => {
      // As a host gets it.
      check(String(data).length > 0, "an answer");
      if (reply === undefined) while (next++ < count) socket.send(said);
      else if (next++ < count) socket.send(said);
      else socket.close();
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  await new Promise((resolve) => client.once("open", resolve));
  const done = await timed(count, async () => {
    let heard = 0;
    const over = new Promise((resolve) => {
      client.on("message", (data) => {
        check(String(data).length === said.length, "the text");
        heard += 1;
        if (reply !== undefined) client.send(reply);
        else if (heard === count) resolve();
      });
      client.once("close", resolve);
    });
    client.send("begin");
    await over;
    check(heard === count, "all texts");
  });
  client.terminate();
  server.close();
  return done;
}

/** The same by a stream of events and requests. */
async function stream(count, said, reply) {
  let events;
  let next = 0;
  const event = `data: ${said}\n\n`;
  const more = () => (next++ < count ? events.write(event) : events.end());
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      events = response;
      return;
    }
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      check(Buffer.concat(parts).toString().length > 0, "an answer");
      response.writeHead(202).end();
      if (reply !== undefined) more();
      else while (next <= count) more();
    });
  });
  server.listen(0, "127.0.0.1");
  const address = `http://127.0.0.1:${await listening(server)}/acp`;
  const post = async (body) => (await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body })).arrayBuffer();
  const response = await fetch(address, { headers: { accept: "text/event-stream" } });
  const done = await timed(count, async () => {
    await post("begin");
    let seen = 0;
    let told = 0;
    for await (const bytes of response.body) {
      seen += bytes.length;
      for (; reply !== undefined && told < Math.floor(seen / event.length); told += 1) await post(reply);
    }
    check(seen === count * event.length, "all texts");
  });
  server.closeAllConnections();
  server.close();
  return done;
}

await main(() => {
  const said = update(text("chunk.txt"));
  return {
    "w7-ws": () => socket(CHUNKS, said),
    "w7-http": () => stream(CHUNKS, said),
    "w8-ws": () => socket(READS, question(1), answer(1)),
    "w8-http": () => stream(READS, question(1), answer(1)),
  };
});
