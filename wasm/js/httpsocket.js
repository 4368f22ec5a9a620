// WebSockets for a service: any object with the interface of browsers, and what the package `ws` adds to it.

// A socket is full with so many bytes, and is asked again after so many milliseconds.
const BUFFERED = 1 << 20;
const ROUND = 10;

// The package `ws` takes and gives bytes as they are; other sockets have text frames as text.
const AS_TEXT = { binary: false };

/**
 * Asks whether a socket may be opened: a response that refuses it, or the headers that accept it with a function that takes
 * the socket. `_gathered` also takes what has the platform write frames together that are sent together.
 */
export function upgrade(service, head) {
  let outcome;
  let wake = () => {};
  const { exchange } = service.begin(head, {
    respond: (response) => (outcome = { response }),
    // It was no handshake.
    stream: () => (outcome = { response: { status: 426, headers: [["upgrade", "websocket"]], body: "" } }),
    upgrade: ({ headers }) => (outcome = { headers }),
    ready: () => wake(),
    finish: () => wake(),
  });
  if (outcome?.headers) {
    const gathered = (socket, gather) => (wake = carry(service, exchange, socket, gather));
    // Libraries call it with more than the socket.
    const take = (socket) => gathered(socket);
    return { headers: outcome.headers, take, _gathered: gathered, abandon: () => service.over(exchange) };
  }
  service.over(exchange);
  return outcome ?? { response: { status: 426, headers: [["upgrade", "websocket"]], body: "" } };
}

/** Hears what comes on a socket: the bytes or the text of a text frame, or nothing for another one. */
export function onFrame(socket, heard) {
  if (isPackage(socket)) socket.on("message", (data, isBinary) => heard(isBinary ? undefined : data));
  else socket.addEventListener("message", ({ data }) => heard(typeof data === "string" ? data : undefined));
}

const decoder = new TextDecoder();
/** Sends a text frame from its bytes. */
export function sendText(socket, bytes) {
  if (isPackage(socket)) socket.send(bytes, AS_TEXT);
  else socket.send(decoder.decode(bytes));
}

const isPackage = (socket) => typeof socket.on === "function" && typeof socket.ping === "function";

/** Carries frames both ways; what it returns is to be called when there are some to send. */
function carry(service, exchange, socket, gather = () => {}) {
  let sending = false;
  let paused = false;
  let timer;
  const over = () => {
    clearTimeout(timer);
    service.over(exchange);
  };
  const pause = (hungry) => {
    if (hungry || paused || typeof socket.pause !== "function") return;
    paused = true;
    socket.pause();
    const look = () => {
      if (service._core.isHungry(exchange)) {
        paused = false;
        socket.resume();
      } else {
        setTimeout(look, ROUND).unref?.();
      }
    };
    setTimeout(look, ROUND).unref?.();
  };
  const send = () => {
    if (sending || socket.readyState !== 1) return;
    sending = true;
    try {
      while (socket.readyState === 1 && socket.bufferedAmount <= BUFFERED) {
        const frame = service._core.frame(exchange);
        if (!frame) break;
        gather();
        if (frame.frame === "text") sendText(socket, frame.text);
        else if (frame.frame === "close") socket.close(frame.code, frame.reason);
        else if (typeof socket.ping === "function") socket.ping();
        // Where the platform pings by itself, it also finds out who is gone.
        else service.heard(exchange, "pong");
      }
    } finally {
      sending = false;
    }
    // Frames that were taken may have made room.
    service._turn();
    if (socket.readyState !== 1 || socket.bufferedAmount <= BUFFERED || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      send();
    }, ROUND);
  };
  socket.binaryType = "arraybuffer";
  onFrame(socket, (text) => pause(text === undefined ? service.heard(exchange, "binary") : service.heard(exchange, "text", text)));
  socket.on?.("pong", () => service.heard(exchange, "pong"));
  socket.on?.("ping", () => service.heard(exchange, "pong"));
  socket.addEventListener("error", over);
  socket.addEventListener("close", over);
  if (socket.readyState === 1) send();
  else if (socket.readyState === 0) socket.addEventListener("open", send);
  else over();
  return send;
}
