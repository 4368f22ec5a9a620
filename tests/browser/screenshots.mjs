// The book's pictures of the page: `cargo xtask web --screenshots`. They go to docs/src/images.
import { join } from "node:path";
import { launch } from "./chromium.mjs";
import { online, send } from "./person.mjs";
import { killAll, root, start } from "./served.mjs";

const images = join(root, "docs/src/images");
const folder = "/home/you/project";

/** A conversation with the example agent up to its question; the folder is one that any reader could have. */
async function conversation(browser, colorScheme) {
  const { address } = await start();
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, colorScheme });
  await page.route("**/config.json", (route) => route.fulfill({ json: { cwd: folder, root: null } }));
  await page.goto(address);
  await online(page);
  await send(page, "/plan");
  await page.locator("#send:visible").waitFor();
  await page.click("#fresh");
  await page.locator("#welcome").waitFor();
  await send(page, "/edit greet the whole world");
  await page.locator('.permission button[aria-disabled="false"]').first().waitFor();
  return page;
}

const browser = await launch();
if (browser === undefined) process.exit(1);
const page = await conversation(browser, "light");
await page.screenshot({ path: join(images, "web.png") });
await page.click("#tab-wire");
await page.locator("#wire .message").first().waitFor();
await page.emulateMedia({ colorScheme: "dark" });
await page.screenshot({ path: join(images, "web-wire.png") });
await browser.close();
killAll();
