// Text in files: read in lines that are wanted, and written so that a failure leaves what was there.
import { isAscii, isUtf8 } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import { invalid } from "./roots.node.js";
import { characterEnd } from "./utf8.js";

const CHUNK = 64 << 10;
const MOST_AT_ONCE = 1 << 20;
// Milliseconds that somebody has who has written half a character.
const SECOND_HALF = 50;
const LF = 10;

/** Behind so many line ends, or at the end; and how many were not there. */
function past(bytes, from, to, count) {
  let at = from;
  for (; at < to && count > 0; at += 1) if (bytes[at] === LF) count -= 1;
  return [at, count];
}

/** Bytes that grow up to a bound, and that are given back when they have become text, not when somebody collects them. */
class Bytes {
  #store;
  #bytes;
  size = 0;

  constructor(expected, most) {
    this.most = most;
    if (expected < CHUNK) this.#bytes = Buffer.allocUnsafe(expected + 1);
    else this.#fit(expected + 1);
  }

  #fit(size) {
    const [before, length] = [this.#bytes, Math.min(size, this.most + 1)];
    if (this.#store) this.#store.resize(length);
    else this.#store = new ArrayBuffer(length, { maxByteLength: this.most + 1 });
    this.#bytes = Buffer.from(this.#store, 0, length);
    if (before && this.size <= CHUNK) before.copy(this.#bytes);
  }

  /** Room for more, or nothing beyond the bound. */
  get room() {
    if (this.size > this.most) return undefined;
    if (this.size === this.#bytes.length) this.#fit(2 * this.size);
    return this.#bytes.subarray(this.size);
  }

  /** Whether they fit. */
  add(bytes) {
    for (let rest = bytes; rest.length > 0; ) {
      const { room } = this;
      if (!room) return false;
      const taken = rest.copy(room);
      this.size += taken;
      rest = rest.subarray(taken);
    }
    return this.size <= this.most;
  }

  /** Where the last whole character ends. */
  get end() {
    return characterEnd(this.#bytes, this.size);
  }

  get text() {
    const bytes = this.#bytes.subarray(0, this.size);
    if (isAscii(bytes)) return bytes.latin1Slice();
    if (!isUtf8(bytes)) throw invalid("The file is not UTF-8 text");
    return bytes.utf8Slice();
  }

  free() {
    this.#store?.resize(0);
  }
}

/**
 * So many lines of a file, from a line on (the first is 0); nothing where they have more bytes than `most`. What is
 * before them is only looked through, up to `looked` bytes. `size` is what the file is known to have.
 */
export async function lines(file, first, count, { size, most, looked }) {
  const isPart = first > 0 || count < Infinity;
  const kept = new Bytes(isPart ? CHUNK - 1 : Math.min(size, most), most);
  try {
    const more = isPart ? part(file, kept, first, count, looked) : () => all(file, kept);
    if (!(await more())) return undefined;
    if (kept.end < kept.size) {
      // Somebody may be writing: what is half a character then is none.
      const { size: seen } = kept;
      await pause(SECOND_HALF);
      if (!(await more())) return undefined;
      if (kept.size > seen) kept.size = kept.end;
    }
    return kept.text;
  } finally {
    kept.free();
  }
}

async function all(file, kept) {
  for (let room; (room = kept.room); ) {
    const { bytesRead } = await file.read(room, 0, Math.min(room.length, MOST_AT_ONCE), null);
    if (bytesRead === 0) return true;
    kept.size += bytesRead;
  }
  return false;
}

/** What keeps the lines that are wanted, as far as the file has them by now. */
function part(file, kept, first, count, looked) {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let [before, within, seen] = [first, count, 0];
  return async () => {
    while (within > 0) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK, null);
      if (bytesRead === 0) return true;
      let [from, to] = [0, bytesRead];
      if (before > 0) [from, before] = past(chunk, 0, bytesRead, before);
      seen += from;
      if (seen > looked) throw invalid(`There are more than ${looked} bytes before these lines`);
      if (before > 0) continue;
      if (within < Infinity) [to, within] = past(chunk, from, bytesRead, within);
      if (!kept.add(chunk.subarray(from, to))) return false;
    }
    return true;
  };
}

/** Replaces what is in a file. What it had before is there again if that fails, as far as the system lets it. */
export async function replaced(file, data, readable) {
  const { size } = await file.stat();
  const shared = Math.min(size, data.length);
  try {
    // First what needs more room.
    await writtenAt(file, data, shared, data.length);
  } catch (error) {
    throw await putBack(error, () => file.truncate(size));
  }
  const before = readable ? await bytesUpTo(file, shared) : undefined;
  try {
    await writtenAt(file, data, 0, shared);
  } catch (error) {
    throw await putBack(error, async () => {
      if (before) await writtenAt(file, before, 0, before.length);
      if (data.length > size) await file.truncate(size);
      if (!before && shared > 0) throw error;
    });
  }
  if (size > data.length) await file.truncate(data.length);
}

/** The error of writing, which says whether the old text is there again. */
function putBack(cause, restore) {
  return restore().then(
    () => new WriteError(cause, "and has its old text"),
    () => new WriteError(cause, "and its old text could not be put back"),
  );
}

/** Why a file was not written. */
export class WriteError extends Error {
  constructor(cause, left) {
    super(`The file cannot be written, ${left}`, { cause });
  }
}

async function writtenAt(file, data, from, to) {
  for (let at = from; at < to; ) at += (await file.write(data, at, to - at, at)).bytesWritten;
}

async function bytesUpTo(file, size) {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
  }
  return bytes;
}
