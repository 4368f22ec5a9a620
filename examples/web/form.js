// The form of an elicitation: a field for each property of its schema, and what was entered, once it fits the schema.

import { isolated, make, plain } from "./dom.js";

const TYPES = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };
/** Longer texts are written in more than one line. */
const LINE = 200;

let fields = 0;

/** Choices with what is sent and what is shown. */
const plainly = (values) => values.map((value) => ({ const: value, title: value }));
const choicesOf = ({ enum: values, oneOf, anyOf }) => oneOf ?? anyOf ?? (values && plainly(values));

/** What a field is made of: its element, what was entered (nothing where that is empty), and what is wrong with it. */
const KINDS = {
  __proto__: null,

  string(schema, id) {
    const choices = choicesOf(schema);
    if (choices) return select(schema, choices, id);
    const { format, minLength, maxLength } = schema;
    const type = TYPES[format] ?? "text";
    const tag = type === "text" && maxLength > LINE ? "textarea" : "input";
    const input = make(tag, { id, type: tag === "input" ? type : undefined, value: shown(schema.default, type), autocomplete: "off" });
    const length = () => [...input.value].length;
    const wrong = () => {
      if (input.value !== "" && length() < (minLength ?? 0)) return `at least ${minLength} characters`;
      if (length() > (maxLength ?? Infinity)) return `at most ${maxLength} characters`;
      return input.validationMessage;
    };
    // A date without its zone is one of the user's.
    const value = () => (input.value === "" ? undefined : type === "datetime-local" ? new Date(input.value).toISOString() : input.value);
    return { input, value, wrong };
  },

  number: (schema, id) => number(schema, id, "any"),
  integer: (schema, id) => number(schema, id, "1"),

  boolean(schema, id) {
    const input = make("input", { id, type: "checkbox", checked: schema.default === true });
    return { input, value: () => input.checked, wrong: () => "", isBox: true };
  },

  array(schema, id) {
    const boxes = (choicesOf(schema.items ?? {}) ?? []).map((choice) => {
      const box = make("input", { type: "checkbox", value: choice.const, checked: (schema.default ?? []).includes(choice.const) });
      return { box, label: make("label", { title: told(choice) }, box, isolated(choice.title)) };
    });
    const input = make("div", { id, role: "group", className: "choices" }, ...boxes.map(({ label }) => label));
    const value = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
    const { minItems, maxItems } = schema;
    const wrong = () => {
      const { length } = value();
      if (length < (minItems ?? 0)) return `at least ${minItems} of them`;
      return length > (maxItems ?? Infinity) ? `at most ${maxItems} of them` : "";
    };
    return { input, value, wrong, isGroup: true };
  },
};

const told = ({ description }) => (description ? plain(description) : undefined);

/** A default as a field of this type takes it. */
function shown(value, type) {
  if (value === undefined || value === null) return "";
  if (type !== "datetime-local") return value;
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function select({ default: chosen }, choices, id) {
  const option = (choice) => make("option", { value: choice.const, title: told(choice), selected: choice.const === chosen }, plain(choice.title));
  const input = make("select", { id }, make("option", { value: "" }, "–"), ...choices.map(option));
  const value = () => choices[input.selectedIndex - 1]?.const;
  return { input, value, wrong: () => "" };
}

function number({ minimum, maximum, default: value }, id, step) {
  const input = make("input", { id, type: "number", step, min: minimum, max: maximum, value: value ?? "", autocomplete: "off" });
  const whole = step === "1";
  const wrong = () => input.validationMessage || (whole && !Number.isSafeInteger(input.valueAsNumber || 0) ? "too large to be sent exactly" : "");
  return { input, value: () => (input.value === "" ? undefined : input.valueAsNumber), wrong };
}

/** What cannot be filled in is said. */
const unknown = ({ type }, id) => ({
  input: make("p", { id, className: "dim" }, `A field of the type ${plain(type)}, which cannot be filled in here.`),
  value: () => undefined,
  wrong: () => "",
  isGroup: true,
});

class Field {
  constructor(name, schema, isRequired) {
    const id = `field-${(fields += 1)}`;
    Object.assign(this, { name, isRequired }, (KINDS[schema.type] ?? unknown)(schema, id));
    this.problem = make("p", { id: `${id}-problem`, className: "problem" });
    const title = isolated(schema.title ?? name);
    const label = this.isGroup ? make("span", { id: `${id}-label` }, title) : make("label", { htmlFor: id }, title);
    if (isRequired) label.append(make("span", { className: "required" }, " (required)"));
    const help = make("p", { id: `${id}-help`, className: "dim" }, isolated(helpOf(schema)));
    if (this.isGroup) this.input.setAttribute("aria-labelledby", label.id);
    this.input.setAttribute("aria-describedby", `${help.id} ${this.problem.id}`);
    const parts = this.isBox ? [make("div", { className: "box" }, this.input, label)] : [label, this.input];
    this.element = make("div", { className: "value" }, ...parts, help.textContent ? help : undefined, this.problem);
    this.element.oninput = () => this.say("");
  }

  /** What is wrong with what was entered. */
  check() {
    const value = this.value();
    const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
    this.say(this.wrong() || (isEmpty && this.isRequired ? "this is required" : ""));
    return this.problem.textContent === "";
  }

  say(text) {
    this.problem.textContent = text;
    this.input.setAttribute("aria-invalid", String(text !== ""));
  }
}

/** Help for a field. A pattern is shown and never run: the agent has chosen it, and it could take for ever. */
function helpOf({ description, pattern }) {
  return [description, pattern && `Pattern: ${pattern}`].filter(Boolean).join(" ");
}

export class Form {
  #fields;

  constructor({ title, description, properties = {}, required }) {
    this.#fields = Object.entries(properties ?? {}).map(([name, schema]) => new Field(name, schema, (required ?? []).includes(name)));
    this.element = make(
      "div",
      { className: "form", role: "group", ariaLabel: plain(title ?? "Form") },
      title ? make("p", { className: "heading" }, isolated(title)) : undefined,
      description ? make("p", {}, isolated(description)) : undefined,
      ...this.#fields.map(({ element }) => element),
    );
  }

  /** What was entered; nothing, with a word at each wrong field, as long as it does not fit. */
  read() {
    const wrong = this.#fields.filter((field) => !field.check());
    if (wrong.length > 0) {
      (wrong[0].input.matches("input, select, textarea") ? wrong[0].input : wrong[0].input.querySelector("input"))?.focus();
      return undefined;
    }
    const entered = this.#fields.map((field) => [field.name, field.value()]);
    return Object.fromEntries(entered.filter(([, value]) => value !== undefined));
  }
}
