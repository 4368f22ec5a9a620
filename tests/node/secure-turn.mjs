// A turn with a storyteller that is elsewhere; as a program, by Node's own `fetch`: `secure-turn.mjs ADDRESS`.
import assert from "node:assert/strict";
import { all, texts } from "./both.mjs";
import { connect, listener } from "./faraway.mjs";

/** Takes the turn; what carried it. */
export async function turn(address, options) {
  const heard = listener();
  const agent = await connect(address, heard.client, { grace: 100, onTransport: heard.onTransport, ...options });
  const session = await agent.newSession("/work");
  assert.deepEqual(texts(await all(session.prompt("ask"))), ["answered allow_once"]);
  await agent.close();
  return heard.events[0].carrier;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  console.log(await turn(process.argv[2], { transport: "http" }));
}
