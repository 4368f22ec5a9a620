// What the clients of the catalogue in JavaScript share: how steps are run, compared and told.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";

const MS = 30_000;

/** Something is not as it has to be. */
export class Wrong extends Error {}
/** One side does not have what a step takes. */
export class NotOffered extends Error {}

/** Objects that are expected ask for their members; null stands for what is not there. */
export function same(what, expected, got) {
  if (Array.isArray(expected) && Array.isArray(got) && expected.length === got.length) {
    expected.forEach((each, index) => same(`${what}/${index}`, each, got[index]));
  } else if (isObject(expected) && isObject(got)) {
    for (const [name, value] of Object.entries(expected)) same(`${what}/${name}`, value, got[name]);
  } else if ((expected ?? null) !== (got ?? null)) {
    throw new Wrong(`${what}: expected ${short(expected)}, got ${short(got)}`);
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

export function short(value) {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 250)) : inspect(value, { depth: 8, breakLength: Infinity });
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`;
}

/** A value of steps.json with its placeholders replaced. */
export function fill(value, cwd) {
  if (Array.isArray(value)) return value.map((each) => fill(each, cwd));
  if (typeof value === "string") return value.replaceAll("{cwd}", cwd);
  if (!isObject(value)) return value;
  if ("repeat" in value) return value.repeat.repeat(value.times);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, cwd)]));
}

/** A change to a file: version 1 has both texts, version 2 a patch. */
export function diff({ path, oldText, newText, changes, patch }) {
  if (newText !== undefined) {
    const [old, now] = [oldText ?? "", newText].map((text) => text.split("\n"));
    return { path, removed: old.filter((each) => !now.includes(each)), added: now.filter((each) => !old.includes(each)) };
  }
  const lines = patch.text.split("\n");
  const changed = (sign) => lines.slice(lines.findIndex((each) => each.startsWith("@@"))).filter((each) => each.startsWith(sign));
  return { path: changes[0].path, removed: changed("-").map((each) => each.slice(1)), added: changed("+").map((each) => each.slice(1)) };
}

/** The command line: `--steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...`. */
export function commandLine() {
  const split = process.argv.indexOf("--");
  const [, , ...given] = process.argv.slice(0, split);
  const options = {};
  for (let index = 0; index < given.length; index += 2) options[given[index].slice(2)] = given[index + 1];
  return { ...options, version: Number(options.version), argv: process.argv.slice(split + 1) };
}

/** Makes the folders and files that the steps take. */
export function furnish(work) {
  mkdirSync(join(work, "listed"), { recursive: true });
  writeFileSync(join(work, "notes.txt"), "one\ntwo\nthree\n");
}

/** What a prompt has left on the disk. */
export function checkWritten(step, work) {
  for (const [name, text] of Object.entries(step.written ?? {})) same(name, text, readFileSync(join(work, name), "utf8"));
}

/** A call has to be refused. */
export async function refused(what, code, call) {
  const problem = await Promise.resolve(call).then(() => undefined, (error) => error);
  if (problem === undefined) throw new Wrong(`${what}: expected the error ${code}, got a result`);
  if (typeof problem.code !== "number") throw problem;
  same(`code of ${what}`, code, problem.code);
}

/** Plays all steps of a version, and prints a line for each. */
export async function playAll({ steps, version }, play) {
  const counts = { passed: 0, "not-offered": 0, failed: 0 };
  for (const step of JSON.parse(readFileSync(steps, "utf8")).steps) {
    if (!step.versions.includes(version)) continue;
    const [word, why = ""] = await ended(step, play);
    counts[word] += 1;
    console.log(`STEP ${step.id} ${word} ${why.replaceAll(/\s+/g, " ")}`.trim());
  }
  console.log(`RESULT ${Object.entries(counts).map(([word, count]) => `${word}=${count}`).join(" ")}`);
}

async function ended(step, play) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Wrong(`not done within ${MS} ms`)), MS)));
  try {
    await Promise.race([play(step), late]);
    return ["passed"];
  } catch (error) {
    if (error instanceof NotOffered) return ["not-offered", error.message];
    return ["failed", error instanceof Wrong ? error.message : `${error?.name}: ${String(error?.message).slice(0, 200)}`];
  } finally {
    clearTimeout(timer);
  }
}
