// Where characters end in bytes of UTF-8.

/** The end of the last whole character among the first `to` bytes. */
export function characterEnd(bytes, to = bytes.length) {
  for (let at = to - 1; at >= Math.max(0, to - 4); at -= 1) {
    if ((bytes[at] & 0xc0) === 0x80) continue;
    const wants = bytes[at] >= 0xf0 ? 4 : bytes[at] >= 0xe0 ? 3 : bytes[at] >= 0xc0 ? 2 : 1;
    return at + wants > to ? at : to;
  }
  return to;
}
