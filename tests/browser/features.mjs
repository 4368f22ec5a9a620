// What the page can beside a chat: sessions, login, options, pictures, files, terminals, the wire log, themes. The agent is
// one that can all of it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerByClick, idle, online, send } from "./person.mjs";
import { able, pause, root, start, store, until } from "./served.mjs";

/** A picture of one point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What the agent is told for the version that a test is about. */
const speaks = ({ version }) => (version === 2 ? ["--version-2"] : []);

/** A page with the agent that can all; `options` are the bridge's. */
async function opened(browser, { options = [], ...more } = {}) {
  const agent = able(...speaks(browser));
  const served = await start(agent, undefined, options);
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme: "light", ...more });
  page.setDefaultTimeout(30_000);
  await page.goto(served.address);
  await online(page);
  return { ...served, page, kept: agent[2] };
}

const rows = (page) => page.locator("#sessions .row");
const row = (page, name) => page.locator("#sessions li", { hasText: name });
const last = (page) => page.locator("article.agent").last();
const fresh = async (page) => {
  await page.click("#fresh");
  await page.locator("#welcome").waitFor();
};

/** Gives files to the page as pasting and dropping do. */
const give = (page, type, files) =>
  page.evaluate(
    async ([type, files]) => {
      const data = new DataTransfer();
      for (const { name, mimeType, base64 } of files) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        data.items.add(new File([bytes], name, { type: mimeType }));
      }
      const event = type === "paste" ? new ClipboardEvent(type, { clipboardData: data, bubbles: true }) : new DragEvent(type, { dataTransfer: data, bubbles: true });
      document.getElementById("prompt").dispatchEvent(event);
    },
    [type, files],
  );

export const featureTests = {
  async "sessions are listed, loaded, resumed, closed and deleted"({ browser }) {
    const { page, kept } = await opened(browser);
    await send(page, "First talk");
    await last(page).getByText("You said: First talk").waitFor();
    await fresh(page);
    await send(page, "Second talk");
    await last(page).getByText("You said: Second talk").waitFor();
    assert.equal(await page.locator("#title").innerText(), "Second talk");
    await row(page, "Second talk").and(page.locator(".current")).waitFor();
    // One that is open is shown as it was left.
    await row(page, "First talk").locator(".row").click();
    await last(page).getByText("You said: First talk").waitFor();
    assert.equal(await page.title(), "First talk");
    await row(page, "First talk").getByRole("button", { name: "Close" }).click();
    await last(page).getByText("You said: Second talk").waitFor();
    assert.equal(await row(page, "First talk").getByRole("button", { name: "Close" }).count(), 0);
    // Without its history, which only this page knew, and then with it.
    await page.reload();
    await last(page).getByText("You said: Second talk").waitFor();
    await row(page, "First talk").hover();
    await row(page, "First talk").getByRole("button", { name: "Resume" }).click();
    await page.waitForFunction(() => document.getElementById("title").innerText !== "Second talk");
    assert.equal(await page.locator("article").count(), 0);
    await page.locator("#sessions .current").getByRole("button", { name: "Close" }).click();
    await row(page, "First talk").locator(".row").click();
    await last(page).getByText("You said: First talk").waitFor();
    assert.equal(await page.locator("article").count(), 2);
    // Deleted with a second click only, which the other half of a double click is not.
    await row(page, "Second talk").getByRole("button", { name: "Delete" }).dblclick();
    await pause(300);
    assert.equal(await row(page, "Second talk").count(), 1);
    await row(page, "Second talk").getByRole("button", { name: "Really delete" }).waitFor({ state: "detached" });
    const before = readdirSync(kept).length;
    await row(page, "Second talk").hover();
    await row(page, "Second talk").getByRole("button", { name: "Delete" }).click();
    await pause(200);
    assert.equal(readdirSync(kept).length, before);
    await row(page, "Second talk").getByRole("button", { name: "Really delete" }).click();
    await until("it is gone", async () => (await row(page, "Second talk").count()) === 0);
    assert.equal(readdirSync(kept).length, before - 1);
    await page.reload();
    await last(page).getByText("You said: First talk").waitFor();
    // The list comes behind the session.
    await until("one is left", async () => (await rows(page).count()) === 1);
  },

  async "a session goes on while another is on display"({ browser }) {
    const { page } = await opened(browser);
    await send(page, "/plan 2000");
    await page.locator("#plan li").first().waitFor();
    await fresh(page);
    assert.equal(await page.locator("#plan li").count(), 0);
    await row(page, "/plan").getByText("running").waitFor();
    await row(page, "/plan").getByText("open").waitFor();
    await row(page, "/plan").locator(".row").click();
    await page.locator("#plan li[data-status=completed]").nth(2).waitFor();
  },

  async "an agent that wants a login gets one, and a logout"({ browser }) {
    const served = await start(able("--login", ...speaks(browser)));
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    await page.goto(served.address);
    await page.locator("#login").getByText("There is only one").waitFor();
    assert.equal(await page.locator("#send").isDisabled(), true);
    await page.locator("#login").getByRole("button", { name: "Use the key" }).click();
    await online(page);
    await page.locator("#login").waitFor({ state: "hidden" });
    await send(page, "In");
    await last(page).getByText("You said: In").waitFor();
    await page.locator("#account").getByRole("button", { name: "Log out" }).click();
    await page.locator("#account").getByText("logged out").waitFor();
    await page.click("#fresh");
    await page.locator("#alerts", { hasText: "Log in first" }).waitFor();
    await page.locator("#account").getByRole("button", { name: "Use the key" }).click();
    await page.locator("#account").getByText("logged in").waitFor();
    await fresh(page);
  },

  async "modes, options and switches are set, and kept by the agent"({ browser }) {
    const { page, kept } = await opened(browser);
    await page.selectOption("select[name=mode]", "auto");
    await page.selectOption("select[name=model]", "large");
    await page.check("input[name=web]");
    await send(page, "Now");
    await last(page).getByText("You said: Now").waitFor();
    const [file] = readdirSync(kept);
    const { mode, model, web } = JSON.parse(readFileSync(join(kept, file), "utf8"));
    assert.deepEqual([mode, model, web], ["auto", "large", true]);
    await page.reload();
    await online(page);
    assert.deepEqual(await page.locator("#settings select").evaluateAll((all) => all.map(({ value }) => value)), ["auto", "large"]);
    assert.equal(await page.isChecked("input[name=web]"), true);
  },

  async "pictures are pasted, dropped, chosen, and sent where the agent takes them"({ browser }) {
    const { page } = await opened(browser);
    const picture = (name) => ({ name, mimeType: "image/png", base64: PNG });
    await give(page, "paste", [picture("pasted.png")]);
    await give(page, "drop", [picture("dropped.png"), { name: "notes.txt", mimeType: "text/plain", base64: "YQ==" }]);
    await page.locator("#alerts", { hasText: "notes.txt: only pictures" }).waitFor();
    await page.setInputFiles("#pictures", { name: "chosen.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
    await page.locator("#attached li").nth(2).waitFor();
    await page.getByRole("button", { name: "Remove dropped.png" }).click();
    assert.equal(await page.locator("#attached img").count(), 2);
    await send(page, "Look");
    await page.getByText("2 pictures: image/png, image/png").waitFor();
    assert.equal(await page.locator("#attached img").count(), 0);
    assert.equal(await page.locator("article.user img").count(), 2);
    const sizes = await page.locator("article.agent img").evaluateAll((all) => all.map(({ naturalWidth }) => naturalWidth));
    assert.deepEqual(sizes, [1, 1]);
    const other = await browser.newPage();
    await other.goto((await start()).address);
    await online(other);
    assert.equal(await other.locator("#attach").isVisible(), false);
    await give(other, "paste", [picture("pasted.png")]);
    await other.locator("#alerts", { hasText: "takes no pictures" }).waitFor();
  },

  async "files are written only with consent, and only inside of the root"({ browser }) {
    const folder = mkdtempSync(join(store, "root-"));
    writeFileSync(join(folder, "notes.txt"), "first\n");
    const { page } = await opened(browser, { options: ["--root", folder] });
    await send(page, "/file");
    const question = page.locator(".question", { hasText: "notes.txt" });
    await question.locator(".diff .added", { hasText: "one more line" }).waitFor();
    assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "first\n");
    await answerByClick(question.getByRole("button", { name: "Refuse" }));
    await last(page).getByText("not written: ").waitFor();
    assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "first\n");
    await send(page, "/file");
    await answerByClick(question.getByRole("button", { name: "Write" }));
    await last(page).getByText("written, after 6 characters").waitFor();
    assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "first\none more line\n");
    // Nobody is asked about what cannot be done, or about a file whose content cannot be shown.
    await send(page, "/file ../outside.txt");
    await last(page).getByText("outside of the session's roots").waitFor();
    await idle(page);
    writeFileSync(join(folder, "picture.bin"), Uint8Array.of(0xff, 0xfe));
    await send(page, "/file picture.bin");
    await until("it is not written", async () => (await page.locator("article.agent", { hasText: "not written: " }).count()) === 3);
    await idle(page);
    assert.deepEqual([...readFileSync(join(folder, "picture.bin"))], [0xff, 0xfe]);
    assert.equal(await page.locator(".question").count(), 0);
    rmSync(join(folder, "picture.bin"));
    // A turn that is stopped takes its question along.
    await send(page, "/file other.txt");
    await page.locator(".question").waitFor();
    await page.click("#cancel");
    await idle(page);
    assert.equal(await page.locator(".question").count(), 0);
    assert.deepEqual(readdirSync(folder), ["notes.txt"]);
  },

  async "commands run only with consent, and end with the page"({ browser }) {
    const folder = mkdtempSync(join(store, "root-"));
    const { page } = await opened(browser, { options: ["--root", folder] });
    await send(page, "/run echo no > refused");
    const question = page.locator(".question", { hasText: "Run this command?" });
    assert.match(await question.locator("pre").innerText(), /^sh -c 'echo no > refused'$/);
    await answerByClick(question.getByRole("button", { name: "Refuse" }));
    await last(page).getByText("not run: ").waitFor();
    // What is agreed to is shown to its end.
    await send(page, `/run echo ${"#".repeat(25_000)} the end`);
    assert.match((await question.locator("pre").innerText()).slice(-20), /the end'$/);
    await page.click("#cancel");
    await idle(page);
    await send(page, "/run pwd; echo é; echo wrong >&2; exit 3");
    await answerByClick(question.getByRole("button", { name: "Run" }));
    await last(page).getByText("ended with 3").waitFor();
    const terminal = page.locator(".terminal").last();
    await terminal.getByText("exit 3", { exact: true }).waitFor();
    const printed = await terminal.locator("pre").innerText();
    for (const line of [folder, "é", "wrong"]) assert.ok(printed.includes(line), printed);
    await send(page, "/run echo $$ > id; sleep 600");
    await answerByClick(question.getByRole("button", { name: "Run" }));
    const said = () => (readdirSync(folder).includes("id") ? readFileSync(join(folder, "id"), "utf8") : "");
    await until("it runs", () => said().endsWith("\n"));
    const id = Number(said());
    assert.ok(readFileSync(`/proc/${id}/stat`));
    await page.close();
    await until("it has ended", () => {
      try {
        return / [ZX] /.test(readFileSync(`/proc/${id}/stat`, "latin1"));
      } catch {
        return true;
      }
    });
    assert.deepEqual(readdirSync(folder), ["id"]);
  },

  async "without a root there are no files and no commands"({ browser }) {
    const { page } = await opened(browser);
    await send(page, "/file");
    await last(page).getByText("not written: ").waitFor();
    await send(page, "/run true");
    await last(page).getByText("not run: ").waitFor();
    assert.equal(await page.locator(".question").count(), 0);
  },

  async "the wire log has messages, rules, and what was not possible"({ browser }) {
    const { page } = await opened(browser);
    await page.click("#tab-wire");
    const message = (name) => page.locator("#wire .message", { hasText: name });
    await message("initialize").first().locator("summary").click();
    await message("initialize").first().locator(".inside", { hasText: "libacp-web" }).waitFor();
    const answer = message("answer to session/new").first();
    await answer.locator("summary").first().click();
    await answer.locator(".why-not summary").click();
    assert.match(await answer.locator(".why-not li", { hasText: "session/fork" }).innerText(), /session\/fork [A-Z]+-\d+ /);
    await send(page, "/wrong");
    await last(page).getByText("that was wrong").waitFor();
    const wrong = page.locator("#wire .message", { has: page.locator(".rule") });
    await wrong.locator("summary").first().click();
    assert.match(await wrong.locator(".broken").innerText(), /SESS-\d+ \(delivered\) /);
    assert.equal(await page.locator("#count").innerText(), "1");
    await page.fill("#filter", "session/prompt");
    await until("two are left", async () => (await page.locator("#wire .message").count()) === 2);
    await page.fill("#filter", "");
    await page.click("#empty");
    assert.equal(await page.locator("#wire .message").count(), 0);
  },

  async "the theme is light, dark or the system's, and stays"({ browser }) {
    const context = await browser.newContext({ colorScheme: "dark" });
    const page = await context.newPage();
    const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor === "rgb(21, 23, 27)");
    await page.goto((await start(able())).address);
    await online(page);
    const theme = (name) => page.getByRole("button", { name: `Theme: ${name}` });
    assert.equal(await dark(), true);
    await theme("system").click();
    assert.equal(await dark(), false);
    await page.reload();
    assert.equal(await dark(), false);
    await theme("light").click();
    await page.emulateMedia({ colorScheme: "light" });
    assert.equal(await dark(), true);
    // Another bridge has another port, and is the same page to its user.
    await page.goto((await start(able())).address);
    assert.equal(await dark(), true);
    await theme("dark").click();
    assert.equal(await dark(), false);
    await context.close();
  },

  async "an agent's failure, what it asks beside a diff, and how work has ended are shown"({ browser }) {
    const { page } = await opened(browser);
    await send(page, "/fail");
    await page.locator("#outcome.error", { hasText: "The model is away" }).waitFor();
    await send(page, "/ask");
    const card = page.locator(".card", { hasText: "Change main.rs" });
    await card.locator(".diff .removed").waitFor();
    await answerByClick(card.getByRole("button", { name: "Allow" }));
    await last(page).getByText("granted").waitFor();
    assert.equal(await page.locator("#outcome").textContent(), "");
    await page.screenshot({ path: join(root, "target/test-artefacts/web/features.png") });
  },
};

/** Those that version 2 has as well: there, clients serve no files and no commands. */
const BOTH = ["sessions are", "a session goes", "an agent that wants", "modes, options", "pictures", "an agent's failure"];
for (const [name, test] of Object.entries(featureTests)) {
  if (!BOTH.some((begin) => name.startsWith(begin))) continue;
  featureTests[`${name}, in version 2`] = async (given) => {
    given.browser.version = 2;
    await test(given);
  };
}
