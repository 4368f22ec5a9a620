// A tab that the browser freezes while an agent goes on sending, and wakes again: with its connections, and without.
import assert from "node:assert/strict";

// Updates of the turn; the agent sends one every 20 ms.
const COUNT = 100;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a tab has heard of a turn during which it slept until the agent had said everything. */
async function sleep(tab, transport, during = () => {}) {
  await tab.evaluate(`globalThis.begin(${JSON.stringify(transport)}, ${COUNT})`);
  await tab.until("globalThis.heard.updates.length > 5");
  await tab.send("Page.setWebLifecycleState", { state: "frozen" });
  await pause(COUNT * 10);
  during();
  await pause(COUNT * 20);
  await tab.send("Page.setWebLifecycleState", { state: "active" });
  await tab.until("globalThis.heard.after !== undefined");
  const heard = await tab.evaluate("globalThis.heard");
  // It did sleep, and the session goes on.
  assert.ok(heard.awake < COUNT / 2, `${heard.awake} updates before it woke`);
  assert.equal(heard.after, "end_turn");
  return heard;
}

/** Each update at most once, and in order. */
function ascend(updates) {
  assert.equal(updates.join(), [...new Set(updates)].sort((one, other) => one - other).join());
}

/** The turn was lost, and the session goes on. */
function lost({ updates, ended, events }) {
  ascend(updates);
  assert.notEqual(ended, "end_turn");
  assert.deepEqual(
    events.filter((type) => ["connected", "lost", "attached"].includes(type)),
    ["connected", "lost", "connected", "attached"],
  );
}

function complete({ updates, ended, events }) {
  assert.equal(updates.join(), Array.from({ length: COUNT }, (_, at) => at).join());
  assert.equal(ended, "end_turn");
  assert.ok(!events.includes("lost") && !events.includes("gap"), events.join());
}

/** The checks; each takes the tab and what cuts all connections to the server. */
export const frozen = {
  "a frozen tab misses nothing, by requests": async (tab) => complete(await sleep(tab, "http")),
  "a frozen tab misses nothing by WebSocket, or is told so": async (tab) => {
    const heard = await sleep(tab, "websocket");
    // Chromium closes a socket that had messages while its tab was frozen.
    if (heard.events.includes("lost")) lost(heard);
    else complete(heard);
  },
  "a tab whose streams were cut while it was frozen opens them again, and says so": async (tab, cut) => {
    const { updates, ended, events } = await sleep(tab, "http", cut);
    ascend(updates);
    assert.deepEqual([updates.at(-1), ended], [COUNT - 1, "end_turn"]);
    assert.ok(events.includes("gap"), events.join());
  },
  "a tab whose socket was cut while it was frozen has lost its turn, and its session again": async (tab, cut) =>
    lost(await sleep(tab, "websocket", cut)),
};
