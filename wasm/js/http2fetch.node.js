// A `fetch` over HTTP/2, for a client under Node, whose own speaks HTTP/1.1 only. One connection carries all streams.
import { connect, constants } from "node:http2";
import { Readable } from "node:stream";

// Bytes that are read ahead of whoever reads a body.
const AHEAD = 64 << 10;
const HOPS = new Set(["connection", "host", "keep-alive", "transfer-encoding", "upgrade"]);

export function http2Fetch(options = {}) {
  const sessions = new Map();
  // Streams that are open, by connection: they keep a program alive, and a connection does not.
  const open = new WeakMap();
  const count = (session, more) => {
    const now = (open.get(session) ?? 0) + more;
    open.set(session, now);
    if (now > 0) session.ref();
    else session.unref();
  };
  const sessionOf = (origin) => {
    const known = sessions.get(origin);
    if (known && !known.closed && !known.destroyed) return known;
    const session = connect(origin, options);
    session.on("error", () => {});
    session.on("close", () => {
      if (sessions.get(origin) === session) sessions.delete(origin);
    });
    session.on("goaway", () => sessions.delete(origin));
    sessions.set(origin, session);
    return session;
  };
  const ask = (url, { method = "GET", headers = {}, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(url);
      const session = sessionOf(origin);
      const pairs = [...new Headers(headers)].filter(([name]) => !HOPS.has(name));
      const asked = { ...Object.fromEntries(pairs), ":method": method, ":path": pathname + search };
      const stream = session.request(asked, { endStream: !body });
      count(session, 1);
      const stop = () => stream.close(constants.NGHTTP2_CANCEL);
      signal?.addEventListener("abort", stop, { once: true });
      stream.on("error", reject);
      stream.on("close", () => {
        signal?.removeEventListener("abort", stop);
        reject(signal?.reason ?? new TypeError("the stream was closed before its response"));
        count(session, -1);
      });
      stream.on("response", (all) => {
        const received = new Headers();
        for (const [name, value] of Object.entries(all)) {
          if (name.startsWith(":")) continue;
          for (const one of [value].flat()) received.append(name, one);
        }
        const status = all[":status"];
        resolve({ status, headers: received, body: Readable.toWeb(stream, { strategy: new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }) }) });
      });
      if (signal?.aborted) stop();
      else if (body) stream.end(body);
    });
  ask.close = () => sessions.forEach((session) => session.close());
  return ask;
}
