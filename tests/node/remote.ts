// How hosts in TypeScript use the remote transports; compiled, never run. Each `@ts-expect-error` is a mistake that the types
// must catch.
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:http2";
import { Agent } from "libacp/agent";
import { Client, NoResult } from "libacp/client";
import type { AgentPeer } from "libacp/client";
import { HttpClient, HttpServer, RemoteError, connect, serve } from "libacp/http";
import type { ClientAction, Service, TransportEvent } from "libacp/http";
import { http2Fetch, listen, nodeHandler } from "libacp/http/node";

const agent = new Agent("a").prompt((turn) => turn.message(turn.text));
const service: Service = serve(agent, { hosts: ["agents.example.com"], limits: { headerBytes: 1000 }, times: { keepAlive: 1 } });
serve(({ id }) => new Agent(id));
export default service;
const response: Response = await service.fetch(new Request("http://localhost/acp"));
// @ts-expect-error an agent, or a function that makes one
serve({});
// @ts-expect-error no such limit
serve(agent, { limits: { bodi: 1 } });

const handler = nodeHandler(service, { onViolation: ({ rule, status }) => console.log(rule.length, status) });
createServer(handler).on("upgrade", handler.upgrade);
createSecureServer(handler);
const { url, close } = await listen(agent, { port: 0, token: "x" });
await close();

function hear(event: TransportEvent): string {
  switch (event.type) {
    case "lost":
      return event.sessions.join();
    case "retrying":
      return event.wait.toFixed();
    // @ts-expect-error no such event
    case "reconnected":
      return "";
    default:
      return event.type;
  }
}
const fetch = http2Fetch({ rejectUnauthorized: false });
const remote: AgentPeer = await connect(url, new Client("c"), {
  transport: "auto",
  headers: { authorization: "Bearer x" },
  authorize: async ({ challenge }) => (challenge === null ? undefined : { authorization: challenge }),
  limits: { streams: 5 },
  onTransport: hear,
  fetch,
});
const other: AgentPeer<1 | 2> = await connect(["agent"], new Client("c", "1", { versions: [1, 2] }), { cwd: "/" });
// @ts-expect-error a directory is for a command
await connect(url, new Client("c"), { cwd: "/" });
// @ts-expect-error no such transport
await connect(url, new Client("c"), { transport: "tcp" });
try {
  await (await remote.newSession("/")).prompt("x");
} catch (error) {
  if (error instanceof NoResult && error.outcome === "unknown") console.log(error.method, other.version);
  if (error instanceof NoResult && error.cause instanceof RemoteError) console.log(error.cause.status?.toFixed());
}

using server = new HttpServer({ path: "/acp" });
const step = server.request(1, { method: "GET", target: "/acp", headers: [["host", "localhost"]] });
if (step.step === "respond") console.log(step.status, step.body, response.status);
using machine = new HttpClient({ target: "/acp", websocket: true });
for (let action: ClientAction | undefined; (action = machine.pollAction()); ) {
  if (action.event === "request") machine.response(action.exchange, 200, [["content-type", "application/json"]]);
  else if (action.event === "frame" && action.frame.frame === "text") console.log(action.frame.text);
}
