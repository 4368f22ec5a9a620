// An agent that means harm to the page: whatever it sends, the page goes on, and what it keeps is bounded.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerByClick, idle, online, send } from "./person.mjs";
import { start, store, until } from "./served.mjs";

const AGENT = fileURLToPath(new URL("hostile-agent.mjs", import.meta.url));
const MIB = 1 << 20;
let files = 0;
let words = 0;

async function opened(browser) {
  const file = join(store, `hostile-${(files += 1)}`);
  const served = await start([process.execPath, AGENT, file]);
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  page.setDefaultTimeout(30_000);
  await page.goto(served.address);
  await online(page);
  return { page, answers: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

const line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });
const update = (update) => line({ method: "session/update", params: { sessionId: "SESSION", update } });
const chunk = (content) => update({ sessionUpdate: "agent_message_chunk", content });
const text = (text) => chunk({ type: "text", text });
const call = (toolCallId, ...content) => update({ sessionUpdate: "tool_call", toolCallId, title: "A call", content });

/** The page still does what it is there for. */
async function alive(page, word) {
  await idle(page);
  await send(page, word);
  await page.locator("article.agent", { hasText: `You said: ${word}` }).waitFor();
}

/** Lines that are sent, and whether the page goes on after each. */
async function survives(page, lines) {
  for (const one of lines) {
    await send(page, JSON.stringify([typeof one === "string" ? { line: one } : one]));
    await alive(page, `word ${(words += 1)}.`);
  }
}

export const hostileTests = {
  async "quotes and lists in each other without end are drawn as far as that goes"({ browser }) {
    const { page } = await opened(browser);
    await survives(page, [text(">".repeat(4000)), text("> ".repeat(2000)), text("- ".repeat(2000)), text("> - ".repeat(1000)), text(`${"> ".repeat(1300)}\`\`\`\nx`)]);
    // What people write is read as before.
    await send(page, JSON.stringify([{ line: text("> one\n> > two\n> > - three\n> >   - four") }]));
    await page.locator("blockquote blockquote li li", { hasText: "four" }).waitFor();
  },

  async "content of a kind that every object knows is named, and hides nothing"({ browser }) {
    const { page } = await opened(browser);
    for (const type of ["__proto__", "constructor", "toString"]) {
      const content = { type };
      await survives(page, [chunk(content), call(type, { type: "content", content }, content)]);
      await page.getByText(`(${type} cannot be shown here)`).first().waitFor();
      const form = { mode: "form", sessionId: "SESSION", message: "What?", requestedSchema: { type: "object", properties: { one: { type, title: "One" } } } };
      await send(page, JSON.stringify([{ line: line({ id: words, method: "elicitation/create", params: form }) }]));
      await page.getByText(`A field of the type ${type}`).waitFor();
      await page.click("#fresh");
      await page.locator("#welcome").waitFor();
    }
  },

  async "a change of very many lines is drawn as far as it is shown"({ browser }) {
    const { page } = await opened(browser);
    const path = "/a";
    // There is no old text, and no time to compare.
    const diff = { type: "diff", path, oldText: null, newText: "FILL" };
    await survives(page, [{ line: call("new", diff), fill: 300_000, of: "x\\n" }]);
    await page.locator(".diff .gap", { hasText: /⋯ \d+ more/ }).waitFor();
    const asked = { sessionId: "SESSION", toolCall: { toolCallId: "t", title: "Write", content: [diff] }, options: [{ optionId: "no", name: "No", kind: "reject_once" }] };
    const began = performance.now();
    await send(page, JSON.stringify([{ line: line({ id: 1, method: "session/request_permission", params: asked }), fill: 2_000_000, of: "\\n" }]));
    await answerByClick(page.getByRole("button", { name: "No" }));
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
    assert.ok((await page.evaluate(() => document.querySelectorAll(".diff span").length)) < 5000);
  },

  async "a request whose id is no number of JavaScript's is asked and answered"({ browser }) {
    const { page, answers } = await opened(browser);
    const params = { sessionId: "SESSION", toolCall: { toolCallId: "t", title: "Write" }, options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }] };
    await send(page, JSON.stringify([{ line: line({ id: 1, method: "session/request_permission", params }).replace('"id":1', '"id":9007199254740993') }]));
    await answerByClick(page.getByRole("button", { name: "Yes" }));
    await until("it is answered", () => answers() !== "");
    assert.match(answers(), /"id":9007199254740993,.*"optionId":"yes"/);
  },

  async "a request without options can be dismissed, also when no turn is on"({ browser }) {
    const { page, answers } = await opened(browser);
    const params = { sessionId: "SESSION", toolCall: { toolCallId: "t", title: "Write" }, options: [] };
    await send(page, JSON.stringify([{ line: line({ id: 1, method: "session/request_permission", params }) }]));
    await answerByClick(page.getByRole("button", { name: "Dismiss" }));
    await until("it is answered", () => answers() !== "");
    assert.match(answers(), /"outcome":"cancelled"/);
  },

  async "a mode that is refused late changes nothing in another session"({ browser }) {
    const { page } = await opened(browser);
    await page.selectOption("select[name=mode]", "two");
    await page.click("#fresh");
    const modes = () => page.locator("select[name=mode]").innerText();
    await until("the other session is there", async () => (await modes()).includes("of 1"));
    await page.locator("#alerts", { hasText: "It stays as it is" }).waitFor();
    assert.match(await modes(), /of 1/);
    // In its own it is undone.
    await page.selectOption("select[name=mode]", "two");
    await until("it is undone", async () => (await page.locator("select[name=mode]").inputValue()) === "one");
  },

  async "the hint of a command goes with it"({ browser }) {
    const { page } = await opened(browser);
    const hint = () => page.getAttribute("#prompt", "placeholder");
    const usual = await hint();
    await send(page, JSON.stringify([{ line: update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "web", description: "Searches", input: { hint: "what" } }] }) }]));
    await alive(page, "Hello");
    await page.focus("#prompt");
    await page.keyboard.type("/");
    await page.locator("#commands li").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await hint(), "what");
    await alive(page, "/web cats");
    assert.equal(await hint(), usual);
  },

  async "the list of messages keeps the beginnings of large ones, and some of many rules"({ browser }) {
    const { page } = await opened(browser);
    await page.click("#tab-wire");
    const session = await page.context().newCDPSession(page);
    const held = async () => {
      await session.send("HeapProfiler.collectGarbage");
      const { usedSize, backingStorageSize } = await session.send("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    };
    const before = await held();
    await send(page, JSON.stringify([{ line: line({ method: "_tests/large", params: { text: "FILL" } }), times: 40, fill: 4 * MIB }]));
    await alive(page, "large");
    assert.ok((await held()) - before < 20 * MIB, `${before} and ${await held()} bytes`);
    await send(page, JSON.stringify([{ line: text("x").replace("SESSION", "unheard-of-INDEX"), times: 3000 }]));
    await alive(page, "many");
    assert.equal(await page.locator("#count").innerText(), "3000");
    assert.ok((await page.locator("#wire .rule").count()) < 100);
  },
};
