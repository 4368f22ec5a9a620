// Replays the vectors through the installed package: `node vectors.mjs [FOLDER]`. What they are is said in
// ../vectors/README.md. The last line is `N passed, N failed`, counted in scenarios.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./installed.mjs";

const home = fileURLToPath(new URL("../vectors", import.meta.url));
const folder = resolve(process.argv[2] ?? home);
const { Connection, Misuse, cutOutput, raw } = await import(install().entry);
const own = join(folder, "include.json");
const include = JSON.parse(readFileSync(existsSync(own) ? own : join(home, "include.json"), "utf8"));

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const quoted = (id) => (typeof id === "string" ? JSON.stringify(id) : String(id));
/** An id as the vectors write it. */
const idOf = (id) => (id === undefined ? null : quoted(id));
const fromText = (text) => (/^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? BigInt(text) : JSON.parse(text));
const or = (value) => value ?? null;
const hasText = (call, name) => call[`${name}_text`] !== undefined;
/** The params, result or data of a call: a value, or its exact text. */
const value = (call, name) => (hasText(call, name) ? raw(call[`${name}_text`]) : call[name]);

/** Members of an event, by the name that the vectors have for them. */
const MEMBER = {
  event: (event) => event.type,
  id: (event) => idOf(event.id),
  params_text: (event) => or(event.paramsText),
  result_text: (event) => or(event.resultText),
  message: (event) => or(event.error?.message ?? (event.type === "advice" ? event.message : undefined)),
  data: (event) => or(event.error?.data),
  code: (event) => or(event.error?.code ?? event.code),
  unanswered: (event) => event.unanswered.map(idOf),
};

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

/** What helpers give, which change nothing. */
const HELP = {
  command_text: (connection, { session, name, input }) => or(connection.commandText(session, name, input)),
  in_roots: (connection, { session, path }) => connection.inRoots(session, path),
  peer_extension: (connection, { name }) => or(connection.peerExtension(name)),
  cut_output: (_, { output, limit }) => cutOutput(output, limit),
};

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
    // What a vector does not name is not what it is about.
    const named = Object.entries({ kind, rule, pointer }).filter(([name]) => name in step.misuse);
    assert.deepEqual(Object.fromEntries(named), step.misuse);
    assert.deepEqual(connection.transmit(), before, "misuse sent something");
    return;
  }
  assert.equal(step.misuse, undefined, "this was to be refused");
  if (step.returns !== undefined) assert.equal(idOf(returned), step.returns);
}

const chosen = (expected, source, members) =>
  Object.fromEntries(Object.keys(expected).map((key) => [key, members[key] ? members[key](source, expected) : or(source[key])]));

function expectEvents(connection, expected) {
  const events = [...connection.events()];
  const names = events.map((event) => (event.rule ? `${event.type} ${event.rule}` : event.type));
  assert.equal(events.length, expected.length, `${expected.length} events expected, there are: ${names.join(", ")}`);
  expected.forEach((wanted, index) => {
    assert.deepEqual(chosen(wanted, events[index], MEMBER), wanted, `event ${index}`);
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

const STEP = {
  include: (connection, step, scenario) => play(connection, include[step.include], scenario),
  feed: (connection, step) => connection.receive(step.feed),
  feed_base64: (connection, step) => connection.receive(Buffer.from(step.feed_base64, "base64")),
  feed_repeat: (connection, { feed_repeat: { text, times } }) => connection.receive(text.repeat(times)),
  eof: (connection) => connection.receiveEof(),
  time: (connection, step) => connection.handleTimeout(step.time),
  close: (connection) => connection.close(),
  expect: (connection, step) => expectEvents(connection, step.expect),
  transmit: (connection, step, { config }) =>
    assert.deepEqual(messages(connection, config.framing), step.transmit, "transmit"),
  state: (connection, step) => assert.deepEqual(chosen(step.state, connection, STATE), step.state),
  can: (connection, step) => {
    for (const [method, expected] of Object.entries(step.can)) {
      const refusal = connection.whyNot(method);
      assert.equal(refusal?.rule ?? true, expected, method);
      assert.equal(connection.can(method), expected === true, method);
    }
  },
};
for (const [name, help] of Object.entries(HELP)) {
  STEP[name] = (connection, step) => assert.deepEqual(help(connection, step[name]), step[name].gives);
}
for (const name of Object.keys(CALL)) STEP[name] = (connection, step) => makeCall(connection, step, name);

/** Members that stand beside a call. */
const BESIDE = new Set(["misuse", "returns"]);

function play(connection, steps, scenario) {
  assert.ok(Array.isArray(steps), "no such steps");
  steps.forEach((step, index) => {
    const kinds = Object.keys(step).filter((name) => !BESIDE.has(name));
    const known = kinds.length === 1 && Object.hasOwn(STEP, kinds[0]);
    if (!known) throw new Error(`step ${index}: unknown step ${JSON.stringify(Object.keys(step))}`);
    try {
      STEP[kinds[0]](connection, step, scenario);
    } catch (error) {
      error.message = `step ${index} (${kinds[0]}): ${error.message}`;
      throw error;
    }
  });
}

function runScenario(scenario) {
  const { version_2: version2, ...config } = scenario.config;
  const connection = new Connection({ ...config, version2 });
  try {
    play(connection, scenario.steps, scenario);
    expectEvents(connection, []);
    assert.deepEqual(messages(connection, config.framing), [], "bytes are left over");
  } finally {
    connection.free();
  }
}

let passed = 0;
let failed = 0;
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
for (const file of files.sort()) {
  const lines = readFileSync(join(folder, file), "utf8").split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    let name = `line ${index + 1}`;
    try {
      const scenario = JSON.parse(line);
      ({ name } = scenario);
      runScenario(scenario);
      passed += 1;
    } catch (error) {
      failed += 1;
      console.error(`failed: ${relative(".", join(folder, file))}: ${name}: ${error.message}`);
    }
  }
}
console.log(`note: vectors replayed in JavaScript: ${passed + failed}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
