// `libacp/http/node`: node:http and node:http2 for a service, and a `fetch` that speaks HTTP/2.
import { once } from "node:events";
import { STATUS_CODES, createServer } from "node:http";
import { serve } from "./http.node.js";
import { Service } from "./httpserver.js";
import { upgrade } from "./httpsocket.js";

export { http2Fetch } from "./http2fetch.node.js";

// Bytes of a stream that are handed over at once.
const PIECE = 64 << 10;
// So long connections may stay open when the server is closed.
const LEFT = 1000;

/** The head of a request: HTTP/2 names the host in a header of its own. */
function headOf(request) {
  const { rawHeaders } = request;
  const headers = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!rawHeaders[at].startsWith(":")) headers.push([rawHeaders[at], rawHeaders[at + 1]]);
  }
  if (request.headers.host === undefined && request.headers[":authority"] !== undefined) {
    headers.push(["host", request.headers[":authority"]]);
  }
  return { method: request.method, target: request.url, headers };
}

/** Adds the value to the others of the same name, as Node's writers want them. */
function byName(headers) {
  const all = {};
  for (const [name, value] of headers) all[name] = name in all ? [all[name], value].flat() : value;
  return all;
}

function handle(service, request, response) {
  let ended = false;
  let full = false;
  let number;
  const flush = () => {
    while (!full && !response.destroyed) {
      const bytes = service.take(number, PIECE);
      if (!bytes) break;
      // Over HTTP/2, nothing else says so.
      full = !response.write(bytes);
    }
    if (ended && !full) {
      response.end();
      service.over(number);
    }
  };
  const isOld = request.httpVersionMajor === 1;
  const begun = service.begin(headOf(request), {
    respond({ status, headers, body }) {
      const all = byName(headers);
      // What is left of a body that nobody reads must not be taken for the next request.
      if (isOld && !request.complete) all.connection = "close";
      response.writeHead(status, all).end(body);
    },
    stream({ status, headers }) {
      response.writeHead(status, byName(headers));
      response.flushHeaders();
    },
    upgrade: () => {
      response.writeHead(426, { upgrade: "websocket" }).end();
      queueMicrotask(() => service.over(number));
    },
    ready: flush,
    finish() {
      ended = true;
      flush();
    },
  });
  number = begun.exchange;
  response.on("drain", () => {
    full = false;
    flush();
  });
  response.on("close", () => service.over(number));
  response.on("error", () => {});
  request.on("error", () => {});
  flush();
  if (!begun.wantsBody) return;
  const take = (bytes) => {
    if (!service.body(number, bytes, false)) stop();
  };
  const end = () => {
    stop();
    service.body(number, new Uint8Array(), true);
  };
  const stop = () => request.off("data", take).off("end", end).resume();
  request.on("data", take).on("end", end);
}

/** Refuses a WebSocket on a socket that speaks HTTP/1.1. */
function refuse(socket, { status, headers, body }) {
  const all = [...headers, ["connection", "close"], ["content-length", Buffer.byteLength(body)]];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines}\r\n${body}`);
}

/** Has the frames of one turn of the event loop written together. */
function gathering(socket) {
  let isHeld = false;
  const release = () => {
    isHeld = false;
    socket.uncork();
  };
  return () => {
    if (isHeld) return;
    isHeld = true;
    socket.cork();
    process.nextTick(release);
  };
}

const NO_SOCKETS = { status: 501, headers: [], body: "" };

async function webSockets(given, maxPayload) {
  let type = given;
  if (!type) {
    try {
      type = (await import("ws")).WebSocketServer;
    } catch {
      return undefined;
    }
  }
  const added = new WeakMap();
  // A little more than the state machine takes, so that it is the one to say why.
  const server = new type({ noServer: true, maxPayload: maxPayload + 1024, perMessageDeflate: false, clientTracking: false });
  server.on("headers", (lines, request) => {
    for (const [name, value] of added.get(request) ?? []) lines.push(`${name}: ${value}`);
  });
  return { server, added };
}

export function nodeHandler(served, { WebSocketServer, ...options } = {}) {
  const service = served instanceof Service ? served : serve(served, options);
  let sockets;
  const take = (request, response) => {
    if (service._core) handle(service, request, response);
    else service.ready().then(() => handle(service, request, response), (error) => response.destroy(error));
  };
  const open = async (request, socket, head) => {
    socket.on("error", () => {});
    await service.ready();
    sockets ??= webSockets(WebSocketServer, service.mostBytes);
    const ready = await sockets;
    if (socket.destroyed) return;
    const asked = upgrade(service, headOf(request));
    if (asked.response) return refuse(socket, asked.response);
    if (!ready) {
      asked.abandon();
      return refuse(socket, NO_SOCKETS);
    }
    // The library refuses what is no handshake by itself.
    socket.once("close", asked.abandon);
    ready.added.set(request, asked.headers);
    ready.server.handleUpgrade(request, socket, head, (opened) => {
      socket.off("close", asked.abandon);
      asked._gathered(opened, gathering(socket));
    });
  };
  const upgraded = (request, socket, head) => void open(request, socket, head).catch((error) => socket.destroy(error));
  return Object.assign(take, { service, upgrade: upgraded, close: (how) => service.close(how) });
}

export async function listen(served, { port = 0, host = "127.0.0.1", server = createServer(), ...options } = {}) {
  const handler = nodeHandler(served, options);
  server.on("request", handler).on("upgrade", handler.upgrade);
  // What a server has accepted it does not end by itself: connections of HTTP/2, and some that nobody uses any more.
  const sessions = new Set();
  const idle = new Set();
  const noted = (set, each) => {
    set.add(each);
    each.once("close", () => set.delete(each));
  };
  let closing = false;
  server.on("session", (session) => noted(sessions, session));
  server.on("connection", (socket) => noted(idle, socket));
  server.prependListener("upgrade", (request, socket) => idle.delete(socket));
  server.prependListener("request", ({ socket, httpVersionMajor }, response) => {
    if (httpVersionMajor > 1) return;
    idle.delete(socket);
    response.once("close", () => {
      if (closing) socket.destroySoon();
      else if (!socket.destroyed) idle.add(socket);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const { address, family, port: at } = server.address();
  const name = family === "IPv6" ? `[${address}]` : address;
  const scheme = "setSecureContext" in server ? "https" : "http";
  return {
    server,
    service: handler.service,
    url: `${scheme}://${name}:${at}${options.path ?? "/acp"}`,
    async close(how) {
      const stopped = new Promise((resolve) => server.close(resolve));
      await handler.close(how);
      closing = true;
      for (const session of sessions) session.close();
      if (sessions.size === 0) for (const socket of idle) socket.destroy();
      const late = setTimeout(() => {
        server.closeAllConnections?.();
        for (const session of sessions) session.destroy();
      }, LEFT);
      await stopped;
      clearTimeout(late);
    },
  };
}
