// Requests of a remote client, by `fetch`: their bodies are read as fast as the host reads. Read next: httpclient.js.
import { inBrowser } from "./httpways.js";

// Bytes of a body that is neither a stream nor an answer: why a message is refused, and what has to be read before the
// connection can be used again.
const SMALL = 64 << 10;
// What says that nothing was sent: the names of Node's errors.
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Makes a request, and passes in what comes of it. */
export async function request(remote, { exchange, method, target, headers, body }, { fetch = globalThis.fetch, credentials }) {
  const controller = new AbortController();
  let stopped = false;
  remote._begun(exchange, () => {
    stopped = true;
    controller.abort();
  });
  const how = { method, headers, signal: controller.signal, redirect: "manual", cache: "no-store" };
  if (body !== "") how.body = body;
  if (credentials) how.credentials = credentials;
  // A page that is left may still say goodbye.
  if (method === "DELETE" && inBrowser) how.keepalive = true;
  let begun = false;
  try {
    const response = await fetch(new URL(target, remote._url).href, how);
    if (stopped) return;
    begun = true;
    // A browser does not tell where it was sent.
    const status = response.type === "opaqueredirect" ? 307 : response.status;
    remote._head(exchange, status, listOf(response.headers));
    await read(remote, response.body, (bytes) => {
      if (!stopped) remote._heard((core) => core.data(exchange, bytes));
      return !stopped;
    }, method === "GET" || status === 200 ? Infinity : SMALL);
    if (!stopped) remote._heard((core) => core.end(exchange));
  } catch (error) {
    if (stopped) return;
    remote._failed(error);
    const sent = begun || !UNSENT.has(error?.cause?.code ?? error?.code);
    remote._heard((core) => (begun ? core.end(exchange) : core.failed(exchange, sent)));
  } finally {
    remote._done(exchange);
  }
}

/** Reads so many bytes of a body, as long as `take` says so. */
async function read(remote, body, take, most) {
  const reader = body?.getReader();
  for (let size = 0; reader && size <= most; ) {
    // What the host has not read holds up the server.
    await remote._room();
    const { done, value } = await reader.read();
    if (done) return;
    size += value.length;
    if (!take(value)) break;
  }
  reader?.cancel().catch(() => {});
}

/** The headers of a response, each cookie on its own. */
function listOf(headers) {
  const cookies = headers.getSetCookie?.() ?? [];
  return [...[...headers].filter(([name]) => name !== "set-cookie"), ...cookies.map((cookie) => ["set-cookie", cookie])];
}
