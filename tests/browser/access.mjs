// The page for everybody: axe finds nothing in either theme, on a wide screen and on a phone; one conversation by keyboard alone.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { answerByClick, answerByKey, idle, online, send } from "./person.mjs";
import { able, pause, root, start, store } from "./served.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const shots = join(root, "target/test-artefacts/web");

async function opened(browser, options, ...flags) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...options });
  page.setDefaultTimeout(30_000);
  const { address } = await start(able(...flags), undefined, ["--root", mkdtempSync(join(store, "root-"))]);
  await page.goto(address);
  return page;
}

/** What axe finds wrong. */
async function wrong(page, where) {
  // What is being faded or moved has no colour of its own.
  await pause(300);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html.slice(0, 200)}: ${failureSummary}`));
  assert.deepEqual(found, []);
}

/** All that can be on the page at once. */
async function full(page, name) {
  const isOpen = async (side) => (await page.getAttribute(side, "aria-expanded")) === "true";
  await online(page);
  await wrong(page, "the beginning");
  await send(page, "/everything");
  await page.locator(".permission button").first().waitFor();
  await wrong(page, "a question");
  await page.screenshot({ path: join(shots, `${name}-question.png`) });
  await answerByClick(page.getByRole("button", { name: "Allow" }));
  await idle(page);
  await page.locator("details.thought summary").first().click();
  await send(page, "/ask");
  await answerByClick(page.getByRole("button", { name: "Allow" }));
  await idle(page);
  await wrong(page, "two calls");
  await page.focus("#prompt");
  await page.keyboard.type("/");
  await page.locator("#commands li").first().waitFor();
  await wrong(page, "the commands");
  // The one that is chosen is in sight.
  await page.keyboard.press("ArrowUp");
  await page.locator("#commands [aria-selected=true]").waitFor();
  const [list, chosen] = await Promise.all(["#commands", "#commands [aria-selected=true]"].map((it) => page.locator(it).boundingBox()));
  assert.ok(chosen.y + chosen.height <= list.y + list.height + 1, "the chosen command is in sight");
  await page.fill("#prompt", "");
  await send(page, "/file");
  await page.locator(".question").waitFor();
  await wrong(page, "a file");
  await page.click("#cancel");
  await idle(page);
  await send(page, "/form");
  await page.locator(".question .form").waitFor();
  await wrong(page, "a form");
  await page.screenshot({ path: join(shots, `${name}-form.png`) });
  await page.click("#cancel");
  await idle(page);
  await send(page, "/page https://example.com/order");
  await page.locator(".question .address").waitFor();
  await wrong(page, "a page");
  await page.click("#cancel");
  await idle(page);
  await send(page, "/wrong");
  await idle(page);
  if (!(await isOpen("#side"))) await page.click("#side");
  await wrong(page, "the panel");
  await page.click("#tab-wire");
  await page.locator("#wire .message summary").last().click();
  await wrong(page, "the wire");
  await page.screenshot({ path: join(shots, `${name}-wire.png`) });
  await page.click("#tab-session");
  if (!(await isOpen("#list"))) await page.click("#list");
  await wrong(page, "the sessions");
  await page.screenshot({ path: join(shots, `${name}-sessions.png`) });
}

export const accessTests = {};

for (const colorScheme of ["light", "dark"]) {
  accessTests[`axe finds nothing in the ${colorScheme} theme`] = async ({ browser }) => {
    const page = await opened(browser, { colorScheme });
    await full(page, colorScheme);
  };
  accessTests[`axe finds nothing on a phone in the ${colorScheme} theme`] = async ({ browser }) => {
    const page = await opened(browser, { colorScheme, ...PHONE });
    await full(page, `phone-${colorScheme}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  };
}

Object.assign(accessTests, {
  async "axe finds nothing in the login"({ browser }) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await opened(browser, { colorScheme }, "--login");
      await page.locator("#login button").waitFor();
      await wrong(page, colorScheme);
    }
  },

  async "all works by keyboard alone"({ browser }) {
    const page = await opened(browser, {}, "--login");
    const { keyboard } = page;
    const focused = () => page.evaluate(() => document.activeElement.ariaLabel || document.activeElement.innerText || document.activeElement.id);
    /** Tabs until something has the focus. */
    const reach = async (name, key = "Tab") => {
      for (let press = 0; press < 60; press += 1) {
        if ((await focused()).includes(name)) return;
        await keyboard.press(key);
      }
      assert.fail(`${name} cannot be reached; ${await focused()} has the focus`);
    };
    await page.locator("#login button").waitFor();
    await reach("Use the key");
    await keyboard.press("Enter");
    await online(page);
    await reach("Message");
    await keyboard.type("Hello");
    await keyboard.press("Enter");
    await page.getByText("You said: Hello").waitFor();
    await idle(page);
    // A command from the list, and a question that it brings.
    await keyboard.type("/as");
    await page.locator("#commands li").waitFor();
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.locator(".permission button").first().waitFor();
    await keyboard.press("Alt+a");
    assert.equal(await focused(), "Reject");
    await answerByKey(page, page.locator(".permission button"), "1");
    await page.getByText("granted").waitFor();
    await idle(page);
    // An option, the theme, the wire, another session, and back.
    await reach("Model");
    await keyboard.press("ArrowDown");
    await reach("Theme", "Shift+Tab");
    await keyboard.press("Enter");
    assert.equal(await page.getAttribute("html", "data-theme"), "light");
    await reach("Session");
    await reach("Wire", "ArrowRight");
    await page.locator("#wire .message").first().waitFor();
    await reach("initialize");
    await keyboard.press("Enter");
    await page.locator("#wire .inside").waitFor();
    await keyboard.press("Alt+n");
    await page.locator("#welcome").waitFor();
    // Its row, and not the buttons beside it.
    await reach("Hello\n", "Shift+Tab");
    await keyboard.press("Enter");
    await page.getByText("granted").waitFor();
    // A turn is stopped.
    await reach("Message");
    await keyboard.type("/plan 3000");
    await keyboard.press("Enter");
    await page.locator("#cancel:visible").waitFor();
    await keyboard.press("Escape");
    await page.locator("#outcome", { hasText: "cancelled" }).waitFor();
  },

  async "a phone has everything"({ browser }) {
    const page = await opened(browser, PHONE);
    await online(page);
    await page.fill("#prompt", "/plan 2000");
    await page.tap("#send");
    await page.locator("#brief", { hasText: "Plan 1/3" }).waitFor();
    await page.tap("#brief");
    await page.locator("#plan li").first().waitFor();
    await page.tap("#side");
    await idle(page);
    await page.tap("#list");
    await page.tap("#fresh");
    await page.locator("#welcome").waitFor();
    assert.equal(await page.locator("#drawer").isVisible(), false);
    await page.tap("#list");
    await page.locator("#sessions .row", { hasText: "/plan" }).tap();
    await page.locator("article.user").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  },
});
