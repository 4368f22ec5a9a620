// An agent of both versions behind the router of the official TypeScript SDK, on standard input and output.
import { Readable, Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import * as one from "@agentclientprotocol/sdk";
import * as two from "@agentclientprotocol/sdk/experimental/v2";

const INFO = { name: "router", version: "1.0.0" };
const SESSION = { sessionId: "session-1" };
const text = (content) => ({ content: { type: "text", text: content } });
const updates = (client, list) =>
  list.reduce((before, update) => before.then(() => client.notify("session/update", { ...SESSION, update })), Promise.resolve());

const first = one
  .agent({ name: "version 1" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentInfo: INFO }))
  .onRequest("session/new", () => SESSION)
  .onRequest("session/prompt", async ({ client }) => {
    await updates(client, [{ sessionUpdate: "agent_message_chunk", ...text("This is version 1.") }]);
    return { stopReason: "end_turn" };
  });

const second = two
  .agent({ name: "version 2" })
  .onRequest("initialize", () => ({ protocolVersion: 2, info: INFO, capabilities: { session: {} } }))
  .onRequest("session/new", () => SESSION)
  .onRequest("session/prompt", ({ params, client }) => {
    // Behind the answer, which the SDK sends some microtasks after this handler has returned.
    setImmediate().then(() =>
      updates(client, [
        { sessionUpdate: "user_message", messageId: "user-1", content: params.prompt },
        { sessionUpdate: "state_update", state: "running" },
        { sessionUpdate: "agent_message_chunk", messageId: "message-1", ...text("This is version 2.") },
        { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
      ]),
    );
    return { messageId: "user-1" };
  });

const router = two.agentProtocolRouter().withV1(first).withV2(second);
await router.connect(two.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin))).closed;
