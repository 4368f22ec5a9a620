// Agents behind TLS: a certificate that is trusted, one that is not, and one of another name.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSecureServer } from "node:http2";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { certificate } from "./certificate.mjs";
import { WebSocket, WebSocketServer, http2Fetch, listen, storyteller } from "./faraway.mjs";
import { turn } from "./secure-turn.mjs";

const program = fileURLToPath(new URL("secure-turn.mjs", import.meta.url));

/** A server behind TLS; its address without the scheme. */
async function served(t, { cert, key }) {
  const { agent } = storyteller();
  const server = createSecureServer({ allowHTTP1: true, cert, key });
  const served = await listen(agent, { server, WebSocketServer, log: () => {} });
  t.after(() => served.close({ grace: 300 }));
  return `localhost:${server.address().port}/acp`;
}

/** The class of the package `ws`, which trusts this certificate. */
const trusting = (ca) => class extends WebSocket {
  constructor(address, protocols) {
    super(address, protocols, { ca });
  }
};

/** A turn by Node's own `fetch`, in a process of its own: which certificates that trusts is read when Node starts. */
async function turnByFetch(address, file) {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
  const { stdout } = await promisify(execFile)(process.execPath, [program, address], { env });
  return stdout.trim();
}

test("a certificate that is trusted", async (t) => {
  const here = certificate((work) => t.after(work));
  const address = await served(t, here);
  const fetch = http2Fetch({ ca: here.cert });
  t.after(() => fetch.close());
  assert.equal(await turn(`https://${address}`, { transport: "http", fetch }), "http");
  assert.equal(await turn(`wss://${address}`, { WebSocket: trusting(here.cert) }), "websocket");
  assert.equal(await turnByFetch(`https://${address}`, here.file), "http");
});

test("one that is not says so", async (t) => {
  const [here, other] = [0, 1].map(() => certificate((work) => t.after(work)));
  const address = await served(t, here);
  for (const ca of [undefined, other.cert]) {
    const fetch = http2Fetch({ ca });
    t.after(() => fetch.close());
    const ways = [
      [`https://${address}`, { transport: "http", fetch }],
      [`https://${address}`, { transport: "http" }],
      [`wss://${address}`, { WebSocket: trusting(ca) }],
    ];
    for (const way of ways) await assert.rejects(turn(...way), unreachable(/self-signed certificate/));
  }
});

test("one of another name says so", async (t) => {
  const elsewhere = certificate((work) => t.after(work), "agents.example.com");
  const address = await served(t, elsewhere);
  const fetch = http2Fetch({ ca: elsewhere.cert });
  t.after(() => fetch.close());
  for (const way of [
    [`https://${address}`, { transport: "http", fetch }],
    [`wss://${address}`, { WebSocket: trusting(elsewhere.cert) }],
  ]) {
    await assert.rejects(turn(...way), unreachable(/does not match certificate's altnames/));
  }
});

/** What an error has to be: one that says why. */
const unreachable = (why) => (error) => {
  assert.deepEqual([error.outcome, error.cause?.why], ["closed", "unreachable"]);
  assert.match(error.cause.message, why);
  return true;
};
