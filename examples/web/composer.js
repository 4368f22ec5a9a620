// Where the user writes: Enter sends, a slash offers the agent's commands, Escape stops the turn.

import { isolated, make, plain } from "./dom.js";

export class Composer {
  #commands = [];
  #chosen = 0;

  /** `send(text)` and `cancel()` are called; all elements are found by their ids. */
  constructor({ send, cancel }) {
    this.form = document.getElementById("composer");
    this.field = document.getElementById("prompt");
    this.list = document.getElementById("commands");
    this.sendButton = document.getElementById("send");
    this.cancelButton = document.getElementById("cancel");
    this.send = send;
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.cancelButton.onclick = cancel;
    this.field.oninput = () => this.#changed();
    this.field.onkeydown = (event) => this.#key(event);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.list.hidden && !this.cancelButton.hidden) cancel();
    });
  }

  /** Commands that the agent has named. */
  set commands(commands) {
    this.#commands = commands;
    this.#changed();
  }

  set running(running) {
    this.cancelButton.hidden = !running;
    this.sendButton.hidden = running;
  }

  set enabled(enabled) {
    this.sendButton.disabled = !enabled;
  }

  #submit() {
    const text = this.field.value.trim();
    if (!text || this.sendButton.hidden || this.sendButton.disabled) return;
    this.field.value = "";
    this.#changed();
    this.send(text);
  }

  #matches() {
    const typed = /^\/(\S*)$/.exec(this.field.value);
    return typed ? this.#commands.filter(({ name }) => name.startsWith(typed[1])) : [];
  }

  #changed() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 240)}px`;
    const matches = this.#matches();
    this.#chosen = Math.min(this.#chosen, Math.max(matches.length - 1, 0));
    this.list.hidden = matches.length === 0;
    this.list.replaceChildren(
      ...matches.map((command, index) =>
        make(
          "li",
          { role: "option", ariaSelected: String(index === this.#chosen), onmousedown: (event) => this.#take(event, command) },
          make("b", {}, isolated(`/${command.name}`)),
          " ",
          isolated(command.description),
        ),
      ),
    );
  }

  #take(event, command) {
    event.preventDefault();
    this.field.value = `/${command.name}${command.input ? " " : ""}`;
    this.list.hidden = true;
    if (command.input?.hint) this.field.placeholder = plain(command.input.hint);
    this.field.focus();
  }

  #key(event) {
    const matches = this.list.hidden ? [] : this.#matches();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (matches.length > 0 && step) {
      event.preventDefault();
      this.#chosen = (this.#chosen + step + matches.length) % matches.length;
      this.#changed();
    } else if (matches.length > 0 && (event.key === "Tab" || event.key === "Enter")) {
      const whole = this.field.value === `/${matches[this.#chosen].name}`;
      if (event.key === "Enter" && whole) {
        event.preventDefault();
        this.#submit();
      } else this.#take(event, matches[this.#chosen]);
    } else if (matches.length > 0 && event.key === "Escape") {
      event.stopPropagation();
      this.list.hidden = true;
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit();
    }
  }
}
