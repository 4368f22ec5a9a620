// An agent and a client of the high level, joined in one process, for tests.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const folder = process.env.LIBACP_FOLDER;
const load = (name) => import(pathToFileURL(join(folder, name)).href);
export const agentSide = await load("agent.mjs");
export const clientSide = await load("client.mjs");
export const { Agent, RequestError, streams } = agentSide;
export const { Client, NoResult, connect } = clientSide;

/** Two transports that are each other's ends, over web streams: bytes, with back-pressure. */
export function pipes() {
  const [there, back] = [new TransformStream(), new TransformStream()];
  return [streams(back.readable, there.writable), streams(there.readable, back.writable)];
}

/** An agent with this handler of prompts (or that one), and a session with it; all is closed when the test is over. */
export async function joined(test, handler, { client = new Client(), agent = new Agent("a", "1"), ends = pipes() } = {}) {
  if (handler) agent.prompt(handler);
  const served = agent.serve(ends[1]);
  const peer = await connect(ends[0], client, { grace: 200 });
  test.after(async () => {
    await peer.close();
    await served;
  });
  return { peer, served, agent, session: await peer.newSession("/work") };
}

/** Everything that a turn brings. */
export async function all(turn) {
  const updates = [];
  for await (const update of turn) updates.push(update);
  return updates;
}

/** The texts among updates. */
export const texts = (updates) => updates.flatMap(({ content }) => content?.text ?? []);

/** A promise and what settles it. */
export function later() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Silences the library for a test; what it has logged. */
export function quiet(test) {
  const { mock } = test.mock.method(console, "error", () => {});
  return () => mock.calls.map(({ arguments: [first] }) => String(first));
}
