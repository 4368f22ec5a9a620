// W7 and W8 on the official TypeScript SDK: its server and its clients, over sockets of the system's. It has no HTTP/2.
import { once } from "node:events";
import { createServer } from "node:http";
import { CHUNKS, READS, check, main, size, text, timed } from "./measure.mjs";

async function load() {
  const acp = await import("@agentclientprotocol/sdk");
  const { AcpServer } = await import("@agentclientprotocol/sdk/experimental/server");
  const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await import("@agentclientprotocol/sdk/experimental/node");
  const { createHttpStream } = await import("@agentclientprotocol/sdk/experimental/http-client");
  const { createWebSocketStream } = await import("@agentclientprotocol/sdk/experimental/ws-client");
  const { WebSocket, WebSocketServer } = await import("ws");
  const { initialize, session } = acp.methods.agent;
  const host = acp.methods.client;

  /** A server of an agent that does this in a turn; its port. */
  async function served(work) {
    const createAgent = () => {
      const agent = acp.agent({ name: "bench" });
      agent.onRequest(initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }));
      agent.onRequest(session.new, () => ({ sessionId: "s-0" }));
      agent.onRequest(session.prompt, async ({ client }) => {
        await work(client);
        return { stopReason: "end_turn" };
      });
      return agent;
    };
    const acpServer = new AcpServer({ createAgent });
    const server = createServer(createNodeHttpHandler(acpServer));
    server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const close = async () => {
      await acpServer.close();
      server.closeAllConnections();
      server.close();
    };
    return { port: server.address().port, close };
  }

  /** A turn of the agent's, in which the client sees so much text. */
  async function turn(way, count, expected, work, file = "") {
    const { port, close } = await served(work);
    let seen = 0;
    const client = acp.client({ name: "bench" });
    client.onNotification(host.session.update, ({ params }) => void (seen += size(params.update)));
    client.onRequest(host.fs.readTextFile, () => ({ content: file }));
    const stream =
      way === "ws"
        ? createWebSocketStream(`ws://127.0.0.1:${port}/acp`, { WebSocket })
        : createHttpStream(`http://127.0.0.1:${port}/acp`);
    const peer = client.connect(stream);
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: false } };
    await peer.agent.request(initialize, { protocolVersion: 1, clientCapabilities });
    await peer.agent.request(session.new, { cwd: "/work", mcpServers: [] });
    const prompt = [{ type: "text", text: "Go" }];
    const done = await timed(count, () => peer.agent.request(session.prompt, { sessionId: "s-0", prompt }));
    check(seen === expected, "the text");
    peer.close();
    await close();
    return done;
  }

  function chunks(way) {
    const words = text("chunk.txt");
    return turn(way, CHUNKS, CHUNKS * words.length, async (client) => {
      const content = { type: "text", text: words };
      const params = { sessionId: "s-0", update: { sessionUpdate: "agent_message_chunk", content } };
      for (let i = 0; i < CHUNKS; i += 1) await client.notify(host.session.update, params);
    });
  }

  function reads(way) {
    const file = text("file.txt");
    const read = async (client) => {
      for (let i = 0; i < READS; i += 1) {
        const { content } = await client.request(host.fs.readTextFile, { sessionId: "s-0", path: "/work/main.rs" });
        check(content === file, "a file");
      }
    };
    return turn(way, READS, 0, read, file);
  }

  /** Serves until it is killed: for the load, which counts what its connections take. */
  async function serve() {
    console.log(`http://127.0.0.1:${(await served(() => {})).port}/acp`);
    return new Promise(() => {});
  }

  const works = ["http", "ws"].flatMap((way) => [[`w7-${way}`, () => chunks(way)], [`w8-${way}`, () => reads(way)]]);
  return { serve, ...Object.fromEntries(works) };
}

await main(load);
