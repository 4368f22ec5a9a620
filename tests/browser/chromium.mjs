// Where Chromium is, and how it is started without a display and without a network.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser, with flags beside the usual ones; undefined, with a note, where there is none. */
export async function launch(...flags) {
  const executablePath = PLACES.find((path) => path && existsSync(path));
  if (executablePath === undefined) {
    console.log("note: browser tests skipped: no Chromium found; install it (apt-get install chromium) or name it in CHROMIUM");
    return undefined;
  }
  const browser = await chromium.launch({ executablePath, headless: true, args: [...FLAGS, ...flags] });
  console.log(`note: browser: Chromium ${browser.version()}`);
  return browser;
}
