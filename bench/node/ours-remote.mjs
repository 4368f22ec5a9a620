// W7 and W8 on libacp: `libacp/http` on both sides, over sockets of the system's. See bench/README.md.
import { createServer } from "node:http";
import * as h2 from "node:http2";
import { CHUNKS, READS, check, main, size, text, timed } from "./measure.mjs";

async function load() {
  const { Agent } = await import("libacp/agent");
  const { Client } = await import("libacp/client");
  const { connect } = await import("libacp/http");
  const { http2Fetch, listen } = await import("libacp/http/node");
  const { WebSocket, WebSocketServer } = await import("ws");

  /** A turn of the agent's, in which the client sees so much text. */
  async function turn(way, count, expected, handler, file = "") {
    const agent = new Agent("bench", "1");
    agent.prompt(handler);
    const server = way === "http2" ? h2.createServer() : createServer();
    const served = await listen(agent, { server, WebSocketServer });
    const fetch = way === "http2" ? http2Fetch() : undefined;
    const client = new Client("bench", "1", { files: { readTextFile: () => file } });
    const transport = way === "ws" ? { transport: "websocket", WebSocket } : { transport: "http", ...(fetch && { fetch }) };
    const peer = await connect(served.url, client, transport);
    const session = await peer.newSession("/work");
    let seen = 0;
    const done = await timed(count, async () => {
      for await (const update of session.prompt("Go")) seen += size(update);
    });
    check(seen === expected, "the text");
    await peer.close();
    fetch?.close();
    await served.close({ grace: 300 });
    return done;
  }

  function chunks(way) {
    const words = text("chunk.txt");
    return turn(way, CHUNKS, CHUNKS * words.length, async (turn) => {
      for (let i = 0; i < CHUNKS; i += 1) await turn.message(words);
    });
  }

  function reads(way) {
    const file = text("file.txt");
    const read = async (turn) => {
      for (let i = 0; i < READS; i += 1) check((await turn.readTextFile("/work/main.rs")) === file, "a file");
    };
    return turn(way, READS, 0, read, file);
  }

  const ways = ["http", "http2", "ws"];
  return Object.fromEntries(ways.flatMap((way) => [[`w7-${way}`, () => chunks(way)], [`w8-${way}`, () => reads(way)]]));
}

await main(load);
