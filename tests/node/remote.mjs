// Replays the vectors of the remote transports, which ../http/README.md describes, against the state machines of a build
// of the package: bodies and streams in pieces of several sizes. `replay({ HttpServer, HttpClient })` returns what
// failed; it needs nothing of Node's but the texts, so that a page can do the same.
import { isDeepStrictEqual } from "./equal.mjs";

const encoder = new TextEncoder();

class Wrong extends Error {}

function fail(what) {
  throw new Wrong(what);
}

const say = (value) => JSON.stringify(value);
/** A message of a vector as text: a text as it is, any other value as JSON. */
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? null));
/** The same as it is passed in: as text where a scenario is replayed in one piece, otherwise in UTF-8. */
const given = ({ size }, value) => (size === Infinity ? textOf(value) : encoder.encode(textOf(value)));
/** A message as a vector says it. */
const valueOf = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Refuses members that the format does not have. */
function only(value, known) {
  const stranger = Object.keys(value ?? {}).find((name) => !known.includes(name));
  if (stranger !== undefined) fail(`${stranger} is no member of ${say(value)}`);
}

/** Whether a value is what was expected, of which it may have more members at the top. */
function same(what, found, expected = null) {
  found ??= null;
  const fits =
    isObject(found) && isObject(expected)
      ? Object.entries(expected).every(([name, value]) =>
          name === "headers"
            ? isObject(value) && Object.entries(value).every(([header, text]) => isDeepStrictEqual(found.headers?.[header] ?? null, text))
            : name in found && isDeepStrictEqual(found[name] ?? null, value),
        )
      : isDeepStrictEqual(found, expected);
  if (!fits) fail(`${what} is ${say(found)}, expected ${say(expected)}`);
}

function sameList(what, found, expected) {
  if (!Array.isArray(expected) || found.length !== expected.length) fail(`${what} are ${say(found)}, expected ${say(expected)}`);
  found.forEach((each, at) => same(what, each, expected[at]));
}

const pairs = (headers = {}) => Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
/** A header's bytes as characters, as platforms have them. */
const bytesOf = (text) => String.fromCharCode(...encoder.encode(text));
const camel = (headers) => Object.fromEntries(headers);

function response({ status, headers, body }) {
  const value = body === "" ? null : valueOf(body);
  return { status, headers: camel(headers), body: value, rule: value?.error?.data?.rule ?? null };
}

/** How a call of `send` has ended, as the vectors say it. */
function sending(step, send) {
  let outcome;
  try {
    outcome = send();
  } catch (misuse) {
    if (misuse.rule === undefined) throw misuse;
    return same("the misuse", { rule: misuse.rule }, step.misuse);
  }
  same("the misuse", null, step.misuse);
  same("what send returns", outcome === "sent" ? null : outcome, step.gives);
}

const frameOf = (frame) => (frame.frame === "text" ? valueOf(frame.text) : frame.frame === "close" ? { close: frame.code } : frame.frame);

class ServerRun {
  keys = [];

  constructor({ HttpServer }, options, size) {
    only(options, ["path", "token", "prefix", "hosts", "origins", "strict", "tolerates", "limits", "times"]);
    this.make = () => new HttpServer(options);
    this.size = size;
    this.server = this.make();
    for (let block = 1; block <= 60; block += 1) this.server.addEntropy(new Uint8Array(16).fill(block));
  }

  free() {
    this.server.free();
  }

  key(number) {
    return this.keys[number - 1] ?? fail(`no connection ${number}`);
  }

  number(key) {
    const at = this.keys.indexOf(key);
    return at < 0 ? null : at + 1;
  }

  event(event) {
    switch (event.event) {
      case "opened":
        this.keys.push(event.connection);
        return { event: "opened", connection: this.keys.length };
      case "message":
        return { event: "message", connection: this.number(event.connection), json: valueOf(event.json) };
      case "respond":
        return { ...response(event.response), event: "respond", exchange: event.exchange };
      case "violation":
      case "advice":
        return { event: event.event, rule: event.rule, status: event.status, connection: this.number(event.connection) };
      default:
        return "connection" in event ? { ...event, connection: this.number(event.connection) } : event;
    }
  }

  left() {
    const all = [];
    for (let event; (event = this.server.pollEvent()); ) all.push(this.event(event));
    return all;
  }

  step(step) {
    const { server } = this;
    if ("request" in step) return this.request(step);
    if ("expect" in step) {
      only(step, ["expect"]);
      return sameList("the events", this.left(), step.expect);
    }
    if ("send" in step) {
      only(step, ["send", "to", "gives", "misuse"]);
      return sending(step, () => server.send(this.key(step.to), given(this, step.send)));
    }
    if ("stream" in step) return this.stream(step);
    if ("text" in step) {
      only(step, ["text", "on"]);
      return server.text(step.on, given(this, step.text));
    }
    if ("frames" in step) return this.frames(step);
    if ("fail" in step) {
      only(step, ["fail", "why"]);
      return server.fail(this.key(step.fail), step.why);
    }
    only(step, ["closed", "close", "binary", "pong", "pause", "paused", "time", "wakes", "hungry", "is", "entropy"]);
    if ("closed" in step) return server.closed(step.closed);
    if ("close" in step) return server.close(this.key(step.close));
    if ("binary" in step) return server.binary(step.binary);
    if ("pong" in step) return server.pong(step.pong);
    if ("pause" in step) return server.pause(this.key(step.pause), step.paused);
    if ("time" in step) return server.handleTimeout(step.time);
    if ("wakes" in step) return same("the next time", server.pollTimeout(), step.wakes);
    if ("hungry" in step) return same("hunger", server.isHungry(step.hungry), step.is);
    if (!("entropy" in step)) fail(`no step ${say(step)}`);
    server.free();
    this.server = this.make();
  }

  request(step) {
    only(step, ["request", "method", "target", "headers", "body", "body_text", "bare", "open", "gives"]);
    const { request: exchange, method = "POST", target = "/acp" } = step;
    const usual = { POST: { "content-type": "application/json" }, GET: { accept: "text/event-stream" } }[method];
    const all = step.bare ? {} : { host: "localhost:7332", ...usual };
    const headers = pairs({ ...all, ...step.headers }).map(([name, value]) => [name, bytesOf(value)]);
    let found = this.server.request(exchange, { method, target, headers });
    if (found.step === "body" && !step.open) {
      let rest = encoder.encode(step.body_text ?? textOf(step.body));
      while (found.step === "body") {
        const piece = rest.subarray(0, this.size);
        rest = rest.subarray(piece.length);
        found = this.server.body(exchange, piece, rest.length === 0);
      }
    }
    const { step: what } = found;
    if (what === "respond") same("the response", response(found), step.gives);
    else if (what === "body" || what === "wait") same("the response", what, step.gives);
    else same("the response", { [what]: found.status, headers: camel(found.headers) }, step.gives);
  }

  stream(step) {
    only(step, ["stream", "messages", "bytes", "take"]);
    const { stream: exchange, take = Infinity } = step;
    const all = [];
    for (let size = 0; size < take; ) {
      const bytes = this.server.transmit(exchange, Math.min(this.size, take - size, 0xffffffff));
      if (bytes.length === 0) break;
      all.push(...bytes);
      size += bytes.length;
      this.server.consume(exchange, bytes.length);
    }
    const text = new TextDecoder().decode(new Uint8Array(all));
    if ("bytes" in step) return same("the stream", text, step.bytes);
    const events = text.split("\n\n");
    if (events.at(-1) === "") events.pop();
    const messages = events.map((event) => (event.startsWith("data: ") ? valueOf(event.slice(6)) : event));
    same("the list of messages", messages, step.messages);
  }

  frames(step) {
    only(step, ["frames", "are"]);
    const all = [];
    for (let frame; (frame = this.server.frame(step.frames)); ) all.push(frameOf(frame));
    const shown = all.map((frame, at) =>
      typeof step.are[at]?.rule === "string" ? { error: frame.error?.code ?? null, rule: frame.error?.data?.rule ?? null } : frame,
    );
    same("the list of frames", shown, step.are);
  }
}

class ClientRun {
  constructor({ HttpClient }, options, size) {
    only(options, ["target", "host", "secure", "websocket", "reconnect", "resumable", "strict", "tolerates", "limits", "times"]);
    this.client = new HttpClient(options, 1);
    this.size = size;
  }

  free() {
    this.client.free();
  }

  left() {
    const all = [];
    for (let action; (action = this.client.pollAction()); ) {
      const shown = { ...action };
      if (action.headers) shown.headers = camel(action.headers);
      if (action.event === "request") shown.body = action.body === "" ? null : valueOf(action.body);
      if (action.event === "frame") shown.frame = frameOf(action.frame);
      if (action.event === "message") shown.json = valueOf(action.json);
      all.push(shown);
    }
    return all;
  }

  step(step) {
    const { client } = this;
    if ("expect" in step) {
      only(step, ["expect"]);
      const found = this.left();
      return step.expect === "any" ? undefined : sameList("the actions", found, step.expect);
    }
    if ("send" in step) {
      only(step, ["send", "gives", "misuse"]);
      return sending(step, () => client.send(given(this, step.send)));
    }
    const heads = ["response", "status", "headers", "data", "events", "json", "raw", "end", "failed", "sent"];
    only(step, [...heads, "text", "on", "binary", "closed", "code", "time", "wakes", "close", "retry", "set_header"]);
    if ("response" in step) {
      const headers = pairs(step.headers).map(([name, value]) => [name, bytesOf(value)]);
      return client.response(step.response, step.status, headers);
    }
    if ("data" in step) {
      const events = (step.events ?? []).map((event) => `data: ${textOf(event)}\n\n`);
      const bytes = encoder.encode((step.raw ?? "") + events.join("") + ("json" in step ? textOf(step.json) : ""));
      for (let at = 0; at < bytes.length; at += this.size) client.data(step.data, bytes.subarray(at, at + this.size));
      return undefined;
    }
    if ("end" in step) return client.end(step.end);
    if ("failed" in step) return client.failed(step.failed, step.sent);
    if ("text" in step) return client.text(step.on, given(this, step.text));
    if ("binary" in step) return client.binary(step.binary);
    if ("closed" in step) return client.closed(step.closed, step.code);
    if ("time" in step) return client.handleTimeout(step.time);
    if ("wakes" in step) return same("the next time", client.pollTimeout(), step.wakes);
    if ("close" in step) return client.close();
    if ("retry" in step) return client.retry();
    for (const [name, value] of Object.entries(step.set_header ?? fail(`no such step: ${say(step)}`))) {
      if (!client.setHeader(name, value)) fail("no such header");
    }
  }
}

/** The sizes of pieces in which a scenario is replayed. The machine is the one that Rust replays at every size. */
const SIZES = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377];

function sizes(steps) {
  const texts = steps.flatMap((step) => ["body", "body_text", "messages", "bytes", "events", "json", "raw"].map((name) => step[name]));
  const longest = Math.max(1, ...texts.map((text) => JSON.stringify(text ?? null).length + 16));
  return [...SIZES.filter((size) => size <= longest), Infinity];
}

const putIn = (steps, include) =>
  steps.flatMap((step) => ("include" in step ? putIn(include[step.include] ?? fail(`nothing is named ${step.include}`), include) : [step]));

function replayOne(machines, { name, client, server, steps: written, ...more }, include) {
  only(more, ["rule", "point"]);
  const steps = putIn(written, include);
  for (const size of sizes(steps)) {
    const run = client ? new ClientRun(machines, client, size) : new ServerRun(machines, server, size);
    try {
      steps.forEach((step, at) => {
        try {
          run.step(step);
        } catch (error) {
          throw error instanceof Wrong ? new Wrong(`${name}, in pieces of ${size}, step ${at + 1}: ${error.message}`) : error;
        }
      });
      const left = run.left();
      if (left.length > 0) fail(`${name}, in pieces of ${size}: left over: ${say(left)}`);
    } finally {
      run.free();
    }
  }
}

/** Replays files, whose texts are given by name, and returns how many scenarios there are and what failed. */
export function replay(machines, files) {
  const include = JSON.parse(files["include.json"]);
  const failed = [];
  let count = 0;
  for (const [file, text] of Object.entries(files)) {
    if (!file.endsWith(".jsonl") && !file.endsWith(".ndjson")) continue;
    const isWrong = file.endsWith(".ndjson");
    for (const line of text.split("\n").filter((line) => line !== "")) {
      count += 1;
      const found = isWrong ? refuted(machines, line, include) : attempt(() => replayOne(machines, JSON.parse(line), include));
      if (found !== undefined) failed.push(`${file}: ${found}`);
    }
  }
  return { count, failed };
}

function attempt(work) {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Wrong ? error.message : String(error?.stack ?? error);
  }
}

/** A scenario that has to fail, of itself and not because it cannot be run. */
function refuted(machines, line, include) {
  const found = attempt(() => replayOne(machines, JSON.parse(line), include));
  return found === undefined ? `what is wrong has passed: ${line}` : undefined;
}
