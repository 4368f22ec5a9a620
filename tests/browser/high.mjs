// The high level in a page: over ports, workers, streams and a WebSocket, and as bundles. Each check throws where it fails.
import { Agent, messagePort, stdio, streams, webSocket } from "libacp/agent";
import { Client, connect, spawnAgent } from "libacp/client";
import { rule } from "libacp/rules";

function equal(found, expected) {
  const [left, right] = [found, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`expected ${right}, found ${left}`);
}

/** A turn with whatever echoes at the other end. */
async function converse(transport) {
  const agent = await connect(transport, new Client("page", "1", { permission: (request) => request.allow() }));
  const session = await agent.newSession("/");
  const updates = [];
  const turn = session.prompt("hi");
  for await (const update of turn) updates.push(update.content?.text ?? update.status ?? update.title);
  const cancelled = session.prompt("wait");
  for await (const _ of cancelled) await cancelled.cancel();
  await agent.close();
  return [...updates, turn.stopReason, cancelled.stopReason];
}

export const agent = new Agent("page", "1").prompt(async (turn) => {
  await turn.message(turn.text);
  if (turn.text === "wait") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  await turn.toolCall("T", { status: "pending" }, (call) => call.askPermission());
});
const EXPECTED = ["hi", "pending", "in_progress", "completed", "end_turn", "cancelled"];

/** Waits until a page in a frame says how it went. */
async function framed(path) {
  const frame = document.createElement("iframe");
  frame.src = path;
  const said = new Promise((resolve) => addEventListener("message", ({ data }) => resolve(data), { once: true }));
  document.body.append(frame);
  const outcome = await said;
  frame.remove();
  return outcome;
}

Object.assign((globalThis.more = {}), {
  "the high level loads the module by itself, once": async () => {
    const { port1, port2 } = new MessageChannel();
    const served = agent.serve(messagePort(port1));
    equal(await converse(messagePort(port2)), EXPECTED);
    await served;
    const loads = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".wasm"));
    equal(loads.length, 1);
  },

  "over web streams": async () => {
    const [there, back] = [new TransformStream(), new TransformStream()];
    const served = agent.serve(streams(there.readable, back.writable));
    equal(await converse(streams(back.readable, there.writable)), EXPECTED);
    await served;
  },

  "an agent in a worker": async () => {
    const worker = new Worker("/worker.mjs", { type: "module" });
    await new Promise((ready) => worker.addEventListener("message", ready, { once: true }));
    equal(await converse(messagePort(worker)), EXPECTED);
    worker.terminate();
  },

  "an agent behind a WebSocket": async () => {
    equal(await converse(webSocket(`ws://${location.host}/acp`)), EXPECTED);
    equal(await converse(webSocket(new WebSocket(`ws://${location.host}/acp`))), EXPECTED);
  },

  "a WebSocket that leads nowhere": async () => {
    const error = await connect(webSocket("ws://127.0.0.1:1/"), undefined, { grace: 10 }).catch((error) => error);
    equal([error.name, error.outcome], ["NoResult", "closed"]);
  },

  "what needs Node says so": () => {
    for (const call of [stdio, spawnAgent]) {
      let message = "";
      try {
        call();
      } catch (error) {
        ({ message } = error);
      }
      equal(/needs processes/.test(message), true);
    }
  },

  "the rules are a script of their own": () => equal(rule("PERM-02").id, "PERM-02"),

  "a bundle by Vite": async () => equal(await framed("/vite/index.html"), EXPECTED.slice(0, 4)),

  "a bundle by esbuild, with the module beside it": async () => equal(await framed("/esbuild/index.html"), EXPECTED.slice(0, 4)),

  "a bundle by esbuild that is one script, the module in it": async () => equal(await framed("/one/index.html"), EXPECTED.slice(0, 4)),

  "a bundle without its module says what to do": async () => {
    for (const place of ["/bare/", "/script/"]) {
      const said = await framed(`${place}index.html`);
      equal([place, /libacp_core_bg\.wasm/.test(said), /libacp\/wasm.*init\(url\)/.test(said), said], [place, true, true, said]);
    }
  },

  "a page without a bundler": async () => equal(await framed("/plain.html"), EXPECTED.slice(0, 4)),
});
globalThis.checks = { ...globalThis.checks, ...globalThis.more };
