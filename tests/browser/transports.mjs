// The page over HTTP, `?transport=http`: the same conversation as over a WebSocket, and what only that transport can do.
import assert from "node:assert/strict";
import { answerByClick, idle, online, send } from "./person.mjs";
import { able, register, start, until } from "./served.mjs";

async function opened(browser, agent) {
  const served = await start(agent);
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(30_000);
  const methods = [];
  const sockets = [];
  page.on("request", (request) => /\/agent$/.test(new URL(request.url()).pathname) && methods.push(request.method()));
  page.on("websocket", (socket) => sockets.push(socket.url()));
  await page.goto(`${served.address}?transport=http`);
  await online(page);
  return { page, methods, sockets, served };
}

export const transportTests = {
  async "over HTTP: a turn with a permission, a cancelled turn, and a session that is loaded"({ browser }) {
    const { page, methods, sockets } = await opened(browser);
    await send(page, "/edit greet all");
    const card = page.locator(".card", { hasText: "Edit src/main.rs" });
    await answerByClick(card.getByRole("button", { name: "Allow", exact: true }));
    await page.getByText("greets everybody").waitFor();
    await idle(page);
    await send(page, "/story");
    await page.getByText("Night 2").waitFor();
    await page.click("#cancel");
    await page.locator(".note", { hasText: "cancelled" }).waitFor();
    await idle(page);
    // Loaded again, the page finds its session, and asks for it.
    await page.reload();
    await online(page);
    await page.getByText("greets everybody").waitFor();
    assert.match(await page.locator("article.user").first().innerText(), /greet all/);
    await send(page, "And now?");
    await page.locator("blockquote", { hasText: "And now?" }).waitFor();
    await idle(page);
    assert.deepEqual(sockets, [], "no WebSocket was opened");
    assert.ok(methods.includes("GET") && methods.includes("POST"), `${methods}`);
  },

  async "over HTTP: the end of an agent is said, and its session is opened again"({ browser }) {
    const { folder, ids } = register();
    const command = able();
    const { page } = await opened(browser, ["sh", "-c", `: > "$0/$$"; exec "$@"`, folder, ...command]);
    await send(page, "Hello");
    await page.getByText("You said: Hello").waitFor();
    await idle(page);
    await send(page, "/slow");
    // The agent has the prompt.
    await page.getByText("Call one").waitFor();
    assert.equal(ids().length, 1);
    process.kill(ids()[0], "SIGKILL");
    await page.getByText("the agent has ended: signal SIGKILL").waitFor();
    await until("there is another agent", () => ids().length === 2);
    await online(page);
    await send(page, "Still there?");
    await page.getByText("You said: Still there?").waitFor();
    await idle(page);
    // It is the same conversation.
    await page.getByText("You said: Hello").waitFor();
    assert.equal(ids().length, 2);
  },
};
