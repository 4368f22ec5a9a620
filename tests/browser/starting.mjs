// The page's way to its agent, each step of which fails once, or takes long: the page is online in the end.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { pause, start, store } from "./served.mjs";

const STEPS = {
  "the page": "**/",
  "its script": "**/app.js",
  "its style": "**/style.css",
  "the folder": "**/config.json",
  "the WebAssembly module": "**/*.wasm",
};
// A page whose own scripts are missing can do nothing about it.
const AGAIN = ["the folder", "the WebAssembly module"];
const FAILURES = {
  "is not there": (route) => route.abort("connectionreset"),
  "is refused": (route) => route.fulfill({ status: 503, body: "" }),
};
const LONG = 3000;

const online = (page, timeout) => page.locator("#state[data-state=online]").waitFor({ timeout });

/** A page, with a say in what becomes of some of its requests: once. */
async function opened(browser, address, pattern, once) {
  const page = await browser.newPage();
  let times = 0;
  await page.route(pattern, (route) => ((times += 1) === 1 ? once(route) : route.continue()));
  await page.goto(address);
  return { page, times: () => times };
}

export const startTests = {};

for (const [name, pattern] of Object.entries(STEPS)) {
  startTests[`the page waits for ${name}`] = async ({ browser }) => {
    const { address } = await start();
    const { page, times } = await opened(browser, address, pattern, (route) => pause(LONG).then(() => route.continue()));
    await online(page, 30_000);
    assert.equal(times(), 1);
  };
}
for (const name of AGAIN) {
  for (const [how, once] of Object.entries(FAILURES)) {
    startTests[`the page tries again where ${name} ${how}`] = async ({ browser }) => {
      const { address } = await start();
      const { page, times } = await opened(browser, address, STEPS[name], once);
      await online(page, 30_000);
      assert.equal(times(), 2);
    };
  }
}

/** An agent that does something at its first start, and is the usual one from then on. */
function first(name, text) {
  const mark = join(store, `${name}.mark`);
  const program = join(store, `${name}.sh`);
  writeFileSync(program, `if [ -e ${mark} ]; then exec target/debug/acp-chat-agent ${join(store, name)}; fi\n: > ${mark}\n${text}\n`);
  return ["sh", program];
}

const REFUSAL = '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"not yet"}}';
const ID = `$(expr "$line" : '.*"id":\\([^,}]*\\)')`;

Object.assign(startTests, {
  async "the page waits for an agent that begins late"({ browser }) {
    const { address } = await start(first("late", `sleep ${LONG / 1000}; exec target/debug/acp-chat-agent ${store}/late`));
    const page = await browser.newPage();
    await page.goto(address);
    await online(page, 30_000);
  },

  async "the page tries again where the agent ends at once"({ browser }) {
    const { address } = await start(first("short", "exit 1"));
    const page = await browser.newPage();
    await page.goto(address);
    await online(page, 30_000);
  },

  async "the page tries again where the agent opens no session"({ browser }) {
    const answers = [
      `read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{}}}\\n' "${ID}"`,
      `read -r line; printf '${REFUSAL}\\n' "${ID}"; cat > /dev/null`,
    ];
    const { address } = await start(first("refusing", answers.join("\n")));
    const page = await browser.newPage();
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    await page.goto(address);
    await online(page, 30_000);
    assert.match(said.join("\n"), /session\/new: not yet/);
  },

  async "a browser that is slow to say what it wants is served"() {
    const { address } = await start();
    const { port, host, pathname } = new URL(address);
    const text = await new Promise((resolve, reject) => {
      let said = "";
      const socket = connect(Number(port), "127.0.0.1");
      setTimeout(() => socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), 2 * LONG);
      socket.on("data", (data) => (said += data)).on("close", () => resolve(said)).on("error", reject);
    });
    assert.match(text, /^HTTP\/1.1 200/);
  },
});
