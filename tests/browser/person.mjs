// A person at the page: presses again what did nothing, and knows by the page's own clock whether a press was early.
import { pause, until } from "./served.mjs";

/** Between two presses of a key: the page ignores one that follows another within a second. */
const APART = 1200;
/** Surely before buttons work, which they do after a second. */
const EARLY = 900;
const TRIES = 10;

export const online = (page) => page.locator("#state[data-state=online]").waitFor();
/** Waits until the agent works no more. */
export const idle = (page) => page.locator("#send:visible").waitFor();

export async function send(page, text) {
  await page.fill("#prompt", text);
  await page.click("#send");
}

/** Presses until something has come of it; the buttons may have moved just before, and ignore a press then. */
export async function pressUntil(what, press, is) {
  await until(what, async () => {
    await press();
    return is();
  });
}

/** Answers a request with a click: waits for its button, which may come late, and clicks again until it is gone. */
export async function answerByClick(button, options = {}) {
  await button.waitFor();
  const gone = async () => (await button.count()) === 0;
  const press = async () => {
    // The click waits until the button says that it works.
    await button.click({ timeout: 5000, ...options }).catch(async (error) => {
      if (!(await gone())) throw error;
    });
  };
  await pressUntil("the buttons are gone after a click", press, gone);
}

/** Answers a request with a key: again, until its buttons are gone. */
export async function answerByKey(page, buttons, key) {
  await buttons.first().waitFor();
  await pressUntil(
    "the buttons are gone after a key",
    async () => {
      await pause(APART);
      await page.keyboard.press(key);
    },
    async () => (await buttons.count()) === 0,
  );
}

/** Has a page note when the first buttons came, and when something was pressed. */
export async function clocked(page) {
  await page.addInitScript(() => {
    const noted = (globalThis.noted = { shown: Infinity, pressed: [] });
    for (const type of ["pointerdown", "keydown"]) {
      addEventListener(type, ({ timeStamp }) => noted.pressed.push(timeStamp), { capture: true });
    }
    const look = new MutationObserver(() => {
      if (!document.querySelector(".permission button")) return;
      noted.shown = performance.now();
      look.disconnect();
    });
    look.observe(document, { childList: true, subtree: true });
  });
}

/** What was meant to be early came late, so that it proves nothing. */
class Late extends Error {}

/** Throws unless the last `count` presses were within a second of a time of the page's; that of the first buttons, if none is given. */
export async function mustBeEarly(page, count, since) {
  const { shown, pressed } = await page.evaluate(() => globalThis.noted);
  const began = since ?? shown;
  const late = pressed.slice(-count).find((at) => at - began >= EARLY);
  if (late !== undefined) throw new Late(`a press came ${Math.round(late - began)} ms after what it was to be early for`);
}

/** Throws unless each of the last `count` presses came within a second of the one before it. */
export async function mustFollow(page, count) {
  const { pressed } = await page.evaluate(() => globalThis.noted);
  const last = pressed.slice(-count);
  if (last.some((at, index) => index > 0 && at - last[index - 1] >= EARLY)) throw new Late("keys did not follow each other");
}

/** Does something with a new page each time, until this machine was fast enough for it. */
export async function inTime(test) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await test();
    } catch (error) {
      if (!(error instanceof Late) || tries === TRIES) throw error;
      console.log(`note: tried again: ${error.message}`);
    }
  }
}
