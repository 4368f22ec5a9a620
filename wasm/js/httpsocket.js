// WebSockets for a service: any object with the interface of browsers, and what the package `ws` adds to it.

// A socket is full with so many bytes, and is asked again after so many milliseconds.
const BUFFERED = 1 << 20;
const ROUND = 10;

/**
 * Asks whether a socket may be opened: a response that refuses it, or the headers that accept it with a function that takes
 * the socket.
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
    const take = (socket) => (wake = carry(service, exchange, socket));
    return { headers: outcome.headers, take, abandon: () => service.over(exchange) };
  }
  service.over(exchange);
  return outcome ?? { response: { status: 426, headers: [["upgrade", "websocket"]], body: "" } };
}

/** Carries frames both ways; what it returns is to be called when there are some to send. */
function carry(service, exchange, socket) {
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
        if (frame.frame === "text") socket.send(frame.text);
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
  socket.addEventListener("message", ({ data }) => {
    pause(typeof data === "string" ? service.heard(exchange, "text", data) : service.heard(exchange, "binary"));
  });
  socket.on?.("pong", () => service.heard(exchange, "pong"));
  socket.on?.("ping", () => service.heard(exchange, "pong"));
  socket.addEventListener("error", over);
  socket.addEventListener("close", over);
  if (socket.readyState === 1) send();
  else if (socket.readyState === 0) socket.addEventListener("open", send);
  else over();
  return send;
}
