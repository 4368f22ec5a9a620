// The workloads on libacp: W1 to W3 on `libacp/agent` and `libacp/client`, the others on the connection itself.
import { CHUNKS, CONNECTIONS, DIFFS, FILES, PIECE, SECONDS, bytes, check, lines, main, pieces, pipe, size, text, timed } from "./measure.mjs";

/** The answer that opens the session of W4: all that the mix changes. */
const SESSION = JSON.stringify({
  sessionId: "s-0",
  modes: { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] },
  configOptions: [{
    id: "model", name: "Model", category: "model", type: "select", currentValue: "big",
    options: [{ value: "big", name: "Big" }, { value: "small", name: "Small" }],
  }],
});

async function load() {
  const { Connection } = await import("libacp");
  const { Agent, streams } = await import("libacp/agent");
  const { Client, connect } = await import("libacp/client");

  const drained = (connection) => [...connection.events()];

  /** A client whose one session is at work. */
  function client(session) {
    const connection = new Connection({ role: "client" });
    connection.request("initialize", { clientCapabilities: {} });
    connection.receive('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}\n');
    drained(connection);
    connection.request("session/new", { cwd: "/work", mcpServers: [] });
    connection.receive(`{"jsonrpc":"2.0","id":2,"result":${session}}\n`);
    drained(connection);
    connection.request("session/prompt", { sessionId: "s-0", prompt: [] });
    connection.consume(connection.transmit().length);
    return connection;
  }

  /** Takes all events, and their params as objects. */
  function objects(connection) {
    let count = 0;
    for (const event of connection.events()) {
      check(event.params.update.sessionUpdate, "an update");
      count += 1;
    }
    return count;
  }

  /** Takes all events, and leaves their params as they are. */
  function untouched(connection) {
    let count = 0;
    for (const event of connection.events()) {
      check(event.type === "notification", "an update");
      count += 1;
    }
    return count;
  }

  async function decode(name, piece, drain) {
    const all = bytes(name);
    const connection = client(SESSION);
    const parts = pieces(all, piece);
    let count = 0;
    const { seconds } = await timed(0, () => {
      for (const part of parts) {
        connection.receive(part);
        count += drain(connection);
      }
    });
    connection.free();
    return { seconds, count };
  }

  async function many() {
    const clients = Array.from({ length: CONNECTIONS }, () => client('{"sessionId":"s-0"}'));
    const all = lines("small.jsonl");
    let count = 0;
    const { seconds } = await timed(0, () => {
      for (let second = 1; second <= SECONDS; second += 1) {
        for (const connection of clients) {
          connection.receive(all[second]);
          count += objects(connection);
          connection.handleTimeout(second * 1000);
          check(connection.transmit().length === 0, "an idle connection");
          connection.pollTimeout();
        }
      }
    });
    for (const connection of clients) connection.free();
    return { seconds, count };
  }

  /** A turn of the agent's, in which the client sees so much text. */
  async function turn(count, expected, handler, file) {
    const [there, back] = [pipe(), pipe()];
    const agent = new Agent("bench", "1");
    agent.prompt(handler);
    const serving = agent.serve(streams(there.readable, back.writable));
    const files = file === undefined ? undefined : { readTextFile: () => file };
    const peer = await connect(streams(back.readable, there.writable), new Client("bench", "1", { files }));
    const session = await peer.newSession("/work");
    let seen = 0;
    const done = await timed(count, async () => {
      for await (const update of session.prompt("Go")) seen += size(update);
    });
    check(seen === expected, "the text");
    await peer.close();
    await serving;
    return done;
  }

  function chunks() {
    const words = text("chunk.txt");
    return turn(CHUNKS, CHUNKS * words.length, async (turn) => {
      for (let i = 0; i < CHUNKS; i += 1) await turn.message(words);
    });
  }

  function diffs() {
    const [oldText, newText] = [text("old.txt"), text("new.txt")];
    return turn(DIFFS, DIFFS * newText.length, async (turn) => {
      const toolCallId = "call";
      await turn.update({ sessionUpdate: "tool_call", toolCallId, title: "Edit" });
      for (let number = 1; number <= DIFFS; number += 1) {
        const content = [{ type: "diff", path: "/work/main.rs", oldText, newText }];
        const status = number === DIFFS ? { status: "completed" } : {};
        await turn.update({ sessionUpdate: "tool_call_update", toolCallId, content, ...status });
      }
    });
  }

  function files() {
    const file = text("file.txt");
    const read = async (turn) => {
      for (let i = 0; i < FILES; i += 1) check((await turn.readTextFile("/work/main.rs")) === file, "a file");
    };
    return turn(FILES, 0, read, file);
  }

  return {
    w1: chunks,
    w2: diffs,
    w3: files,
    "w4-small": () => decode("small.jsonl", PIECE, objects),
    "w4-mix": () => decode("mix.jsonl", PIECE, objects),
    "w4-small-bytes": () => decode("small.jsonl", PIECE, untouched),
    "w4-mix-bytes": () => decode("mix.jsonl", PIECE, untouched),
    w5: many,
    "w6-whole": () => decode("big.jsonl", undefined, untouched),
    "w6-4096": () => decode("big.jsonl", 4096, untouched),
    "w6-100": () => decode("big.jsonl", 100, untouched),
    "w6-1": () => decode("big.jsonl", 1, untouched),
  };
}

await main(load);
