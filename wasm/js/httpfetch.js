// Web-standard requests for a service: `Request` in, `Response` out.
import { deferred } from "./wire.js";

// Bytes of a stream that are handed over at once.
const PIECE = 64 << 10;

const NO_BODY = new Set([101, 204, 205, 304]);

export const headOf = (request) => {
  const { host, pathname, search } = new URL(request.url);
  const headers = [...request.headers];
  // Platforms differ in whether a request tells its own host.
  if (!request.headers.has("host")) headers.push(["host", host]);
  return { method: request.method, target: pathname + search, headers };
};

const responseOf = ({ status, headers, body }) => new Response(NO_BODY.has(status) || body === "" ? null : body, { status, headers });

/** Answers a request. */
export async function answer(service, request) {
  await service.ready();
  const answered = deferred();
  let waiting;
  let ended = false;
  let number;
  const wake = () => waiting?.resolve();
  const over = () => {
    ended = true;
    service.over(number);
    wake();
  };
  const pull = async (controller) => {
    for (;;) {
      const bytes = service.take(number, PIECE);
      if (bytes) {
        controller.enqueue(bytes);
        return;
      }
      if (ended) {
        service.over(number);
        controller.close();
        return;
      }
      await (waiting = deferred()).promise;
    }
  };
  const sink = {
    respond: (response) => answered.resolve(responseOf(response)),
    // Nothing is taken ahead: what a reader does not read stays with the server, which counts it.
    stream: ({ status, headers }) =>
      answered.resolve(new Response(new ReadableStream({ pull, cancel: over }, { highWaterMark: 0 }), { status, headers })),
    upgrade: () => {
      // Whoever takes sockets asks `upgrade` first.
      answered.resolve(new Response(null, { status: 426, headers: { upgrade: "websocket" } }));
      queueMicrotask(() => service.over(number));
    },
    ready: wake,
    finish() {
      ended = true;
      wake();
    },
  };
  const begun = service.begin(headOf(request), sink);
  number = begun.exchange;
  const { signal } = request;
  signal?.addEventListener("abort", over, { once: true });
  if (begun.wantsBody) {
    read(service, number, request.body).catch(over);
  }
  return answered.promise;
}

/** Passes a body in, as fast as it comes. */
async function read(service, exchange, body) {
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = reader ? await reader.read() : { done: true };
    if (!service.body(exchange, value ?? new Uint8Array(), done) || done) break;
  }
  // What nobody wants any more need not come.
  reader?.cancel().catch(() => {});
}
