/** The WebAssembly module inside of JavaScript, for programs that are one file and have none beside it. */

/** The module for browsers and Workers, as `init` takes it: `await init(bytes())`. Under Node it is not needed. */
export function bytes(): Uint8Array;
