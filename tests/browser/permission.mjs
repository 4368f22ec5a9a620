// Permission in the page: whoever does something else than answer grants nothing, and each request is answered once.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerByClick, answerByKey, clocked, inTime, mustBeEarly, mustFollow, pressUntil } from "./person.mjs";
import { pause, register, runs, start, store, until } from "./served.mjs";

const AGENT = fileURLToPath(new URL("asking-agent.mjs", import.meta.url));
const RUNS = Number(process.env.LIBACP_TYPING_RUNS ?? 100);
/** Pages at a time. */
const ABREAST = 5;
const KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"];
const WORDS = ["please", "do", "not", "1", "touch", "2", "my", "files,", "3", "I", "am", "4", "afraid.", "allow", "yes", "y", "5"];

const option = (kind, name = kind.replace("_", " ")) => ({ optionId: kind, name, kind });
const OPTIONS = ["allow_always", "allow_once", "reject_once"].map((kind) => option(kind));
const about = (toolCallId, title = `Call ${toolCallId}`, options = OPTIONS) => ({ toolCall: { toolCallId, title }, options });

let files = 0;

/** A bridge with the agent that asks, and pages of it. Each page's agent writes into one file. */
async function asking(browser) {
  const file = join(store, `answers-${files++}`);
  const served = await start([process.execPath, AGENT, file]);
  const lines = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  const answers = () => lines().filter(Boolean).map((line) => JSON.parse(line));
  const open = async () => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
    page.setDefaultTimeout(30_000);
    await clocked(page);
    await page.goto(served.address);
    await page.locator("#state[data-state=online]").waitFor();
    return page;
  };
  return { ...served, answers, open };
}

/** Tells the agent what to do, and leaves the focus where a click leaves it. */
async function tell(page, steps) {
  await page.fill("#prompt", JSON.stringify(steps));
  await page.click("#send");
}

/** Numbers from a seed, as in mulberry32. */
function numbers(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end) => Math.floor(next() * end);
  return { below, from: (list) => list[below(list.length)] };
}

/** One person who types while requests come. */
async function types(page, random) {
  const steps = Array.from({ length: 1 + random.below(4) }, () => {
    const options = [...KINDS].sort(() => random.below(3) - 1).slice(0, 2 + random.below(3)).map((kind) => option(kind));
    return { at: random.below(2500), ask: about(random.from(["a", "b"]), "Delete all", options) };
  });
  if (random.below(2)) steps.push({ at: random.below(2500), update: { sessionUpdate: "tool_call", toolCallId: "a", title: "Read" } });
  await tell(page, steps);
  await page.click("#prompt");
  const began = performance.now();
  let typed = "";
  while (performance.now() - began < 3000) {
    const keys = random.below(8) === 0 ? ["Enter"] : [...`${random.from(WORDS)} `];
    for (const key of keys) {
      await page.keyboard.press(key === " " ? "Space" : key);
      // Enter sends nothing while a turn is on.
      if (key !== "Enter") typed += key;
      await pause(random.below(60));
    }
  }
  assert.equal(await page.inputValue("#prompt"), typed, "letters went elsewhere");
  await page.click("#cancel");
  await page.locator("#send:visible").waitFor();
}

export const permissionTests = {
  async "a person who types while permission requests arrive grants nothing, in 100 random runs"({ browser }) {
    const seed = Number(process.env.LIBACP_SEED ?? Date.now() % 2 ** 31);
    console.log(`note: typing: ${RUNS} runs, LIBACP_SEED=${seed}`);
    const { bridge, answers, open } = await asking(browser);
    let run = 0;
    const person = async () => {
      const page = await open();
      while (run < RUNS) {
        const mine = seed + run++;
        await types(page, numbers(mine)).catch((error) => {
          throw new Error(`LIBACP_SEED=${mine} LIBACP_TYPING_RUNS=1: ${error.message}`);
        });
        const granted = answers().filter(({ outcome }) => outcome !== "cancelled");
        assert.deepEqual(granted, [], `at LIBACP_SEED=${mine}, or one shortly before`);
      }
      await page.close();
    };
    await Promise.all(Array.from({ length: Math.min(ABREAST, RUNS) }, person));
    assert.ok(answers().length >= RUNS, "requests came");
    bridge.kill();
  },

  async "a click in the first second does nothing, and one after it does"({ browser }) {
    await inTime(async () => {
      const { bridge, answers, open } = await asking(browser);
      const page = await open();
      await tell(page, [{ at: 0, ask: about("a") }]);
      const allow = page.getByRole("button", { name: "allow always" });
      await allow.waitFor();
      const { x, y } = await allow.boundingBox();
      for (let click = 0; click < 5; click += 1) await page.mouse.click(x + 5, y + 5);
      // A press that begins too early counts as early, however long it lasts.
      await page.mouse.down();
      await page.locator(".permission button[aria-disabled=false]").first().waitFor();
      await page.mouse.up();
      await mustBeEarly(page, 6);
      await pause(300);
      assert.deepEqual(answers(), []);
      await answerByClick(allow);
      await until("it is answered", () => answers().length === 1);
      assert.equal(answers()[0].optionId, "allow_always");
      await page.close();
      bridge.kill();
    });
  },

  async "what refuses has the focus, and keys count after a second without typing"({ browser }) {
    await inTime(async () => {
      const { bridge, answers, open } = await asking(browser);
      const page = await open();
      await tell(page, [{ at: 0, ask: about("a") }]);
      const refuse = page.getByRole("button", { name: "reject once" });
      await refuse.waitFor();
      assert.equal(await refuse.evaluate((button) => button === document.activeElement), true);
      for (const key of ["1", "Space", "2"]) await page.keyboard.press(key);
      await mustBeEarly(page, 3);
      await pause(1200);
      // Somebody who types, though nowhere: the second key comes too soon after the first.
      for (const key of ["x", "1", "Enter", "Space"]) await page.keyboard.press(key);
      await mustFollow(page, 3);
      await pause(300);
      assert.deepEqual(answers(), []);
      await answerByKey(page, page.locator(".permission button"), "2");
      await until("it is answered", () => answers().length === 1);
      assert.equal(answers()[0].optionId, "allow_once");
      await page.close();
      bridge.kill();
    });
  },

  async "two requests for one tool call are shown one after the other, and each is answered once"({ browser }) {
    const { bridge, answers, open } = await asking(browser);
    const page = await open();
    const turned = [...OPTIONS].reverse();
    await tell(page, [{ at: 0, ask: about("a", "Read it") }, { at: 300, ask: about("a", "Delete it", turned) }]);
    const buttons = page.locator(".permission button");
    const title = () => page.locator(".asked").innerText();
    await page.getByRole("button", { name: "allow always" }).waitFor();
    await pause(1600);
    assert.deepEqual(await buttons.allInnerTexts(), ["allow always", "allow once", "reject once"]);
    assert.equal(await title(), "Read it");
    const allow = page.getByRole("button", { name: "allow once" });
    await pressUntil("the second is shown", () => allow.click({ clickCount: 2 }), async () => (await title()) === "Delete it");
    await until("the first is answered", () => answers().length > 0);
    assert.deepEqual(await buttons.allInnerTexts(), ["reject once", "allow once", "allow always"]);
    assert.equal(answers().length, 1);
    await answerByClick(page.getByRole("button", { name: "reject once" }));
    await page.locator("#send:visible").waitFor();
    assert.deepEqual(answers().map(({ call, optionId }) => [call, optionId]), [["a", "allow_once"], ["a", "reject_once"]]);
    assert.equal(await buttons.count(), 0);
    // Those that are not answered when another conversation is shown stay, and its row says so; they go with the turn.
    await tell(page, [{ at: 0, ask: about("b") }, { at: 0, ask: about("b") }, { at: 0, ask: about("c") }]);
    await page.getByRole("button", { name: "allow always" }).nth(1).waitFor();
    await pause(200);
    await page.keyboard.press("Alt+n");
    await page.locator("#welcome").waitFor();
    assert.equal(await buttons.count(), 0);
    await page.locator("#sessions .row", { hasText: "asks you 3 things" }).click();
    await page.getByRole("button", { name: "allow always" }).nth(1).waitFor();
    assert.equal(answers().length, 2);
    await page.keyboard.press("Escape");
    await until("all are answered", () => answers().length === 5);
    assert.deepEqual(answers().slice(2).map(({ outcome }) => outcome), ["cancelled", "cancelled", "cancelled"]);
    await page.close();
    bridge.kill();
  },

  async "buttons that move or change what they are about work a second later"({ browser }) {
    await inTime(async () => {
      const { bridge, answers, open } = await asking(browser);
      const page = await open();
      const update = { sessionUpdate: "tool_call_update", toolCallId: "a", title: "Delete all" };
      await tell(page, [{ at: 0, ask: about("a", "Read") }, { at: 1500, update }]);
      const allow = page.getByRole("button", { name: "allow once" });
      // By the page's clock: a look from outside comes later.
      const changed = await page.evaluate(() => new Promise((resolve) => {
        const look = () => document.querySelector(".tool .title")?.innerText === "Delete all" && resolve(performance.now());
        new MutationObserver(look).observe(document, { childList: true, subtree: true });
        look();
      }));
      const press = async () => {
        const { x, y } = await allow.boundingBox();
        await page.mouse.click(x + 5, y + 5);
      };
      await press();
      await mustBeEarly(page, 1, changed);
      await pause(1200);
      const moved = await page.evaluate(() => {
        document.querySelector(".tool").before(document.createElement("hr"));
        return performance.now();
      });
      await press();
      await mustBeEarly(page, 1, moved);
      await pause(300);
      assert.deepEqual(answers(), []);
      await answerByClick(allow);
      await until("it is answered", () => answers().length === 1);
      await page.close();
      bridge.kill();
    });
  },

  async "titles turn nothing around them, and hide nothing"({ browser }) {
    const { bridge, open } = await asking(browser);
    const page = await open();
    const title = "Read \u202egpj.exe\u2066\u200f\u0007";
    await tell(page, [{ at: 0, ask: about("a", title, [option("reject_once", "No\u202e"), option("allow_once", "\u2067Yes")]) }]);
    await page.locator(".permission button").first().waitFor();
    assert.equal(await page.locator(".asked bdi").innerText(), "Read \\u202egpj.exe\\u2066\\u200f\\u0007");
    assert.deepEqual(await page.locator(".permission button bdi").allInnerTexts(), ["No\\u202e", "\\u2067Yes"]);
    await page.close();
    bridge.kill();
  },

  async "an agent that does not read ends when its page is loaded again, and when it is closed"({ browser }) {
    const { folder, ids } = register();
    const served = await start(["sh", "-c", ': > "$0/$$"; exec "$@"', folder, process.execPath, AGENT, join(folder, "answers")]);
    const page = await browser.newPage();
    await page.goto(served.address);
    await page.locator("#state[data-state=online]").waitFor();
    const deafen = async () => {
      await tell(page, { deaf: true });
      await page.locator("#cancel:visible").waitFor();
      await page.evaluate(() => void globalThis.acp.agent.connection.request("_libacp.dev/fill", { text: "x".repeat(4 << 20) }));
    };
    await deafen();
    const [first] = ids();
    await page.reload();
    await until("the first agent has ended", () => !runs(first));
    await page.locator("#state[data-state=online]").waitFor();
    await deafen();
    const [second] = ids().filter((id) => id !== first);
    assert.ok(runs(second));
    await page.close();
    await until("the second agent has ended", () => !runs(second));
    served.bridge.kill();
  },
};
