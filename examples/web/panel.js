// Beside the conversation: plan, tokens, the connection, and what the agent did against the rules.

import { isolated, make, plain } from "./dom.js";

const byId = (id) => document.getElementById(id);
const KEPT = 50;

export function showState(state, text = state) {
  const place = byId("state");
  place.dataset.state = state;
  place.textContent = plain(text);
  byId("reconnect").hidden = state !== "offline";
}

export function showPlan(entries) {
  const done = entries.filter(({ status }) => status === "completed").length;
  const progress = byId("progress");
  progress.hidden = entries.length === 0;
  progress.max = entries.length || 1;
  progress.value = done;
  byId("plan").replaceChildren(
    ...entries.map(({ content, priority, status }) => make("li", { "data-status": status, "data-priority": priority }, isolated(content))),
  );
}

export function showUsage({ used, size, cost }) {
  const meter = byId("usage");
  // A number that the agent got wrong is missing, and the other one may still be right.
  const known = (value) => value?.toLocaleString() ?? "?";
  meter.hidden = used === undefined || size === undefined;
  meter.max = Number(size) || 1;
  meter.value = Number(used) || 0;
  const price = cost ? `, ${cost.amount} ${plain(cost.currency)}` : "";
  byId("tokens").textContent = `${known(used)} of ${known(size)}${price}`;
}

export function showFacts(facts) {
  byId("facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, isolated(value))]));
}

export function showViolation({ rule, message, pointer, method, consequence }) {
  const list = byId("violations");
  list.prepend(
    make(
      "li",
      { "data-consequence": consequence },
      make("b", {}, rule),
      " ",
      isolated(`${method ?? ""} ${pointer ?? ""}`),
      make("br"),
      isolated(message),
      ` (${consequence})`,
    ),
  );
  while (list.childElementCount > KEPT) list.lastElementChild.remove();
  byId("count").textContent = String(Number(byId("count").textContent) + 1);
}

/** Selectors for the mode and the options; `change(name, value)` is called with "mode" or an option's id. */
export function showSettings({ modes, configOptions = [] }, change) {
  const select = (label, value, options, name) =>
    make(
      "label",
      {},
      make("span", {}, isolated(label)),
      make(
        "select",
        { name, onchange: ({ target }) => change(name, target.value) },
        ...options.map(([id, text, title]) => make("option", { value: id, selected: id === value, title: title && plain(title) }, plain(text))),
      ),
    );
  const all = configOptions.map((option) => {
    if (option.type === "boolean") {
      const box = make("input", { type: "checkbox", name: option.id, checked: option.currentValue });
      box.onchange = () => change(option.id, box.checked);
      return make("label", {}, box, make("span", {}, isolated(option.name)));
    }
    const flat = option.options.flatMap((entry) => entry.options ?? [entry]);
    return select(option.name, option.currentValue, flat.map(({ value, name, description }) => [value, name, description]), option.id);
  });
  if (modes) {
    const choices = modes.availableModes.map(({ id, name, description }) => [id, name, description]);
    all.unshift(select("Mode", modes.currentModeId, choices, "mode"));
  }
  byId("settings").replaceChildren(...all);
}
