// Which ways a platform has to a remote agent, and which one is tried first. Read next: httpclient.js.

// Origins whose way is remembered.
const ORIGINS = 100;
const SCHEMES = ["http:", "https:", "ws:", "wss:"];
const TRANSPORTS = ["auto", "http", "websocket"];

const inNode = typeof process === "object" && process?.versions?.node !== undefined;
export const inBrowser = !inNode && typeof navigator === "object" && typeof self === "object";

/** What has worked with an origin. */
const known = new Map();

/** Remembers what has worked, where that was to be found out. */
export function remember({ origin }, { transport = "auto" }, way) {
  if (transport !== "auto") return;
  known.delete(origin);
  known.set(origin, way);
  if (known.size > ORIGINS) known.delete(known.keys().next().value);
}

/** The package `ws` takes headers in a third argument, and has pings. */
const isPackage = (WebSocket) => typeof WebSocket?.prototype?.ping === "function";

/** Opens a WebSocket with headers, where the platform can send them. */
export function open(WebSocket, url, headers) {
  const all = Object.fromEntries(headers);
  if (isPackage(WebSocket)) return new WebSocket(url, [], { headers: all, perMessageDeflate: false });
  // Node's own class takes them in the second argument.
  if (inNode && headers.length > 0) return new WebSocket(url, { headers: all });
  return new WebSocket(url);
}

/** The ways to carry messages, the first one first. */
export function waysTo({ protocol, origin }, { transport = "auto", fetch, WebSocket = globalThis.WebSocket, headers }) {
  if (!SCHEMES.includes(protocol)) throw new TypeError(`connect: expected an address of http, https, ws or wss, found ${protocol}`);
  if (!TRANSPORTS.includes(transport)) throw new TypeError(`transport: expected auto, http or websocket, found ${transport}`);
  const isSocket = protocol.startsWith("ws");
  if (isSocket && transport === "http") throw new TypeError("transport: an address of ws or wss is that of a WebSocket");
  if (isSocket || transport === "websocket") {
    if (!WebSocket) throw new TypeError("WebSocket: this platform has none; give one, such as that of the package ws");
    return ["websocket"];
  }
  // Who gives a `fetch` of his own means it.
  if (transport === "http" || fetch || !WebSocket) return ["http"];
  const hasHeaders = headers !== undefined && [...new Headers(headers)].length > 0;
  if (hasHeaders && !inNode && !isPackage(WebSocket)) return ["http"];
  const first = ["websocket", "http"];
  const before = known.get(origin);
  // What did not work before is tried last.
  return before ? [before, ...first.filter((way) => way !== before)] : first;
}
