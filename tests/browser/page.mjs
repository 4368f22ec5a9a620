// A client and an agent in one page, wired together: what the browser test calls. Each check throws where it fails.
import { Connection, Misuse, init } from "libacp";

const sent = (connection) => {
  const bytes = connection.transmit();
  connection.consume(bytes.length);
  return bytes;
};

const carry = (from, to) => {
  to.receive(sent(from));
  return [...to.events()];
};

function equal(found, expected) {
  const [left, right] = [found, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`expected ${right}, found ${left}`);
}

export const checks = {
  "there is no connection before init": () => {
    let error;
    try {
      new Connection({ role: "client" });
    } catch (caught) {
      error = caught;
    }
    equal(/init/.test(error?.message), true);
  },

  "init loads the module, once": async () => {
    equal(init() === init(), true);
    await init();
    const loads = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".wasm"));
    equal(loads.length, 1);
  },

  "initialize and a prompt turn, over a message channel": async () => {
    const client = new Connection({ role: "client", framing: "messages" });
    const agent = new Connection({ role: "agent", framing: "messages" });
    const { port1, port2 } = new MessageChannel();
    const log = [];
    const text = "chunk 🦀 \u2028 ".repeat(10_000);

    const flush = (connection, port) => {
      for (let bytes; (bytes = sent(connection)).length > 0; ) port.postMessage(bytes);
    };
    port2.onmessage = ({ data }) => {
      agent.receive(data);
      for (const event of agent.events()) {
        log.push(`agent: ${event.type} ${event.method}`);
        if (event.method === "initialize") agent.respond(event, { agentCapabilities: {} });
        if (event.method === "session/new") agent.respond(event, { sessionId: "s" });
        if (event.method === "session/prompt") {
          const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
          agent.notify("session/update", { sessionId: "s", update });
          agent.respond(event, { stopReason: "end_turn" });
        }
      }
      flush(agent, port2);
    };
    const reason = await new Promise((done) => {
      port1.onmessage = ({ data }) => {
        client.receive(data);
        for (const event of client.events()) {
          log.push(`client: ${event.type} ${event.method}`);
          if (event.type === "notification") equal(event.params.update.content.text === text, true);
          if (event.method === "initialize") client.request("session/new", { cwd: "/", mcpServers: [] });
          if (event.method === "session/new") {
            client.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "hi" }] });
          }
          if (event.method === "session/prompt") done(event.result.stopReason);
        }
        flush(client, port1);
      };
      client.request("initialize", {});
      flush(client, port1);
    });
    equal(reason, "end_turn");
    equal(log, [
      "agent: request initialize",
      "client: response initialize",
      "agent: request session/new",
      "client: response session/new",
      "agent: request session/prompt",
      "client: notification session/update",
      "client: response session/prompt",
    ]);
    client.free();
    agent.free();
  },

  "an abort in the page is a cancel at the agent": () => {
    const client = new Connection({ role: "client" });
    const agent = new Connection({ role: "agent" });
    client.request("initialize", {});
    agent.respond(carry(client, agent)[0], {});
    carry(agent, client);
    const controller = new AbortController();
    const id = client.request("_x/y", {}, { id: 2n ** 60n, signal: controller.signal });
    carry(client, agent);
    controller.abort();
    const [cancel] = carry(client, agent);
    equal([cancel.type, cancel.id === id], ["cancel", true]);
  },

  "misuse is an error of its own class": () => {
    const client = new Connection({ role: "client" });
    try {
      client.request("session/new", { cwd: "/", mcpServers: [] });
    } catch (error) {
      equal([error instanceof Misuse, error.kind], [true, "phase"]);
      return;
    }
    throw new Error("nothing was thrown");
  },
};

globalThis.checks = checks;
