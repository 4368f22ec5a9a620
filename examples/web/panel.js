// Beside the conversation: plan, tokens, background work, the connection.

import { byId, fill, isolated, make, plain } from "./dom.js";
import { drawData } from "./items.js";

export function showState(state, text = state) {
  const place = byId("state");
  place.dataset.state = state;
  fill(place, plain(text));
  place.title = plain(text);
  byId("reconnect").hidden = state !== "offline";
}

const step = ({ content, priority, status }) =>
  make("li", { "data-status": status, "data-priority": priority }, isolated(content), make("span", { className: "unseen" }, `, ${plain(status ?? "").replaceAll("_", " ")}`));

/** All plans of a view, and how far the last one is. */
export function showPlans(view) {
  const plans = (view?.entries ?? []).filter(({ type }) => type === "plan");
  const steps = plans.findLast(({ plan }) => Array.isArray(plan?.entries))?.plan.entries ?? [];
  const done = steps.filter(({ status }) => status === "completed").length;
  const progress = byId("progress");
  progress.hidden = steps.length === 0;
  progress.max = steps.length || 1;
  progress.value = done;
  const current = steps.find(({ status }) => status === "in_progress");
  const brief = byId("brief");
  brief.hidden = steps.length === 0 || done === steps.length;
  brief.replaceChildren(`Plan ${done}/${steps.length}`, ...(current ? [" · ", isolated(current.content)] : []));
  byId("plan").replaceChildren(...steps.map(step));
  const others = plans.filter(({ plan }) => !Array.isArray(plan?.entries));
  byId("plans").replaceChildren(...others.map(({ plan }) => (typeof plan?.content === "string" ? make("p", {}, plain(plan.content)) : drawData(plan))));
  byId("no-plan").hidden = plans.length > 0;
}

export function showUsage(usage) {
  const { used, size, cost } = usage ?? {};
  const meter = byId("usage");
  // A number that the agent got wrong is missing, and the other one may still be right.
  const known = (value) => value?.toLocaleString() ?? "?";
  meter.hidden = used == null || size == null;
  meter.max = Number(size) || 1;
  meter.value = Number(used) || 0;
  const price = cost ? `, ${cost.amount} ${plain(cost.currency)}` : "";
  fill(byId("tokens"), usage ? `${known(used)} of ${known(size)}${price}` : "none yet");
}

/** What goes on beside the foreground work, by the names that the view has for it. */
export function showBackground({ background, entries, terminals }) {
  const name = ({ type, toolCallId, terminalId, sessionId }) => {
    if (type === "tool_call") return entries.findLast((it) => it.type === "tool_call" && it.id === toolCallId)?.title ?? toolCallId;
    if (type === "terminal") return terminals.findLast(({ id }) => id === terminalId)?.command ?? terminalId;
    if (type === "subagent") return entries.findLast((it) => it.type === "subagent" && it.id === sessionId)?.title ?? sessionId;
    return type;
  };
  const list = background ?? [];
  byId("background").replaceChildren(...list.map((work) => make("li", {}, make("span", { className: "kind" }, plain(work.type.replaceAll("_", " "))), isolated(name(work)))));
  byId("background-section").hidden = list.length === 0;
}

export function showFacts(facts) {
  byId("facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, isolated(value))]));
}
