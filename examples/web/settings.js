// The mode and the options of a session, and what the agent is: all of it as the view has it.

import { byId, isolated, make, plain, tell } from "./dom.js";

/** A label with the control that it is for. */
const labelled = (name, description, control, first) =>
  make("label", { title: description ? plain(description) : undefined }, ...(first ? [control, isolated(name)] : [make("span", {}, isolated(name)), control]));

function select(name, label, value, groups, change) {
  const choice = (it) => make("option", { value: it.value, selected: it.value === value, title: it.description ? plain(it.description) : undefined }, plain(it.name));
  const items = groups.map((it) => (it.options ? make("optgroup", { label: plain(it.name) }, ...it.options.map(choice)) : choice(it)));
  return make("select", { name, ariaLabel: plain(label), onchange: ({ target }) => change(target.value) }, ...items);
}

/** The session whose controls are there. */
let shown;

/** The controls of a session; each change is sent, and undone where that fails. */
export function showSettings(session, view) {
  const place = byId("settings");
  shown = session;
  const focus = place.contains(document.activeElement) ? document.activeElement.name : undefined;
  const change = (setting) => async (value) => {
    try {
      await setting(value);
    } catch (error) {
      tell(error.message);
      // Another one may be on display by now.
      if (shown === session) showSettings(session, session.view);
    }
  };
  const controls = (view?.configOptions ?? []).filter(({ type, category }) => (type === "select" || type === "boolean") && !(category === "mode" && view.modes)).map((option) => {
    const { configId, name, description, type, currentValue, options } = option;
    const set = change((value) => session.setConfigOption(configId, value));
    if (type === "select") return labelled(name, description, select(configId, name, currentValue, options, set));
    const box = make("input", { type: "checkbox", name: configId, checked: currentValue, onchange: ({ target }) => set(target.checked) });
    return labelled(name, description, box, true);
  });
  const { currentModeId, availableModes } = view?.modes ?? {};
  if (availableModes?.length > 0) {
    const modes = availableModes.map(({ id, name, description }) => ({ value: id, name, description }));
    const set = change((value) => session.setMode(value));
    controls.unshift(labelled("Mode", undefined, select("mode", "Mode", currentModeId, modes, set)));
  }
  place.replaceChildren(...controls);
  if (focus) place.querySelector(`[name="${CSS.escape(focus)}"]`)?.focus();
}
