// The module's memory, as this side reads and writes it by itself. `wasm/src/shared.rs` is the other side.
import { NOTIFICATION, called, notification } from "./events.js";

// Bytes that the room always has, and that it keeps once they were needed.
const ROOM = 64 * 1024;
const KEPT = 1 << 20;
// As the core counts them.
const TIMINGS = ["turn", "replay", "idle", "none"];
const [KIND, LATIN1, STATIC, SAME, TIMING] = [7, 8, 16, 32, 64];

// Safari's decoders fail after 2 GiB, so they are replaced in time.
const LIFE = 1 << 30;
let decoder;
let decoded = Infinity;

function read(bytes, from, to) {
  decoded += to - from;
  if (decoded > LIFE) {
    decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    decoded = to - from;
  }
  return decoder.decode(bytes.subarray(from, to));
}

const encoder = new TextEncoder();

/** How bytes are seen, and text is read and written, in every place; Node has faster ways. Here Latin-1 is only ASCII. */
const ANYWHERE = {
  view: (buffer) => new Uint8Array(buffer),
  read,
  write: (bytes, text, at) => encoder.encodeInto(text, bytes.subarray(at, at + 3 * text.length)).written,
  size: (text) => encoder.encode(text).length,
};

export class Border {
  #memory;
  #how;
  #bytes = [];
  #words;
  #size = ROOM;
  #room;
  #record;
  #busy;
  /** Text that stays where it is, by address. */
  #names = new Map();

  constructor(glue, { memory }, how = ANYWHERE) {
    this.glue = glue;
    this.#memory = memory;
    this.#how = how;
    this.#room = glue.room(ROOM);
    this.#record = glue.record() / 4;
    this.#busy = glue.busy() / 4;
  }

  /** Sees to it that the views are those of the memory: when it has grown, they have no length. */
  #look() {
    if (this.#bytes.length > 0) return;
    this.#bytes = this.#how.view(this.#memory.buffer);
    this.#words = new Uint32Array(this.#memory.buffer);
  }

  /** Makes room for so many bytes. */
  #fit(size) {
    this.#look();
    if (size <= this.#size && this.#size <= KEPT && this.#words[this.#busy] === 0) return;
    const fitting = size > ROOM ? size : ROOM;
    const room = this.glue.room(fitting);
    if (room === 0) throw new RangeError(`no memory for ${size} bytes in libacp's module`);
    [this.#size, this.#room] = [fitting, room];
    this.#look();
  }

  /** Gives bytes to a core, in pieces that fit the room unless they must stay together; what the core says of the last. */
  give(core, data, together) {
    if (data.length > ROOM) data = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    while (!together && data.length > ROOM) {
      this.give(core, data.subarray(0, ROOM), true);
      data = data.subarray(ROOM);
    }
    this.#fit(data.length);
    this.#bytes.set(data, this.#room);
    return core.receive(data.length);
  }

  /** Writes texts for the next call. */
  say(first = "", second = "", third = "") {
    const most = 3 * (first.length + second.length + third.length);
    // Of long texts it is worth knowing how long they are: the module's memory never shrinks.
    this.#fit(most <= KEPT ? most : [first, second, third].reduce((size, text) => size + this.#how.size(text), 0));
    const [words, record] = [this.#words, this.#record];
    let at = this.#room;
    at += words[record] = this.#write(first, at);
    at += words[record + 1] = this.#write(second, at);
    words[record + 2] = this.#write(third, at);
  }

  #write(text, at) {
    return text === "" ? 0 : this.#how.write(this.#bytes, text, at);
  }

  /** The text that the last call has told. */
  told() {
    this.#look();
    return this.#text(this.#record);
  }

  /** A copy of so many bytes that the last call has shown. */
  shown(size) {
    this.#look();
    return new Uint8Array(this.#memory.buffer, this.#words[this.#record], size).slice();
  }

  /** The event that the core has found, one of those that come often; `session` is that of the last one. */
  event(found, session) {
    this.#look();
    const [words, record] = [this.#words, this.#record];
    const method = found & STATIC ? this.#name(record + 2) : this.#text(record + 2);
    if (!(found & SAME)) session = words[record + 6] === 0 ? undefined : this.#text(record + 6);
    const text = this.#text(record, (found & LATIN1) !== 0);
    const kind = found & KIND;
    if (kind !== NOTIFICATION) return called(kind, words[record + 8], words[record + 9], method, session, text);
    const update = words[record + 4] === 0 ? undefined : this.#name(record + 4);
    return notification(method, session, update, TIMINGS[(found / TIMING) | 0], text, words[record + 9]);
  }

  #text(place, latin1 = false) {
    const from = this.#words[place];
    return this.#how.read(this.#bytes, from, from + this.#words[place + 1], latin1);
  }

  #name(place) {
    const address = this.#words[place];
    const known = this.#names.get(address);
    if (known?.length === this.#words[place + 1]) return known;
    const name = this.#text(place);
    this.#names.set(address, name);
    return name;
  }
}
