// Imports of the package go one way: each file stands on a layer, and names nothing above it, and no file names itself by
// way of others. The half for agents and the half for clients do not name each other.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const dist = join(process.env.LIBACP_FOLDER, "node_modules/libacp/dist");

// The lowest first. A part ends with a dot where it stands for all files whose names begin so.
const LAYERS = {
  module: ["libacp_core", "libacp_client", "libacp_http", "rules."],
  border: ["mistakes.", "json.", "events.", "border.", "codes."],
  connection: ["bell.", "options.", "getters.", "connection.", "observer.", "view.", "misuse.", "policy."],
  entries: ["loads.", "node.", "browser.", "inline.", "utf8."],
  peer: [
    "log.", "errors.", "queue.", "inbox.", "host.", "budget.", "trace.", "transport.", "warden.", "process.", "wire.", "job.", "peer.",
    "shared.",
  ],
  agent: ["display.", "toolcall.", "turn.", "disk.", "agent."],
  client: [
    "roots.", "guard.", "named.", "held.", "content.", "files.", "command.", "terminals.",
    "exchange.", "agentpeer.", "client.", "spawn.",
  ],
  remote: [
    "httpcore.", "httploads.", "httpserver.", "httpfetch.", "httpsocket.", "httpways.", "httprequests.", "httpdial.", "httperror.",
    "httpclient.", "http2fetch.", "http.", "httpnode.",
  ],
};
const ORDER = Object.keys(LAYERS);

const layerOf = (file) => ORDER.find((layer) => LAYERS[layer].some((part) => file.startsWith(part)));

const read = () =>
  new Map(readdirSync(dist).filter((file) => file.endsWith(".js")).map((file) => [file, readFileSync(join(dist, file), "utf8")]));

const named = (text) => [...text.matchAll(/(?:from|import) "\.\/([\w.]+)"/g)].map(([, file]) => file);

/** What is wrong with the imports of some files. */
function wrong(files) {
  const found = [];
  for (const [file, text] of files) {
    const own = layerOf(file);
    if (!own) found.push(`${file} stands on no layer`);
    for (const other of named(text)) {
      const up = ORDER.indexOf(layerOf(other)) > ORDER.indexOf(own);
      if (up || (own === "client" && layerOf(other) === "agent")) found.push(`${file} imports ${other}, which stands above it`);
    }
  }
  const done = new Set();
  const visit = (file, way) => {
    if (way.includes(file)) found.push(`${[...way.slice(way.indexOf(file)), file].join(" imports ")}`);
    if (way.includes(file) || done.has(file)) return;
    for (const other of named(files.get(file) ?? "")) visit(other, [...way, file]);
    done.add(file);
  };
  for (const file of files.keys()) visit(file, []);
  return found;
}

test("imports go down", () => {
  const files = read();
  assert.ok(files.size > 40, `${files.size} files`);
  assert.deepEqual(wrong(files), []);
});

test("what goes up or round is found", () => {
  const imports = (name) => `import { a } from "./${name}";`;
  assert.deepEqual(wrong(new Map([["json.js", imports("peer.js")]])), ["json.js imports peer.js, which stands above it"]);
  assert.deepEqual(wrong(new Map([["client.js", imports("turn.js")]])), ["client.js imports turn.js, which stands above it"]);
  assert.deepEqual(wrong(new Map([["other.js", ""]])), ["other.js stands on no layer"]);
  const round = new Map([["json.js", imports("events.js")], ["events.js", imports("json.js")]]);
  assert.deepEqual(wrong(round), ["json.js imports events.js imports json.js"]);
});
