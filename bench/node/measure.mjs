// What the JavaScript programs of the benchmark share: how they are called, measure, and print. See bench/README.md.
//
// Read next: ours.mjs, official.mjs, floor.mjs.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Bytes that a host reads at once. */
export const PIECE = 64 * 1024;
export const [CHUNKS, DIFFS, FILES] = [20_000, 2_000, 5_000];
/** Files of W8, each of which takes a request of HTTP as well. */
export const READS = 2_000;
export const [CONNECTIONS, SECONDS] = [10_000, 10];

/** Bytes of an input. */
export const bytes = (name) => new Uint8Array(readFileSync(join(process.argv[3], name)));
export const text = (name) => readFileSync(join(process.argv[3], name), "utf8");

/** The lines of an input, each with its end. */
export function lines(name) {
  const all = bytes(name);
  const found = [];
  for (let start = 0, end; (end = all.indexOf(10, start)) >= 0; start = end + 1) found.push(all.subarray(start, end + 1));
  return found;
}

/** Bytes in pieces, one after the other: cut before, as they come from a transport, unless they would fill the memory. */
export const pieces = (all, size = all.length) => (size < 10 ? cut(all, size) : [...cut(all, size)].values());

function* cut(all, size) {
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

/** Times what handles so many messages. */
export async function timed(count, work) {
  const begun = performance.now();
  await work();
  return { seconds: (performance.now() - begun) / 1000, count };
}

/** Does what the command line says; `load` imports the library, and gives its works. */
export async function main(load) {
  const [, , name, , milliseconds] = process.argv;
  const work = name === "none" ? () => ({ seconds: 0, count: 0 }) : (await load())[name];
  if (!work) throw new Error(`no work ${name}`);
  const least = Number(milliseconds) / 1000;
  let last = await work();
  let { seconds } = last;
  if (least > 0) {
    // As long again before, so that the engine has compiled what it will, in JavaScript and in WebAssembly.
    let [spent, passes] = [0, 0];
    while (spent < least) spent += (await work()).seconds;
    spent = 0;
    for (; spent < least; passes += 1) {
      last = await work();
      spent += last.seconds;
    }
    seconds = spent / passes;
  }
  console.log(JSON.stringify({ work: name, seconds, count: last.count, peak_kib: peak() }));
  process.exit();
}

/** The most memory that this process had, where the system tells. */
function peak() {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {
    return null;
  }
}

export function check(is, what) {
  if (!is) throw new Error(`${what} went wrong`);
}

/** A pipe in memory, of the platform's own streams. */
export const pipe = () =>
  new TransformStream(undefined, new ByteLengthQueuingStrategy({ highWaterMark: PIECE }), new ByteLengthQueuingStrategy({ highWaterMark: PIECE }));

/** How much text an update brings. */
export function size(update) {
  if (update.sessionUpdate === "agent_message_chunk") return update.content.text.length;
  return (update.content ?? []).reduce((sum, item) => sum + item.newText.length, 0);
}
