// The installed package in Chromium, on a page without a bundler: `node run.mjs`. The browser is CHROMIUM, or one of the
// usual places. The last line is `N passed, N failed`.
import { X509Certificate, createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { certificate } from "../node/certificate.mjs";
import { install } from "../node/installed.mjs";
import { bundles } from "./bundles.mjs";
import { launch } from "./chromium.mjs";
import { frozen } from "./frozen.mjs";
import { openTab } from "./tab.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const here = fileURLToPath(new URL(".", import.meta.url));

/** Serves the page, the package under /libacp/, the bundles, and an agent behind a WebSocket. */
async function serve({ folder, root, agent }, secret) {
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
  const echo = new Agent("server", "1").resumeSession(() => ({})).prompt(async (turn) => {
    const [word, number] = turn.text.split(" ");
    if (word === "count") {
      for (let at = 0; at < Number(number); at += 1) {
        await turn.message(String(at));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return;
    }
    await turn.message(turn.text);
    if (turn.text === "wait") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    await turn.toolCall("T", { status: "pending" }, (call) => call.askPermission());
  });
  new WebSocketServer({ server, path: "/acp" }).on("connection", (socket) => void echo.serve(webSocket(socket)));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  // The same agent on servers of other origins: one that lists the page's, and one that does not.
  const { listen } = await import(new URL("httpnode.mjs", agent));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const remote = (origins, server) => listen(echo, { origins, server, WebSocketServer, log: () => {} });
  const secure = createSecureServer({ ...secret, allowHTTP1: true });
  const all = await Promise.all([remote([origin]), remote([]), remote([origin], secure)]);
  const [listed, foreign] = all;
  const vectors = join(here, "../http");
  const files = Object.fromEntries(readdirSync(vectors).map((name) => [name, readFileSync(join(vectors, name), "utf8")]));
  Object.assign(remotes, { listed: listed.url, foreign: foreign.url, encrypted: `https://localhost:${secure.address().port}/acp`, files });
  const sockets = new Set();
  listed.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.refused = () => foreign.service.connections;
  server.cut = () => sockets.forEach((socket) => socket.destroy());
  server.on("close", () => all.forEach((remote) => remote.close({ grace: 100 })));
  return server;
}

async function runChecks(browser, secret) {
  const server = await serve(install(), secret);
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
    // Also what the page could only send, and not read the answer of.
    const begun = server.refused();
    counts[begun === 0 ? "passed" : "failed"] += 1;
    if (begun !== 0) console.error(`failed: the server that lists no page has ${begun} connections`);
    const tab = await openTab(browser, page.url());
    await tab.until("globalThis.begin !== undefined");
    for (const [name, check] of Object.entries(frozen)) {
      const failure = await check(tab, server.cut).then(() => null, String);
      counts[failure === null ? "passed" : "failed"] += 1;
      if (failure !== null) console.error(`failed: ${name}: ${failure}`);
    }
  } finally {
    await browser.close();
    server.close();
  }
  return counts;
}

// The browser trusts the key of this certificate, and checks everything else.
const secret = certificate((work) => process.on("exit", work));
const key = new X509Certificate(secret.cert).publicKey.export({ type: "spki", format: "der" });
const hash = createHash("sha256").update(key).digest("base64");
const browser = await launch(`--ignore-certificate-errors-spki-list=${hash}`);
const { passed, failed } = browser === undefined ? { passed: 0, failed: 0 } : await runChecks(browser, secret);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
