// An agent as the host vectors have one, on `libacp/agent`.
import { agentSide } from "../both.mjs";
import { optionsOf } from "./options.mjs";
import { Scene, greeting } from "./scene.mjs";
import { filled } from "./stream.mjs";

const { Agent, Misuse } = agentSide;

/** The agent that a scenario describes. */
export function agent(scenario, scene) {
  const made = new Agent("vectors", "1", optionsOf(scenario, scene));
  for (const [name, runs] of Object.entries(scenario.handlers ?? {})) {
    const [method] = name.split("#");
    const perform = scene.handler(method, runs);
    if (method === "session/prompt") {
      made.prompt((turn) => {
        const { id, session, client, blocks, meta, signal } = turn;
        const params = { sessionId: session.id, prompt: blocks, ...(meta === undefined ? {} : { _meta: meta }) };
        return perform({ session, peer: client, params, id, signal, turn });
      });
      continue;
    }
    made.on(method, (subject, params, how) => {
      const session = subject.client ? subject : undefined;
      return perform({ session, peer: session?.client ?? subject, params, id: how?.id, signal: how?.signal });
    });
  }
  return made;
}

const said = ({ text, content, message_id: messageId }) => [text ?? content, { messageId }];
const permission = ({ optionId }) => ({ outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } });

/** Work that does what the scenario says. Errors that are the actions' own are no errors of a call. */
function worked(scene, session, then, context) {
  const run = (turn) => scene.act(then, { method: "work", ...context, session, turn, signal: turn.signal });
  return session.work(run).catch((error) => {
    throw error instanceof Misuse ? error : Object.assign(error, { kind: "failed" });
  });
}

const TURN = {
  message: ({ turn }, given) => turn.message(...said(given)),
  thought: ({ turn }, given) => turn.thought(...said(given)),
  plan: ({ turn, session }, { entries, id }) => (id === undefined ? turn.plan(entries) : session.plan(id).set(entries)),
  hold: ({ turn }) => turn.hold(),
  insert: ({ turn }) => turn.insert(),
  remove_plan: ({ session }, { id }) => session.plan(id).remove(),
  background: ({ session }, { terminal: terminalId }) => session.background({ type: "terminal", terminalId }),
  display_terminal: async ({ turn, displays, ...context }, { command, then, ...options }, scene) => {
    const display = await turn.displayTerminal(command, options);
    await scene.act(then ?? [], { ...context, turn, display, displays: new Map(displays).set(display.id, display) });
  },
  ask_permission: async ({ turn }, { tool_call: call, options }) => permission(await turn.askPermission(call, options)),
  read_text_file: async ({ turn }, { path, ...how }) => ({ content: await turn.readTextFile(path, how) }),
  write_text_file: ({ turn }, { path, content }) => turn.writeTextFile(path, content),
  tool_call: ({ turn, ...context }, { title, then, raw_input: rawInput, ...options }, scene) =>
    turn.toolCall(title, { ...options, rawInput }, (call) => scene.act(then ?? [], { ...context, turn, call })),
  terminal: ({ turn, ...context }, { command, args, env, cwd, output_byte_limit: outputByteLimit, then }, scene) =>
    turn.terminal(command, args, { env, cwd, outputByteLimit }, (terminal) => scene.act(then ?? [], { ...context, turn, terminal })),
};
const CALL = {
  text: ({ call }, { text }) => call.text(text),
  diff: ({ call }, { path, new_text: newText, old_text: oldText }) => call.diff(path, newText, oldText),
  change: ({ call }, changes) => call.update(changes),
  complete: ({ call }, { raw_output: rawOutput } = {}) => call.complete({ rawOutput }),
  fail: ({ call }, { text }) => call.fail(text),
  ask_permission: async ({ call }, { options }) => permission(await call.askPermission(options)),
  append: ({ call }, { text, content }) => call.append(text ?? content),
  show: ({ call, displays }, { terminal }) => call.show(displays.get(terminal)),
  background: ({ call, session }) => session.background(call),
  cancelled: ({ call }) => call.cancelled(),
};
const DISPLAY = {
  write: ({ display }, { text }) => display.write(text),
  exit: ({ display }, { code: exitCode, signal }) => display.exit({ exitCode, signal }),
  background: ({ display, session }) => session.background(display),
};
const TERMINAL = {
  wait: ({ terminal }) => terminal.wait(),
  output: ({ terminal }) => terminal.output(),
  kill: ({ terminal }) => terminal.kill(),
};

/** Does a convenience of the turn, or of what stands around it. */
export function does(scene, what, given, context) {
  const found = [context.call && CALL, context.terminal && TERMINAL, context.display && DISPLAY, TURN].find((table) => table && Object.hasOwn(table, what));
  if (!found) throw new Error(`there is no convenience ${what}`);
  return found[what](context, given, scene);
}

class AgentHost {
  #stop = new AbortController();

  constructor(scene, made) {
    this.scene = scene;
    // Whoever serves several clients learns of each by its handlers; here there is one.
    this.served = made.serve(scene.transport(), { signal: this.#stop.signal }).catch((error) => {
      if (error?.name !== "AbortError") scene.fail(error);
    });
  }

  #whom(step) {
    const { peer } = this.scene;
    return step.session === undefined ? peer : peer.sessions.get(step.session);
  }

  request(method, step) {
    void this.scene.told(step.as, this.#whom(step).request(method, step.with));
  }

  notify(method, step) {
    return this.#whom(step).notify(method, step.with);
  }

  work(id, { then, as }) {
    const { peer } = this.scene;
    const session = peer.sessions.get(id);
    const done = worked(this.scene, session, then, { peer });
    if (as === undefined) done.catch((error) => this.scene.fail(error));
    else void this.scene.told(as, done);
  }

  call(method, step) {
    if (method !== "session/update") throw new Error(`there is no convenience for ${method}`);
    void this.scene.told(step.as, this.#whom(step).update(step.with.update).then(() => ({})));
  }

  close() {
    this.#stop.abort();
  }

  ended() {
    return this.served;
  }
}

export async function play(scenario) {
  const scene = new Scene(scenario, { ...agentSide, does });
  const host = new AgentHost(scene, agent(scenario, scene));
  if (!scenario.bare) {
    scene.send({ id: 0, method: "initialize", params: filled(greeting(scenario, "client"), scene.names) });
    await scene.out({ id: 0, result: "<any>" }, "initialize");
  }
  await scene.play(host);
}

/** What a scenario gives is refused; the text that says so. */
export async function refusal(scenario) {
  const scene = new Scene(scenario, { ...agentSide, does });
  try {
    const served = agent(scenario, scene).serve(scene.transport());
    scene.end();
    await served;
  } catch (error) {
    return error.message;
  }
  return undefined;
}
