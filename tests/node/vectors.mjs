// Replays the vectors through the installed package: `node vectors.mjs [FOLDER]`, or those of clients without drafts through
// the module for clients alone: `node vectors.mjs --clients`. What they are is said in ../vectors/README.md. The last line is
// `N passed, N failed`, counted in scenarios.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Format, Frames, falsified } from "./expected.mjs";
import { install } from "./installed.mjs";
import { look } from "./viewed.mjs";

const home = fileURLToPath(new URL("../vectors", import.meta.url));
const forClients = process.argv[2] === "--clients";
const folder = resolve(forClients ? home : (process.argv[2] ?? home));
const installed = install();
const { Connection, Misuse, cutOutput, raw } = await (forClients ? clientsAlone() : import(installed.entry));

/** What pages get that are clients. */
async function clientsAlone() {
  const dist = join(installed.folder, "node_modules/libacp/dist");
  const names = ["client.only.js", "connection.js", "misuse.js", "json.js"];
  const [only, ...others] = await Promise.all(names.map((name) => import(pathToFileURL(join(dist, name)))));
  await only.init(readFileSync(join(dist, "libacp_client_bg.wasm")));
  return Object.assign({}, only, ...others);
}

function isForClients(line) {
  const { role, drafts = [] } = JSON.parse(line).config;
  return role === "client" && drafts.length === 0;
}
/** A file of the folder, or where it has none, of the vectors themselves. */
const fileOf = (name) => join(existsSync(join(folder, name)) ? folder : home, name);
const shared = (name) => JSON.parse(readFileSync(fileOf(name), "utf8"));
const include = shared("include.json");
const format = new Format(shared("format.json"));

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const quoted = (id) => (typeof id === "string" ? JSON.stringify(id) : String(id));
/** An id as the vectors write it. */
const idOf = (id) => (id === undefined ? null : quoted(id));
const fromText = (text) => (/^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : JSON.parse(text));
const or = (value) => value ?? null;
const hasText = (call, name) => call[`${name}_text`] !== undefined;
/** The params, result or data of a call: a value, or its exact text. */
const value = (call, name) => (hasText(call, name) ? raw(call[`${name}_text`]) : call[name]);

/** An event with the member names of the vectors. How bad a violation is follows from its rule. */
function describe({ type, serial, severity, error, ...event }) {
  const { paramsText, resultText, ...members } = { ...event, ...error };
  const out = { ...members, event: type };
  if ("id" in event || type === "violation" || type === "advice") out.id = idOf(event.id);
  if (type === "closed") out.unanswered = event.unanswered.map(idOf);
  if ("params" in event) out.params_text = paramsText;
  if ("result" in event) out.result_text = resultText;
  if (error) {
    delete out.dataText;
    out.data_text = or(error.dataText);
  }
  return out;
}

/** What is known, by the name that the vectors have for it. */
const STATE = {
  connection: (connection, expected) => expectedOf(connection.snapshot(), expected.connection),
  sessions: (connection, expected) => sessions(connection, expected.sessions),
  pending: (connection) => connection.pending().map(({ id }) => idOf(id)),
  unanswered: (connection) => connection.unanswered().map(({ id }) => idOf(id)),
  timeout: (connection) => or(connection.pollTimeout()),
  terminals: (connection) => connection.openTerminals(),
};

/** The members of a snapshot that are expected; all of them where nothing is. */
const expectedOf = (snapshot, expected = snapshot) =>
  Object.fromEntries(Object.entries(snapshot).filter(([name]) => Object.hasOwn(expected, name)));

function sessions(connection, expected) {
  const plain = (id) => {
    const { terminals, ...rest } = connection.sessionSnapshot(id);
    return [id, expectedOf({ ...rest, terminals: Object.fromEntries(terminals) }, expected[id])];
  };
  return Object.fromEntries([...connection.sessions().keys()].map(plain));
}

/** What a getter gives, as the vectors write it. */
function plain(found) {
  if (found instanceof Map) return [...found.keys()].sort();
  if (Array.isArray(found)) return found.map(plain);
  if (found?.terminals instanceof Map) return { ...found, terminals: Object.fromEntries(found.terminals) };
  return found?.serial ?? or(found);
}

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Asks what a getter gives, by its name. */
function get(connection, { get: name, with: given = [], gives }) {
  assert.notEqual(gives, undefined, "what it gives is not stated");
  const member = camel(name);
  assert.ok(member in connection, `there is no ${member}`);
  const value = connection[member];
  assert.ok(typeof value === "function" || given.length === 0, `${member} takes nothing`);
  const found = typeof value === "function" ? value.apply(connection, given) : value;
  assert.deepEqual(plain(found), gives, name);
}

/** The calls of a host; each may be misuse. */
const CALL = {
  request: (connection, call) => {
    const id = call.id === undefined ? undefined : fromText(call.id);
    return connection.request(call.method, value(call, "params"), { id, timeout: call.timeout });
  },
  notify: (connection, call) => connection.notify(call.method, value(call, "params")),
  respond: (connection, call) => connection.respond(fromText(call.id), value(call, "result")),
  respond_error: (connection, call) => {
    const { code, message } = call;
    connection.respondError(fromText(call.id), { code, message, data: value(call, "data") });
  },
  cancel: (connection, call) => connection.cancel(fromText(call.id)),
};

function makeCall(connection, step, name) {
  const before = connection.transmit();
  let returned;
  try {
    returned = CALL[name](connection, step[name]);
  } catch (error) {
    if (!(error instanceof Misuse) || step.misuse === undefined) throw error;
    const { kind, rule, pointer } = error;
    format.misuse(step.misuse, { kind, rule, pointer });
    assert.deepEqual(connection.transmit(), before, "misuse sent something");
    return;
  }
  assert.equal(step.misuse, undefined, "this was to be refused");
  if (step.returns !== undefined) assert.equal(idOf(returned), step.returns);
}

const chosen = (expected, source, members) =>
  Object.fromEntries(Object.keys(expected).map((key) => [key, members[key] ? members[key](source, expected) : or(source[key])]));

/** Events that were falsified before: most come from the same few includes. */
const seen = new Set();

function sameEvent(expected, found, frames) {
  format.event(expected, found, frames);
  const key = inspect([expected, found], { depth: null });
  if (seen.has(key)) return;
  seen.add(key);
  for (const other of falsified(found)) {
    assert.throws(() => format.event(expected, other, frames), assert.AssertionError, `nobody notices ${inspect(other)}`);
  }
}

function expectEvents(connection, expected, frames) {
  const events = [...connection.events()];
  const names = events.map((event) => (event.rule ? `${event.type} ${event.rule}` : event.type));
  assert.equal(events.length, expected.length, `${expected.length} events expected, there are: ${names.join(", ")}`);
  expected.forEach((wanted, index) => {
    const found = describe(events[index]);
    try {
      sameEvent(wanted, found, frames);
    } catch (error) {
      error.message = `event ${index}: ${error.message}; ${inspect(found)}`;
      throw error;
    }
  });
}

/** What waits for the peer, message by message, without what stands between them. */
function messages(connection, framing) {
  const list = [];
  let text = "";
  for (let bytes; (bytes = connection.transmit()).length > 0; connection.consume(bytes.length)) {
    if (framing === "messages") list.push(decoder.decode(bytes));
    else text += decoder.decode(bytes);
  }
  if (framing === "messages") return list;
  if (framing !== "content-length") return text.split("\n").slice(0, -1);
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString("latin1", 0, 64));
    assert.ok(head, "a message without its header");
    const end = head[0].length + Number(head[1]);
    list.push(rest.toString("utf8", head[0].length, end));
    rest = rest.subarray(end);
  }
  return list;
}

function feed(connection, frames, data) {
  frames.feed(Buffer.from(data));
  connection.receive(data);
}

const STEP = {
  include: (connection, step, scenario, frames) => play(connection, include[step.include], scenario, frames),
  feed: (connection, step, _, frames) => feed(connection, frames, step.feed),
  feed_base64: (connection, step, _, frames) => feed(connection, frames, Buffer.from(step.feed_base64, "base64")),
  feed_repeat: (connection, { feed_repeat: { text, times } }, _, frames) => feed(connection, frames, text.repeat(times)),
  eof: (connection, _, __, frames) => {
    frames.end();
    connection.receiveEof();
  },
  time: (connection, step) => connection.handleTimeout(step.time),
  close: (connection) => connection.close(),
  expect: (connection, step, _, frames) => expectEvents(connection, step.expect, frames),
  transmit: (connection, step, { config }) =>
    assert.deepEqual(messages(connection, config.framing), step.transmit, "transmit"),
  state: (connection, step) => assert.deepEqual(chosen(step.state, connection, STATE), step.state),
  view: (connection, step, { config, copies }) => {
    // What was told and is to be sent meanwhile is for other scenarios.
    for (const _ of connection.events());
    messages(connection, config.framing);
    look(connection, step, copies);
  },
  get,
  cut_output: (_, { cut_output: { output, limit, gives } }) => assert.deepEqual(cutOutput(output, limit), gives),
  can: (connection, step) => {
    for (const [method, expected] of Object.entries(step.can)) {
      const refusal = connection.whyNot(method);
      assert.equal(refusal?.rule ?? true, expected, method);
      assert.equal(connection.can(method), expected === true, method);
    }
  },
};
for (const name of Object.keys(CALL)) STEP[name] = (connection, step) => makeCall(connection, step, name);

function play(connection, steps, scenario, frames) {
  assert.ok(Array.isArray(steps), "no such steps");
  steps.forEach((step, index) => {
    let kind = "?";
    try {
      kind = format.step(step);
      STEP[kind](connection, step, scenario, frames);
    } catch (error) {
      error.message = `step ${index} (${kind}): ${error.message}`;
      throw error;
    }
  });
}

function runScenario(scenario) {
  format.scenario(scenario);
  const {
    cancel_grace: cancelGrace,
    prompt_queueing: promptQueueing,
    foreign_methods: foreignMethods,
    limits = {},
    ...config
  } = scenario.config;
  const limited = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [camel(name), limit]));
  const connection = new Connection({ ...config, limits: limited, cancelGrace, promptQueueing, foreignMethods });
  try {
    const frames = new Frames(config.framing);
    play(connection, scenario.steps, { ...scenario, copies: new Map() }, frames);
    expectEvents(connection, [], frames);
    assert.deepEqual(messages(connection, config.framing), [], "bytes are left over");
  } finally {
    connection.free();
  }
}

/** The name of a scenario, and why it failed. */
function problemOf(line) {
  let name = "?";
  try {
    const scenario = JSON.parse(line);
    ({ name } = scenario);
    runScenario(scenario);
    return { name };
  } catch (error) {
    return { name, problem: error.message };
  }
}

let passed = 0;
let failed = 0;
const linesOf = (file) => readFileSync(file, "utf8").split("\n").filter((line) => line.trim() !== "");
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
for (const file of files.sort()) {
  for (const line of linesOf(join(folder, file)).filter((line) => !forClients || isForClients(line))) {
    const { name, problem } = problemOf(line);
    if (problem === undefined) {
      passed += 1;
    } else {
      failed += 1;
      console.error(`failed: ${relative(".", join(folder, file))}: ${name}: ${problem}`);
    }
  }
}
const replayed = passed + failed;
// What is expected wrongly must fail.
for (const line of linesOf(fileOf("wrong.ndjson"))) {
  const { name, problem } = problemOf(line);
  if (problem !== undefined) continue;
  failed += 1;
  console.error(`failed: wrong.ndjson: ${name}: passed`);
}
console.log(`note: each member of ${seen.size} events was falsified`);
console.log(`note: vectors replayed ${forClients ? "for clients alone" : "in JavaScript"}: ${replayed}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
