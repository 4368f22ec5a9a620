// The workloads on the official TypeScript SDK.
import { CHUNKS, CONNECTIONS, DIFFS, FILES, PIECE, SECONDS, bytes, check, lines, main, pieces, pipe, size, text, timed } from "./measure.mjs";

async function load() {
  const acp = await import("@agentclientprotocol/sdk");
  const { initialize, session } = acp.methods.agent;
  const host = acp.methods.client;
  const nowhere = () => new WritableStream();

  const ended = (all) => all.reduce((sum, byte) => sum + (byte === 10 ? 1 : 0), 0);

  /** Connects a client that calls `seen` for each update. */
  function connected(readable, seen) {
    const app = acp.client({ name: "bench" });
    app.onNotification(host.session.update, seen);
    return app.connect(acp.ndJsonStream(nowhere(), readable));
  }

  async function decode(name, piece) {
    const all = bytes(name);
    const count = ended(all);
    const parts = pieces(all, piece);
    const readable = new ReadableStream({
      pull(controller) {
        const { value } = parts.next();
        // After the last one nothing comes any more.
        return value ? controller.enqueue(value) : new Promise(() => {});
      },
    });
    return timed(count, () => {
      const { promise, resolve } = deferred();
      let seen = 0;
      connected(readable, () => void ((seen += 1) === count && resolve()));
      return promise;
    });
  }

  /** What the SDK does to make an update of a line, without its connection: not something that it exports. */
  async function validate(name) {
    const module = new URL("v1/schema/zod.gen.js", new URL("../../", import.meta.resolve("@agentclientprotocol/sdk")));
    const { zSessionNotification } = await import(module);
    const texts = text(name).split("\n").filter((line) => line !== "");
    return timed(texts.length, () => {
      for (const line of texts) zSessionNotification.parse(JSON.parse(line).params);
    });
  }

  async function many() {
    const all = lines("small.jsonl");
    const sources = [];
    let seen = 0;
    let arrived;
    for (let i = 0; i < CONNECTIONS; i += 1) {
      const readable = new ReadableStream({ start: (controller) => void sources.push(controller) });
      connected(readable, () => void ((seen += 1) % CONNECTIONS === 0 && arrived()));
    }
    return timed(CONNECTIONS * SECONDS, async () => {
      for (let second = 1; second <= SECONDS; second += 1) {
        const { promise, resolve } = deferred();
        arrived = resolve;
        for (const source of sources) source.enqueue(all[second]);
        await promise;
      }
    });
  }

  /** A turn of the agent's, in which the client sees so much text. */
  async function turn(count, expected, work, file) {
    const [there, back] = [pipe(), pipe()];
    const agent = acp.agent({ name: "bench" });
    agent.onRequest(initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }));
    agent.onRequest(session.new, () => ({ sessionId: "s-0" }));
    agent.onRequest(session.prompt, async () => {
      await work(serving.client);
      return { stopReason: "end_turn" };
    });
    const serving = agent.connect(acp.ndJsonStream(back.writable, there.readable));
    let seen = 0;
    const client = acp.client({ name: "bench" });
    client.onNotification(host.session.update, ({ params }) => void (seen += size(params.update)));
    client.onRequest(host.fs.readTextFile, () => ({ content: file }));
    const peer = client.connect(acp.ndJsonStream(there.writable, back.readable));
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: false } };
    await peer.agent.request(initialize, { protocolVersion: 1, clientCapabilities });
    await peer.agent.request(session.new, { cwd: "/work", mcpServers: [] });
    const prompt = [{ type: "text", text: "Go" }];
    const done = await timed(count, () => peer.agent.request(session.prompt, { sessionId: "s-0", prompt }));
    check(seen === expected, "the text");
    peer.close();
    serving.close();
    return done;
  }

  const tell = (client, update) => client.notify(host.session.update, { sessionId: "s-0", update });

  function chunks() {
    const words = text("chunk.txt");
    return turn(CHUNKS, CHUNKS * words.length, async (client) => {
      const content = { type: "text", text: words };
      for (let i = 0; i < CHUNKS; i += 1) await tell(client, { sessionUpdate: "agent_message_chunk", content });
    });
  }

  function diffs() {
    const [oldText, newText] = [text("old.txt"), text("new.txt")];
    return turn(DIFFS, DIFFS * newText.length, async (client) => {
      const toolCallId = "call";
      await tell(client, { sessionUpdate: "tool_call", toolCallId, title: "Edit" });
      for (let number = 1; number <= DIFFS; number += 1) {
        const content = [{ type: "diff", path: "/work/main.rs", oldText, newText }];
        const status = number === DIFFS ? { status: "completed" } : {};
        await tell(client, { sessionUpdate: "tool_call_update", toolCallId, content, ...status });
      }
    });
  }

  function files() {
    const file = text("file.txt");
    const read = async (client) => {
      for (let i = 0; i < FILES; i += 1) {
        const { content } = await client.request(host.fs.readTextFile, { sessionId: "s-0", path: "/work/main.rs" });
        check(content === file, "a file");
      }
    };
    return turn(FILES, 0, read, file);
  }

  return {
    w1: chunks,
    w2: diffs,
    w3: files,
    "w4-small": () => decode("small.jsonl", PIECE),
    "w4-mix": () => decode("mix.jsonl", PIECE),
    "w4-small-alone": () => validate("small.jsonl"),
    "w4-mix-alone": () => validate("mix.jsonl"),
    w5: many,
    "w6-whole": () => decode("big.jsonl"),
    "w6-4096": () => decode("big.jsonl", 4096),
    "w6-100": () => decode("big.jsonl", 100),
  };
}

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

await main(load);
