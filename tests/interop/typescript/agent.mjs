// The agent of the script on the official TypeScript SDK: `node agent.mjs --script script.json`.
import { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";
import * as acp from "@agentclientprotocol/sdk";
import { Player } from "./player.mjs";
import { load } from "./script.mjs";

const { values } = parseArgs({ options: { script: { type: "string" } } });
const info = { name: "libacp-interop-typescript-agent", version: "0.1.0" };
const { initialize, session } = acp.methods.agent;

const player = new Player(load(values.script), "agent", {
  request: (method, params) => connection.client.request(method, params),
  notify: (method, params) => connection.client.notify(method, params),
  perform: (method, params, result) => (method === initialize ? { ...result, agentInfo: info } : result),
  bind(method, params) {
    if (method === initialize) player.requireName("clientInfo", params.clientInfo);
    if (method === session.new) player.vars.cwd = params.cwd;
    if (method === session.prompt && !player.vars.work) {
      const uri = params.prompt.find((block) => block.type === "resource_link")?.uri ?? "";
      const found = /^file:\/\/(\/.*)\/notes\.md$/.exec(uri);
      if (!found) throw new Error(`${player.at}: the prompt links to no notes.md`);
      player.vars.work_uri = found[1];
      player.vars.work = decodeURIComponent(found[1]);
    }
  },
});

const app = acp.agent({ name: info.name });
// First: the SDK awaits each handler that does not match, so a later place lets the permission's result overtake.
app.onNotification(session.cancel, ({ params }) =>
  player.push({ kind: "notification", name: session.cancel, params }),
);
for (const method of [initialize, session.new, session.prompt]) {
  app.onRequest(method, ({ params }) => player.receive(method, params));
}
app.onRequest("_libacp.dev/echo", (params) => params, ({ params }) => player.receive("_libacp.dev/echo", params));

const connection = app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
connection.closed.then(() => player.push({ kind: "eof", name: "" }));

try {
  await player.run();
  await connection.closed;
  player.expectEmpty();
} catch (error) {
  console.error(`typescript agent: ${error.message}`);
  process.exit(1);
}
