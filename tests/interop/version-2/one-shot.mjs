// The Rust SDK's example client of one prompt, started and judged as every client of the matrix is:
// `node one-shot.mjs PROGRAM --script FILE --work DIR [--cwd DIR] [--trace FILE] -- AGENT ARGV...`
//
// The program itself is as it was published. The agent writes the record of what passes, as the program has none; that the
// whole script was played is the agent's to say, and what came of it the program prints.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const option = { type: "string" };
const options = { script: option, work: option, cwd: option, trace: option };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [program, ...agent] = positionals;
const script = JSON.parse(readFileSync(values.script, "utf8"));
const trace = values.trace ?? join(values.work, "trace.jsonl");
const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

function run() {
  const command = [...agent, "--trace", trace].map(quoted).join(" ");
  const how = { encoding: "utf8", timeout: script.deadlineMs, stdio: ["ignore", "pipe", "pipe"] };
  const ended = spawnSync(program, ["--command", command, script.prompt], how);
  process.stderr.write(ended.stderr ?? "");
  if (ended.error) throw ended.error;
  if (ended.status !== 0) throw new Error(`the program ended with ${ended.signal ?? ended.status}`);
  if (ended.stdout !== `${script.printed}\n`) throw new Error(`expected ${script.printed}, it printed ${ended.stdout}`);
  if (!ended.stderr.includes("Session is idle: Some(EndTurn)")) throw new Error("it did not see the turn end");
  const records = readFileSync(trace, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const [sent, received] = [">", "<"].map((d) => records.filter((record) => record.d === d));
  const bytes = (all) => all.reduce((sum, { s }) => sum + Buffer.byteLength(s) + 1, 0);
  const updates = received.filter(({ s }) => JSON.parse(s).method === "session/update").length;
  const sums = { bytes_sent: bytes(sent), bytes_received: bytes(received), updates };
  return { messages_sent: sent.length, messages_received: received.length, ...sums };
}

let report;
try {
  report = { ok: true, ...run() };
} catch (error) {
  report = { ok: false, error: error.message };
}
console.log(JSON.stringify(report));
process.exitCode = report.ok ? 0 : 1;
