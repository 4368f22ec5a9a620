// What an agent asks for beside consent: values in a form, or something that is done on a web page.

import { isolated, make, plain } from "./dom.js";
import { Form } from "./form.js";

const REFUSALS = [
  { optionId: "decline", name: "Decline", kind: "reject_once" },
  { optionId: "cancel", name: "Not now", kind: "reject_once" },
];
const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The address of a page that may be opened: over TLS, or one of this machine's. */
function addressOf(text) {
  const url = URL.parse?.(text) ?? (URL.canParse(text) ? new URL(text) : undefined);
  if (!url || url.username || url.password) return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && LOCAL.test(url.hostname)) ? url : undefined;
}

/** The address as it is, with what says whose it is set apart. Foreign letters in that are written out by the browser. */
function drawn(url) {
  const [before, after] = url.href.split(url.host, 2);
  return make("p", { className: "address" }, plain(before), make("b", {}, plain(url.host)), plain(after + url.href.slice(before.length + url.host.length + after.length)));
}

/** Opens a page that knows nothing of this one. */
const visit = (url) => window.open(url.href, "_blank", "noopener,noreferrer");

/**
 * What is asked, and what a choice answers; a choice that answers nothing leaves the question open. `opened(url)` is called
 * when the user has gone to a page.
 */
export function elicitation({ mode, message, requestedSchema, url: text }, opened) {
  const about = { title: message };
  const said = (action, more) => ({ action, ...more });
  if (mode === "form") {
    const form = new Form(requestedSchema);
    const take = (action) => {
      if (action !== "accept") return said(action);
      const content = form.read();
      return content && said(action, { content });
    };
    return { about: { ...about, element: form.element }, options: [{ optionId: "accept", name: "Send", kind: "allow_once" }, ...REFUSALS], take };
  }
  const url = addressOf(text);
  if (!url) {
    const element = make("p", { className: "problem" }, "It leads to ", isolated(text), ", which is not opened: it is no page over HTTPS.");
    return { about: { ...about, element }, options: REFUSALS, take: (action) => said(action) };
  }
  const take = (action) => {
    if (action === "accept") {
      visit(url);
      opened(url);
    }
    return said(action);
  };
  return { about: { ...about, element: drawn(url) }, options: [{ optionId: "accept", name: "Open this page", kind: "allow_once" }, ...REFUSALS], take };
}

/** What is said of a page that the user was sent to, until the agent says that it is done. */
export const waitingFor = (url) =>
  make("p", { className: "note opened" }, "The agent waits for what you do at ", make("a", { href: url.href, target: "_blank", rel: "noreferrer noopener" }, isolated(url.host)));
