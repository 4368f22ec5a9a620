// The example page in Chromium, with real clicks and a real agent behind the real bridge; before that the bridge alone, and
// example clients with an agent that would steer their terminal: `node web.mjs [PATTERN]` (of names). Screenshots go to
// target/test-artefacts/web. The last line is `N passed, N failed`.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { accessTests } from "./access.mjs";
import { bridgeTests } from "./bridge.mjs";
import { launch } from "./chromium.mjs";
import { elicitationTests } from "./elicitations.mjs";
import { featureTests } from "./features.mjs";
import { hostileTests } from "./hostile.mjs";
import { lockTests } from "./locks.mjs";
import { measureTests } from "./measures.mjs";
import { permissionTests } from "./permission.mjs";
import { answerByClick, answerByKey, idle, online, send } from "./person.mjs";
import { printingTests } from "./printing.mjs";
import { killAll, root, start } from "./served.mjs";
import { startTests } from "./starting.mjs";
import { transportTests } from "./transports.mjs";

const shots = join(root, "target/test-artefacts/web");

const said = (page) => page.locator("article.agent");

const tests = {
  async "a prompt is answered in pieces, as Markdown"({ page }) {
    await send(page, "Hello **there**");
    await page.locator("#cancel:visible").waitFor();
    await idle(page);
    await said(page).locator("h2", { hasText: "You said" }).waitFor();
    assert.equal(await page.locator("article.user strong").innerText(), "there");
    assert.equal(await said(page).locator("pre code").count(), 1);
    assert.equal(await said(page).locator("table td").count(), 4);
    assert.equal(await page.locator(".tool[data-status=completed]").count(), 1);
    assert.equal(await page.locator("details.thought").getAttribute("open"), null);
    await page.click("details.thought summary");
    await page.getByText("A short tour").waitFor();
    assert.match(await page.locator("#tokens").innerText(), /700 of 20,000/);
    assert.equal(await page.title(), "Hello **there**");
  },

  async "permission is asked with a diff and given by a click"({ page }) {
    await send(page, "/edit greet all");
    const card = page.locator(".card", { hasText: "Edit src/main.rs" });
    await card.getByRole("button", { name: "Allow", exact: true }).waitFor();
    assert.equal(await card.locator(".diff .added").count(), 4);
    assert.equal(await card.locator(".diff .removed").count(), 2);
    await page.screenshot({ path: join(shots, "permission.png") });
    await answerByClick(card.getByRole("button", { name: "Allow", exact: true }));
    await page.getByText("greets everybody").waitFor();
    await idle(page);
    assert.equal(await card.locator(".tool").getAttribute("data-status"), "completed");
  },

  async "permission is refused with a key"({ page }) {
    await send(page, "/edit greet nobody");
    const card = page.locator(".card", { hasText: "Edit src/main.rs" });
    await answerByKey(page, card.getByRole("button"), "3");
    await page.getByText("it stays as it is").waitFor();
    await idle(page);
    assert.equal(await card.locator(".tool").getAttribute("data-status"), "failed");
  },

  async "a turn is stopped, also while it asks"({ page }) {
    await send(page, "/story");
    await page.getByText("Night 2").waitFor();
    await page.click("#cancel");
    await page.locator(".note", { hasText: "cancelled" }).waitFor();
    await idle(page);
    await send(page, "/edit something else");
    const card = page.locator(".card", { hasText: "Edit src/main.rs" });
    await card.getByRole("button", { name: "Reject" }).waitFor();
    await page.keyboard.press("Escape");
    await idle(page);
    await page.locator(".note", { hasText: "cancelled" }).waitFor();
    assert.equal(await card.getByRole("button").count(), 0);
    assert.equal(await card.locator(".tool").getAttribute("data-status"), "failed");
  },

  async "a plan goes forward"({ page }) {
    await send(page, "/plan");
    await page.locator("#plan li[data-status=in_progress]").waitFor();
    await idle(page);
    assert.equal(await page.locator("#plan li[data-status=completed]").count(), 3);
    assert.equal(await page.locator("#progress").evaluate((bar) => bar.value), 3);
  },

  async "commands are completed with the keyboard"({ page }) {
    await page.focus("#prompt");
    await page.keyboard.type("/");
    await page.locator("#commands li").nth(2).waitFor();
    assert.equal(await page.locator("#commands li").count(), 3);
    await page.keyboard.press("ArrowDown");
    await page.screenshot({ path: join(shots, "commands.png") });
    await page.keyboard.press("Tab");
    assert.equal(await page.inputValue("#prompt"), "/edit ");
    assert.equal(await page.locator("#commands").isVisible(), false);
    await page.fill("#prompt", "");
  },

  async "modes and options are set"({ page }) {
    await page.selectOption("select[name=model]", "large");
    await page.selectOption("select[name=mode]", "auto");
    await send(page, "/edit without asking");
    await idle(page);
    assert.equal(await page.locator(".permission button").count(), 0);
    await send(page, "Hi");
    await page.getByText("Large is only a name").waitFor();
    await idle(page);
  },

  async "what the agent does against the rules is listed"({ page }) {
    assert.equal(await page.locator("#count").textContent(), "0");
    await page.click("#tab-wire");
    await page.evaluate(() => {
      const { connection } = globalThis.acp.agent;
      const bad = { sessionId: "unheard-of", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "?" } } };
      connection.receive(JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: bad }));
    });
    // It is read together with the next message.
    await page.selectOption("select[name=model]", "small");
    await page.locator("#wire .rule", { hasText: "SESS-52" }).waitFor();
    assert.equal(await page.locator("#count").innerText(), "1");
  },

  async "a lost connection comes back with what was said"({ page }) {
    await send(page, "Hello");
    await said(page).locator("h2", { hasText: "You said" }).waitFor();
    await idle(page);
    const before = await page.locator("article").count();
    // It is offline for half a second only, which a look from outside may miss.
    await page.evaluate(() => {
      const state = document.getElementById("state");
      const offline = new Promise((resolve) => {
        new MutationObserver(() => state.dataset.state === "offline" && resolve()).observe(state, { attributes: true });
      });
      globalThis.acp.agent.close();
      return offline;
    });
    await online(page);
    await said(page).locator("h2", { hasText: "You said" }).waitFor();
    assert.ok((await page.locator("article").count()) >= before);
    await send(page, "Still there?");
    await page.locator("blockquote", { hasText: "Still there?" }).waitFor();
    await idle(page);
  },

  async "a new conversation is empty"({ page }) {
    await send(page, "Hello");
    await said(page).first().waitFor();
    await idle(page);
    await page.keyboard.press("Alt+n");
    await page.waitForFunction(() => document.querySelectorAll("article").length === 0);
  },

  async "markup of an agent's is text, and nothing is loaded for it"({ page }) {
    await send(page, '<img src="https://example.com/x.png" onerror="document.title=1"><script>document.title=2</script> [a](javascript:alert(1))');
    await idle(page);
    assert.equal(await page.locator("#conversation img, #conversation script").count(), 0);
    assert.equal(await page.locator('#conversation a[href^="javascript"]').count(), 0);
    assert.ok(!["1", "2"].includes(await page.title()));
  },

  async "a narrow screen has everything"({ browser, address }) {
    const page = await browser.newPage({ viewport: { width: 380, height: 720 } });
    await page.goto(address);
    await online(page);
    await send(page, "/plan");
    await idle(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    assert.equal(await page.locator("#panel").isVisible(), false);
    await page.click("#side");
    await page.locator("#plan li").first().waitFor();
    await page.screenshot({ path: join(shots, "narrow.png") });
  },

  async "an agent that cannot be started is said"({ browser }) {
    const other = await start(["/nonexistent/agent"]);
    const page = await browser.newPage();
    await page.goto(other.address);
    await page.locator("#state", { hasText: "cannot start" }).waitFor();
  },
};

const counts = { passed: 0, failed: 0 };
const PATIENCE = 180_000;
/** A test that takes longer than that, in milliseconds, is named. */
const LONG = 30_000;
const named = new RegExp(process.argv[2] ?? "");

/** What a promise gives, unless it takes too long: one test that stands still keeps nobody from the results of the others. */
function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: no end within ${PATIENCE} ms`)), PATIENCE)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs tests, each with a browser of its own if there is one, and what `setUp` adds. All that it has opened or started
    is gone before the next one begins. */
async function run(tests, chromium, setUp = async () => {}) {
  for (const [name, test] of Object.entries(tests).filter(([name]) => named.test(name))) {
    const given = chromium ? { browser: lent(chromium) } : {};
    const begun = performance.now();
    try {
      await within(setUp(given), "before the test");
      await within(test(given), "the test");
      given.check?.();
      counts.passed += 1;
    } catch (error) {
      counts.failed += 1;
      console.error(`failed: ${name}: ${error.stack}`);
      for (const [index, page] of (given.browser?.pages ?? []).entries()) await left(page, `failed-${counts.failed}-${index}.png`);
    } finally {
      await within(given.browser?.close(), "its pages").catch((error) => console.error(`${name}: ${error.message}`));
      killAll();
      const took = performance.now() - begun;
      if (took > LONG) console.log(`note: ${name} took ${Math.round(took / 1000)} s`);
    }
  }
}

/** What a failed test has left on a page. */
async function left(page, name) {
  page.setDefaultTimeout(1000);
  await page.screenshot({ path: join(shots, name) }).catch(() => {});
  const read = async (part) => `${part}: ${JSON.stringify(await page.locator(part).innerText().catch(() => "not there"))}`;
  console.error(`  on the page: ${(await Promise.all(["#state", "#alerts", "#outcome"].map(read))).join("; ")}; the field has ${JSON.stringify(await page.inputValue("#prompt").catch(() => ""))}`);
}

/** The browser as one test has it: pages of its own, which are closed after it. */
function lent(browser) {
  const pages = [];
  const newPage = async (options) => {
    const page = await browser.newPage(options);
    pages.push(page);
    return page;
  };
  const of = (name) => (...given) => browser[name](...given);
  return { pages, newPage, newContext: of("newContext"), startTracing: of("startTracing"), stopTracing: of("stopTracing"), close: () => Promise.all(pages.map((page) => page.close())) };
}

/** A conversation that has just begun, with an agent of its own. */
async function conversation(given) {
  const served = await start();
  const page = await given.browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light" });
  page.setDefaultTimeout(60_000);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  const check = () => assert.deepEqual(complaints.splice(0), []);
  const { address } = served;
  Object.assign(given, { page, address, check });
  await page.goto(address);
  await online(page).catch(async (error) => {
    const state = await page.locator("#state").innerText();
    throw new Error(`${error.message}\nthe page says: ${[state, ...complaints].join("; ")}\nthe bridge says: ${served.said}`);
  });
}

mkdirSync(shots, { recursive: true });
await run({ ...lockTests, ...bridgeTests, ...printingTests });
const chromium = await launch();
if (chromium !== undefined) {
  await run(tests, chromium, conversation);
  await run({ ...transportTests, ...featureTests, ...elicitationTests, ...accessTests, ...hostileTests, ...measureTests }, chromium);
  await run(permissionTests, chromium);
  await run(startTests, chromium);
  await chromium.close();
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);
