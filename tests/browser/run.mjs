// The installed package in Chromium, on a page without a bundler: `node run.mjs`. The browser is CHROMIUM, or one of the
// usual places. The last line is `N passed, N failed`.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { install } from "../node/installed.mjs";
import { bundles } from "./bundles.mjs";
import { launch } from "./chromium.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const here = fileURLToPath(new URL(".", import.meta.url));

/** Serves the page, the package under /libacp/, the bundles, and an agent behind a WebSocket. */
async function serve({ folder, root, agent }) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entry = ({ browser, default: any }) => `/libacp/${normalize(browser ?? any)}`;
  const named = [".", "./agent", "./client", "./http", "./rules"].map((name) => [join("libacp", name), entry(exports[name])]);
  const imports = JSON.stringify(Object.fromEntries(named));
  const places = { "/libacp/": root, ...(await bundles(folder)), "/node/": join(here, "../node"), "/": here };
  const remotes = {};
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    if (path === "/remotes.json") {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(remotes));
      return;
    }
    const place = Object.keys(places).find((place) => path.startsWith(place));
    const file = join(places[place], path.slice(place.length));
    if (!existsSync(file) || TYPES[extname(file)] === undefined) {
      response.writeHead(404).end();
      return;
    }
    const body = readFileSync(file);
    response.writeHead(200, { "content-type": TYPES[extname(file)] });
    response.end(path === "/page.html" ? body.toString().replace("%IMPORTS%", imports) : body);
  });
  const { Agent, webSocket } = await import(agent);
  const echo = new Agent("server", "1").prompt(async (turn) => {
    await turn.message(turn.text);
    if (turn.text === "wait") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    await turn.toolCall("T", { status: "pending" }, (call) => call.askPermission());
  });
  new WebSocketServer({ server, path: "/acp" }).on("connection", (socket) => void echo.serve(webSocket(socket)));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  // The same agent on servers of other origins: one that lists the page's, and one that does not.
  const { listen } = await import(new URL("httpnode.mjs", agent));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const [listed, foreign] = await Promise.all([[origin], []].map((origins) => listen(echo, { origins, WebSocketServer, log: () => {} })));
  const vectors = join(here, "../http");
  const files = Object.fromEntries(readdirSync(vectors).map((name) => [name, readFileSync(join(vectors, name), "utf8")]));
  Object.assign(remotes, { listed: listed.url, foreign: foreign.url, files });
  server.on("close", () => [listed, foreign].forEach((remote) => remote.close({ grace: 100 })));
  return server;
}

async function runChecks(browser) {
  const server = await serve(install());
  const counts = { passed: 0, failed: 0 };
  try {
    const page = await browser.newPage();
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("requestfailed", (request) => complaints.push(`${request.url()} was not loaded`));
    await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
    await page.waitForFunction(() => globalThis.remote !== undefined, undefined, { timeout: 60_000 }).catch((error) => {
      throw new Error(`the page did not load: ${complaints.join("; ") || error.message}`);
    });
    for (const name of await page.evaluate(() => Object.keys(globalThis.checks))) {
      const failure = await page.evaluate(async (name) => {
        const late = new Promise((_, fail) => setTimeout(() => fail(new Error("no end within 60 s")), 60_000));
        return Promise.race([Promise.resolve().then(globalThis.checks[name]), late]).then(() => null, String);
      }, name);
      counts[failure === null ? "passed" : "failed"] += 1;
      if (failure !== null) console.error(`failed: ${name}: ${failure}`);
    }
  } finally {
    await browser.close();
    server.close();
  }
  return counts;
}

const browser = await launch();
const { passed, failed } = browser === undefined ? { passed: 0, failed: 0 } : await runChecks(browser);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
