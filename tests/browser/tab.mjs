// A tab that Playwright does not manage: one of Playwright's counts as visible whatever becomes of it, and is never frozen.

/** Opens a tab with this page; what asks it over the DevTools protocol, evaluates in it, and closes it. */
export async function openTab(browser, url) {
  const devtools = await browser.newBrowserCDPSession();
  const { targetId } = await devtools.send("Target.createTarget", { url });
  const { sessionId } = await devtools.send("Target.attachToTarget", { targetId });
  const asked = new Map();
  let last = 0;
  devtools.on("Target.receivedMessageFromTarget", ({ message }) => {
    const { id, result, error } = JSON.parse(message);
    const { resolve, reject } = asked.get(id) ?? {};
    asked.delete(id);
    if (error) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      asked.set((last += 1), { resolve, reject });
      const message = JSON.stringify({ id: last, method, params });
      devtools.send("Target.sendMessageToTarget", { sessionId, message }).catch(reject);
    });
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const until = async (expression, limit = 30_000) => {
    for (const end = Date.now() + limit; !(await evaluate(expression)); ) {
      if (Date.now() > end) throw new Error(`${expression} is not so within ${limit} ms`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const close = async () => {
    await devtools.send("Target.closeTarget", { targetId });
    await devtools.detach();
  };
  return { send, evaluate, until, close };
}
