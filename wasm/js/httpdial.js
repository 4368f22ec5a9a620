// The WebSocket of a remote client. Read next: httpclient.js.
import { onFrame, sendText } from "./httpsocket.js";
import { open } from "./httpways.js";
import { deferred } from "./wire.js";

// A socket is full with so many bytes, and is asked again after so many milliseconds.
const BUFFERED = 1 << 20;
const ROUND = 10;
/** In place of an id that the platform does not show. */
export const HIDDEN = "hidden";

const pairs = (raw) => Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at], raw[2 * at + 1]]);

export class Dialled {
  #socket;
  #frames = [];
  #poured;
  #timer;
  #over = false;

  constructor(remote, { exchange, headers }, { WebSocket = globalThis.WebSocket }) {
    const url = new URL(remote._url);
    url.protocol = url.protocol.replace("http", "ws");
    let opened = false;
    const end = (error) => {
      if (this.#over) return;
      this.#stop();
      if (error) remote._failed(error);
      remote._heard((core) => (opened ? core.end(exchange) : core.failed(exchange, false)));
      remote._done(exchange);
    };
    remote._begun(exchange, () => {
      this.#stop();
      this.#socket?.close();
      remote._done(exchange);
    });
    try {
      this.#socket = open(WebSocket, url.href, headers);
    } catch (error) {
      queueMicrotask(() => end(error));
      return;
    }
    const socket = this.#socket;
    socket.binaryType = "arraybuffer";
    let received;
    // Only the package `ws` shows the response.
    socket.on?.("upgrade", ({ rawHeaders }) => (received = pairs(rawHeaders)));
    socket.on?.("unexpected-response", (asked, response) => {
      this.#stop();
      asked.destroy();
      remote._head(exchange, response.statusCode, pairs(response.rawHeaders));
      remote._done(exchange);
    });
    socket.addEventListener("open", () => {
      if (this.#over) return;
      opened = true;
      // Where nobody shows the headers, none is missing.
      remote._head(exchange, 101, received ?? [["acp-connection-id", HIDDEN]]);
    });
    onFrame(socket, (text) => {
      if (this.#over) return;
      remote._heard((core) => (text === undefined ? core.binary(exchange) : core.text(exchange, text)));
    });
    socket.addEventListener("error", (event) => end(event.error ?? new Error(event.message || "the WebSocket failed")));
    socket.addEventListener("close", ({ code }) => {
      if (!this.#over && code) remote._heard((core) => core.closed(exchange, code));
      end();
    });
  }

  #stop() {
    this.#over = true;
    this.#frames = [];
    clearTimeout(this.#timer);
    this.#pour();
  }

  send(frame) {
    if (!this.#over) this.#frames.push(frame);
    this.#pour();
  }

  /** Settles when the socket has taken what it was given; undefined where it has. */
  get poured() {
    return this.#frames.length > 0 ? (this.#poured ??= deferred()).promise : undefined;
  }

  /** Reads no more for now, where the platform can do that. */
  pause() {
    this.#socket?.pause?.();
  }

  resume() {
    if (this.#socket?.isPaused) this.#socket.resume();
  }

  #pour() {
    const socket = this.#socket;
    while (this.#frames.length > 0 && socket?.readyState === 1) {
      if (socket.bufferedAmount > BUFFERED) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#pour(), ROUND);
        return;
      }
      const frame = this.#frames.shift();
      if (frame.frame === "text") sendText(socket, frame.text);
      else if (frame.frame === "close") socket.close(frame.code, frame.reason);
      else socket.ping?.();
    }
    this.#poured?.resolve();
    this.#poured = undefined;
  }
}
