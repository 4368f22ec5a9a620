// What the agent asks for beside consent, and what the user stops: forms, pages, a question before there is a session, single
// tool calls.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { answerByClick, answerByKey, idle, online, send } from "./person.mjs";
import { able, pause, start, until } from "./served.mjs";

const VERSIONS = [1, 2];

async function opened(browser, version, ...flags) {
  const { address } = await start(able(...(version === 2 ? ["--version-2"] : []), ...flags));
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  page.setDefaultTimeout(30_000);
  await page.goto(address);
  return page;
}

const last = (page) => page.locator("article.agent").last();
const question = (page) => page.locator(".question");
const press = (page, name) => question(page).getByRole("button", { name, exact: true });
/** The answer that the agent has got to a form. */
const told = async (page, before) => {
  await until("the agent has said what it got", async () => (await page.locator("article.agent code").count()) > before);
  return JSON.parse(await page.locator("article.agent code").last().innerText());
};
const answers = (page) => page.locator("article.agent code").count();

/** Presses a button until something has come of it: it works only once it has been in sight for a second. */
const pressed = async (what, button, is) => {
  await until(what, async () => {
    await button.click({ timeout: 5000 }).catch(() => {});
    return is();
  });
};

/** A server that counts its visitors, as a page that the user is sent to. */
async function visited() {
  const seen = [];
  const server = createServer(({ url, headers }, response) => {
    // A browser asks for an icon by itself.
    if (url === "/order") seen.push(headers);
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>there</title>");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, seen, url: `http://127.0.0.1:${server.address().port}/order` };
}

export const elicitationTests = {};

for (const version of VERSIONS) {
  elicitationTests[`a form is filled in, corrected and sent, in version ${version}`] = async ({ browser }) => {
    const page = await opened(browser, version);
    await online(page);
    await send(page, "/form");
    await question(page).getByText("What shall it be?").waitFor();
    const field = (name) => question(page).getByLabel(name);
    assert.equal(await field("Size").inputValue(), "s");
    assert.equal(await field("Count").inputValue(), "2");
    assert.equal(await field("As a gift").isChecked(), true);
    assert.equal(await field("Code").getAttribute("pattern"), null, "a pattern of the agent's is never run");
    await field("Name").fill("A");
    await field("Mail").fill("nowhere");
    await field("Count").fill("12");
    await field("Anchovies").check();
    await field("Basil").check();
    // Nothing is sent as long as something is wrong, and each field says what.
    const wrong = () => question(page).locator(".problem:not(:empty)").count();
    await pressed("it says what is wrong", press(page, "Send"), async () => (await wrong()) === 5);
    assert.equal(await field("Name").evaluate((it) => it === document.activeElement), true);
    assert.match(await question(page).locator(".value", { hasText: "Colour" }).innerText(), /this is required/);
    assert.equal(await field("Name").getAttribute("aria-invalid"), "true");
    await field("Name").fill("Ann");
    await field("Mail").fill("ann@example.com");
    await field("Colour").selectOption("green");
    await field("Size").selectOption("Large");
    await field("Count").fill("3");
    await field("Weight").fill("1.5");
    await field("Day").fill("2026-01-31");
    await field("As a gift").uncheck();
    await field("Basil").uncheck();
    const before = await answers(page);
    await answerByClick(press(page, "Send"));
    const content = { name: "Ann", mail: "ann@example.com", size: "l", colour: "green", count: 3, weight: 1.5, day: "2026-01-31", gift: false, extras: ["a"] };
    assert.deepEqual(await told(page, before), { action: "accept", content });
    await idle(page);
  };

  elicitationTests[`a form is declined, put off, and given up with its turn, in version ${version}`] = async ({ browser }) => {
    const page = await opened(browser, version);
    await online(page);
    await send(page, "/form");
    await answerByClick(press(page, "Decline"));
    assert.deepEqual(await told(page, 0), { action: "decline" });
    await idle(page);
    await send(page, "/form");
    // By key: the third button.
    await page.keyboard.press("Alt+a");
    await answerByKey(page, question(page).getByRole("button"), "3");
    assert.deepEqual(await told(page, 1), { action: "cancel" });
    await idle(page);
    // What was written stays while another session is on display; a turn that is stopped takes its question along.
    await send(page, "/form");
    await question(page).getByLabel("Name").fill("Still here");
    await page.click("#fresh");
    await page.locator("#welcome").waitFor();
    assert.equal(await question(page).count(), 0);
    await page.locator("#sessions li", { hasText: "asks you" }).locator(".row").click();
    assert.equal(await question(page).getByLabel("Name").inputValue(), "Still here");
    await page.click("#cancel");
    await idle(page);
    assert.equal(await question(page).count(), 0);
  };

  elicitationTests[`the user is sent to a page, and the agent says when that is done, in version ${version}`] = async ({ browser }) => {
    const { server, seen, url } = await visited();
    try {
      const page = await opened(browser, version);
      await online(page);
      await send(page, `/page ${url} 8000`);
      await question(page).getByText("Please look").waitFor();
      assert.equal(await question(page).locator(".address").innerText(), url);
      assert.equal(seen.length, 0, "nothing is loaded before the user agrees");
      const other = page.context().waitForEvent("page");
      await answerByClick(press(page, "Open this page"));
      const there = await other;
      await there.waitForLoadState();
      assert.equal(there.url(), url);
      assert.equal(await there.evaluate(() => globalThis.opener), null);
      assert.equal(seen[0].referer, undefined);
      await last(page).getByText("page: accept").waitFor();
      await page.locator(".opened", { hasText: "The agent waits" }).waitFor();
      await page.locator(".opened").waitFor({ state: "detached" });
      await there.close();
      await idle(page);
      await send(page, `/page ${url}`);
      await answerByClick(press(page, "Decline"));
      await last(page).getByText("page: decline").waitFor();
      assert.equal(seen.length, 1);
    } finally {
      server.close();
    }
  };

  elicitationTests[`what is no page over HTTPS is not opened, in version ${version}`] = async ({ browser }) => {
    const page = await opened(browser, version);
    await online(page);
    for (const url of ["http://example.com/", "javascript:alert(1)", "https://user:secret@example.com/", "file:///etc/passwd"]) {
      await send(page, `/page ${url}`);
      await question(page).getByText("is not opened").waitFor();
      assert.equal(await press(page, "Open this page").count(), 0);
      await answerByClick(press(page, "Decline"));
      await idle(page);
    }
    assert.equal(page.context().pages().length, 1);
  };

  elicitationTests[`a login asks for what it needs before there is a session, in version ${version}`] = async ({ browser }) => {
    const page = await opened(browser, version, "--login", "--code");
    await page.locator("#login button").click();
    await question(page).getByText("Which code").waitFor();
    await question(page).getByLabel("Code").fill("1234");
    await answerByClick(press(page, "Send"));
    await online(page);
    await send(page, "In");
    await last(page).getByText("You said: In").waitFor();
  };
}

elicitationTests["one of two tool calls is stopped, in version 2"] = async ({ browser }) => {
  const page = await opened(browser, 2);
  await online(page);
  await send(page, "/slow");
  const card = (name) => page.locator(".card", { hasText: `Call ${name}` });
  const stop = (name) => card(name).getByRole("button", { name: "Stop this call" });
  await stop("two").waitFor();
  await stop("one").click();
  await last(page).getByText("one was stopped").waitFor();
  await until("it shows that", async () => (await card("one").locator(".tool").getAttribute("data-status")) === "cancelled");
  assert.equal(await stop("one").isVisible(), false);
  await pause(300);
  assert.equal(await card("two").locator(".tool").getAttribute("data-status"), "in_progress");
  await stop("two").click();
  await last(page).getByText("two was stopped").waitFor();
  await idle(page);
};
