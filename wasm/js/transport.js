// Transports for every place: web streams, WebSockets, message ports. A transport is an object with
//   readable   what comes in, asynchronously iterable: bytes or text; whole messages with the framing `messages`
//   write()    takes bytes; what it returns settles when more can be taken, and nothing means at once
//   close()    ends this side
//   framing    how messages are told apart; lines, when it says nothing
import { Inbox } from "./inbox.js";
import { deferred } from "./wire.js";

// What may wait of a source that cannot be held back. It is twice the largest message that is taken by default.
const MOST = 64 << 20;
// A socket is full with so many bytes, and is asked again after so many milliseconds.
const BUFFERED = 1 << 20;
const ROUND = 10;

/** A function, or a class, of the other entry. */
export const nodeOnly = (name) =>
  function () {
    throw new Error(`${name} needs processes and files, as under Node; here, connect to a WebSocket, streams or a port`);
  };

/** What comes of a source that cannot be held back, up to a limit; `full` is called beyond it. */
function limited(most, full) {
  const pushed = (size) => {
    if (size <= most) return;
    inbox.end(new Error(`more than ${most} bytes wait to be read; the peer was cut off`));
    full();
  };
  const inbox = new Inbox({ pushed });
  // What comes behind the end is nobody's, and would fill the memory.
  return { inbox, heard: (chunk) => inbox.isOver || inbox.push(chunk) };
}

const bytesOf = (data) =>
  typeof data === "string" ? data : new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);

/** A pair of web streams that carry bytes (or, with the framing `messages`, one message a chunk). */
export function streams(readable, writable, { framing } = {}) {
  const writer = writable.getWriter();
  const reader = readable.getReader();
  return {
    framing,
    // Not every browser's streams can be iterated over, and none can be ended meanwhile.
    readable: { [Symbol.asyncIterator]: () => ({ next: () => reader.read() }) },
    async write(bytes) {
      await writer.ready;
      // Whether it arrives shows at the next write.
      await writer.write(bytes).catch(() => {});
      await writer.ready;
    },
    close() {
      reader.cancel().catch(() => {});
      return writer.close();
    },
  };
}

/** A WebSocket, or the address of one; one message a frame. A peer that outruns the host by `most` bytes is cut off. */
export function webSocket(socket, { protocols, most = MOST } = {}) {
  if (typeof socket === "string" || socket instanceof URL) socket = new WebSocket(socket, protocols);
  socket.binaryType = "arraybuffer";
  const opened = deferred();
  const { inbox, heard } = limited(most, () => socket.close(1008, "too much at once"));
  const failed = new Error("the WebSocket failed");
  if (socket.readyState === 1) opened.resolve();
  if (socket.readyState > 1) inbox.end(failed);
  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("message", ({ data }) => heard(bytesOf(data)));
  socket.addEventListener("error", () => inbox.end(failed));
  socket.addEventListener("close", () => {
    opened.reject(failed);
    inbox.end();
  });
  opened.promise.catch(() => {});
  const decoder = new TextDecoder();
  return {
    framing: "messages",
    readable: inbox,
    async write(bytes) {
      await opened.promise;
      socket.send(decoder.decode(bytes));
      while (socket.bufferedAmount > BUFFERED && socket.readyState === 1) {
        await new Promise((resolve) => setTimeout(resolve, ROUND));
      }
    },
    close() {
      socket.close(1000);
      inbox.end();
    },
  };
}

/** Hears what a port says, and its end; gives what stops that. A worker has events of Node's under Node. */
function listen(port, heard, ended) {
  if (typeof port.addEventListener !== "function") {
    port.on("message", heard).on("error", ended).on("exit", () => ended());
    return () => port.off("message", heard);
  }
  const told = ({ data }) => heard(data);
  port.addEventListener("message", told);
  port.addEventListener("close", () => ended());
  port.start?.();
  return () => port.removeEventListener("message", told);
}

/** A message port, a worker, or what a worker sees of its page; one message a message, and null at the end. */
export function messagePort(port, { most = MOST } = {}) {
  const { inbox, heard } = limited(most, () => port.close?.());
  const told = (data) => {
    const message = typeof data === "string" || ArrayBuffer.isView(data) || data instanceof ArrayBuffer;
    if (message) heard(bytesOf(data));
    else if (data === null) inbox.end();
  };
  const forget = listen(port, told, (error) => inbox.end(error));
  let transfers = true;
  return {
    framing: "messages",
    readable: inbox,
    write(bytes) {
      try {
        if (transfers) port.postMessage(bytes, [bytes.buffer]);
        else port.postMessage(bytes);
      } catch (error) {
        // Some runtimes know no transfer.
        if (!transfers || bytes.byteLength === 0) throw error;
        transfers = false;
        port.postMessage(bytes);
      }
    },
    close() {
      port.postMessage(null);
      forget();
      inbox.end();
    },
  };
}
