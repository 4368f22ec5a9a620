// A client as the host vectors have one, on `libacp/client`.
import { clientSide } from "../both.mjs";
import { Scene, greeting } from "./scene.mjs";
import { optionsOf } from "./options.mjs";

const { Client, connect } = clientSide;

/** Files and terminals that give the answers of a scenario. */
const FILES = {
  "fs/read_text_file": ["readTextFile", ({ content }) => content],
  "fs/write_text_file": ["writeTextFile", () => undefined],
};
const TERMINALS = {
  "terminal/create": ["create", ({ terminalId }) => terminalId],
  "terminal/output": ["output", (result) => result],
  "terminal/wait_for_exit": ["waitForExit", (result) => result],
  "terminal/kill": ["kill", () => undefined],
  "terminal/release": ["release", () => undefined],
};

function made(answers, table, ready) {
  if (answers === undefined) return undefined;
  if (answers === true) return new ready();
  return Object.fromEntries(Object.entries(answers).map(([method, result]) => [table[method][0], () => table[method][1](result)]));
}

const isOption = (runs) => runs.flat().every((action) => typeof action.return !== "object" || action.return === null);

/** The client that a scenario describes. */
export function client(scenario, scene) {
  const { host = {}, handlers = {} } = scenario;
  const options = optionsOf(scenario, scene);
  const given = {
    files: made(host.files, FILES, clientSide.Files),
    terminals: made(host.terminals, TERMINALS, clientSide.Terminals),
  };
  const afterwards = host.later ?? [];
  for (const name of Object.keys(given)) if (given[name] && !afterwards.includes(name)) options[name] = given[name];
  const ask = handlers["session/request_permission"];
  if (ask && isOption(ask)) {
    const perform = scene.handler("session/request_permission", ask);
    options.permission = (request) => {
      const { session, signal, id, meta, toolCall, options } = request;
      const params = { sessionId: session.id, toolCall, options, ...(meta ? { _meta: meta } : {}) };
      // Version 2 has more, and version 1's title is the tool call's.
      const { title, description, subject } = request;
      if (session.agent.version === 2) Object.assign(params, { title }, description && { description }, subject && { subject });
      return perform({ session, peer: session.agent, params, id, signal });
    };
  }
  const made_ = new Client("vectors", "1", options);
  for (const [name, runs] of Object.entries(handlers)) {
    if (runs === ask && options.permission) continue;
    const [method, note] = name.split("#");
    if (note && note !== "note") throw new Error(`${name}: there is no ${note}`);
    const perform = scene.handler(method, runs);
    made_.on(method, (subject, params, how) => {
      const session = subject.agent ? subject : undefined;
      return perform({ session, peer: session?.agent ?? subject, params, id: how?.id, signal: how?.signal });
    });
  }
  for (const name of afterwards) made_[name] = given[name];
  return made_;
}

const dataOf = ({ id, result }) => ({ ...result, sessionId: id });

class ClientHost {
  /** Objects of sessions, as the call that has opened them gave them. */
  #sessions = new Map();
  #calls = new Map();
  #stops = new Map();

  constructor(scene, peer) {
    this.scene = scene;
    this.opening = peer;
  }

  async session(id) {
    const peer = await this.opening;
    const session = this.#sessions.get(id) ?? peer.sessions.get(id);
    if (!session) throw new Error(`no session ${id} is open`);
    return session;
  }

  #kept(session) {
    if (!this.#sessions.has(session.id)) this.#sessions.set(session.id, session);
    return dataOf(session);
  }

  #gone(id) {
    return (result) => {
      this.#sessions.delete(id);
      return result;
    };
  }

  async call(method, step) {
    const peer = await this.opening;
    const stop = new AbortController();
    this.#stops.set(step.as, stop);
    const { _meta: meta, ...params } = step.with;
    const options = { ...(meta ? { meta } : {}), signal: stop.signal };
    const told = (promise) => void this.scene.told(step.as, promise);
    const { cwd, mcpServers, additionalDirectories } = params;
    const opening = { ...options, ...(mcpServers ? { mcpServers } : {}), ...(additionalDirectories ? { additionalDirectories } : {}) };
    const whole = (result) => result ?? {};
    switch (method) {
      case "authenticate":
        return told(peer.authenticate(params.methodId, options).then(whole));
      case "logout":
        return told(peer.logout(options).then(whole));
      case "session/new":
        return told(peer.newSession(cwd, opening).then((session) => this.#kept(session)));
      case "session/resume":
        return told(peer.resumeSession(step.session, cwd, opening).then((session) => this.#kept(session)));
      case "session/load":
        return this.#exchange(step, peer.loadSession(step.session, cwd, opening), (session) => this.#kept(session));
      case "session/list":
        return told(listed(peer.listSessions(cwd, options)));
      case "session/delete":
        return told(peer.deleteSession(step.session, options).then(whole).then(this.#gone(step.session)));
      case "session/close":
        return told((await this.session(step.session)).close(options).then(whole).then(this.#gone(step.session)));
      case "session/set_mode":
        return told((await this.session(step.session)).setMode(params.modeId, options).then(whole));
      case "session/set_config_option": {
        const session = await this.session(step.session);
        const set = session.setConfigOption(params.configId, params.value, options);
        return told(set.then((configOptions) => ({ configOptions })));
      }
      case "tool_call/cancel":
        return told((await this.session(step.session)).cancelToolCall(params.toolCallId, options).then(whole));
      case "session/cancel":
        return told((await this.session(step.session)).cancel(meta ? { meta } : {}).then(whole));
      case "session/prompt": {
        const session = await this.session(step.session);
        return this.#exchange(step, session.prompt(params.prompt, options), (result) => result);
      }
      default:
        throw new Error(`there is no convenience for ${method}`);
    }
  }

  /** Iterates over an exchange, or awaits it. */
  #exchange(step, exchange, result) {
    this.#calls.set(step.as, exchange);
    const { iterate, wait, begin, as } = step;
    const { scene } = this;
    const iterated = async () => {
      let count = 0;
      for await (const update of exchange) {
        scene.events.push({ update: as, is: update });
        count += 1;
        if (count === 1 && wait !== undefined) await scene.labels.at(wait).promise;
        if (count === iterate) return {};
      }
      return exchange.result ?? result(exchange.session);
    };
    const run = async () => {
      if (begin !== undefined) await scene.labels.at(begin).promise;
      return iterate === undefined ? result(await exchange) : iterated();
    };
    scene.told(as, run());
  }

  async request(method, step) {
    const peer = await this.opening;
    const stop = new AbortController();
    this.#stops.set(step.as, stop);
    const whom = step.session === undefined ? peer : await this.session(step.session);
    void this.scene.told(step.as, whom.request(method, step.with, { signal: stop.signal }));
  }

  async notify(method, step) {
    const peer = await this.opening;
    const whom = step.session === undefined ? peer : await this.session(step.session);
    await whom.notify(method, step.with);
  }

  async cancel(name) {
    await this.#calls.get(name).cancel();
  }

  drop(name) {
    this.#stops.get(name).abort();
  }

  async close() {
    void (await this.opening).close();
  }

  async ended() {
    const peer = await this.opening.catch(() => undefined);
    await peer?.close();
  }
}

async function listed(pages) {
  const sessions = [];
  for await (const each of pages) sessions.push(each);
  return { sessions };
}

export async function play(scenario) {
  const scene = new Scene(scenario, clientSide);
  const opening = connect(scene.transport(), client(scenario, scene), { grace: 1000 });
  const host = new ClientHost(scene, opening);
  if (scenario.bare) {
    void scene.told("initialize", opening.then((peer) => peer.greeting));
  } else {
    await scene.out({ id: "<initialize>", method: "initialize", params: "<any>" }, "initialize");
    const id = scene.names.get("<initialize>");
    scene.send({ id, result: greeting(scenario, "agent") });
    scene.peer = await opening;
  }
  await scene.play(host);
}

/** What a scenario gives is refused; the text that says so. */
export async function refusal(scenario) {
  const scene = new Scene(scenario, clientSide);
  const transport = scene.transport();
  try {
    const opening = connect(transport, client(scenario, scene), { grace: 100, timeout: 100 });
    const peer = await opening;
    await peer.close();
  } catch (error) {
    if (error.name === "NoResult") return undefined;
    return error.message;
  }
  return undefined;
}
