// Where the user writes: Enter sends, a slash offers the agent's commands, Escape stops the turn. Pictures can be pasted,
// dropped or chosen where the agent takes them.

import { byId, button, icon, isolated, make, plain, tell } from "./dom.js";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LARGEST = 8 << 20;
const TALLEST = 240;

export class Composer {
  #commands = [];
  #placeholder;
  #chosen = 0;
  #pictures = [];
  #takesPictures = false;

  /** `send(blocks)` and `cancel()` are called; all elements are found by their ids. */
  constructor({ send, cancel }) {
    this.field = byId("prompt");
    this.#placeholder = this.field.placeholder;
    this.list = byId("commands");
    this.sendButton = byId("send");
    this.cancelButton = byId("cancel");
    this.send = send;
    const form = byId("composer");
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.cancelButton.onclick = cancel;
    this.field.oninput = () => this.#changed();
    this.field.onkeydown = (event) => this.#key(event);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.list.hidden && !this.cancelButton.hidden) cancel();
    });
    const chosen = byId("pictures");
    byId("attach").onclick = () => chosen.click();
    chosen.onchange = () => {
      this.#add(chosen.files);
      chosen.value = "";
    };
    this.field.onpaste = (event) => this.#given(event, event.clipboardData);
    document.ondragover = (event) => event.preventDefault();
    document.ondrop = (event) => {
      event.preventDefault();
      this.#given(event, event.dataTransfer);
    };
  }

  /** Commands that the agent has named. */
  set commands(commands) {
    this.#commands = commands ?? [];
    this.#changed();
  }

  set running(running) {
    if (this.cancelButton.hidden === !running) return;
    // Who has stopped the turn writes on; who has sent something may be asked next.
    const had = !running && document.activeElement === this.cancelButton;
    this.cancelButton.hidden = !running;
    this.sendButton.hidden = running;
    if (had) this.field.focus();
  }

  set enabled(enabled) {
    this.sendButton.disabled = !enabled;
  }

  set takesPictures(takes) {
    this.#takesPictures = takes;
    byId("attach").hidden = !takes;
  }

  /** Forgets what was attached. */
  clear() {
    this.#pictures = [];
    this.#showPictures();
  }

  #given(event, { files }) {
    if (files.length === 0) return;
    event.preventDefault();
    this.#add(files);
  }

  async #add(files) {
    if (!this.#takesPictures) return tell("This agent takes no pictures.");
    for (const file of files) {
      if (!PICTURES.includes(file.type)) tell(`${file.name}: only pictures can be sent (PNG, JPEG, GIF, WebP).`);
      else if (file.size > LARGEST) tell(`${file.name}: has more than ${LARGEST >> 20} MiB.`);
      else this.#pictures.push({ name: file.name, mimeType: file.type, data: await base64(file) });
    }
    this.#showPictures();
    return undefined;
  }

  #showPictures() {
    const picture = (it, index) =>
      make(
        "li",
        {},
        make("img", { src: `data:${it.mimeType};base64,${it.data}`, alt: plain(it.name) }),
        button(icon("close"), () => (this.#pictures.splice(index, 1), this.#showPictures()), { label: `Remove ${plain(it.name)}` }),
      );
    byId("attached").replaceChildren(...this.#pictures.map(picture));
  }

  #submit() {
    const text = this.field.value.trim();
    if ((!text && this.#pictures.length === 0) || this.sendButton.hidden || this.sendButton.disabled) return;
    this.field.placeholder = this.#placeholder;
    const pictures = this.#pictures.map(({ mimeType, data }) => ({ type: "image", mimeType, data }));
    this.field.value = "";
    this.clear();
    this.#changed();
    this.send([...pictures, ...(text ? [{ type: "text", text }] : [])]);
  }

  #matches() {
    const typed = /^\/(\S*)$/.exec(this.field.value);
    return typed ? this.#commands.filter(({ name }) => name.startsWith(typed[1])) : [];
  }

  #changed() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, TALLEST)}px`;
    const matches = this.#matches();
    this.#chosen = Math.min(this.#chosen, Math.max(matches.length - 1, 0));
    this.#offer(matches.length > 0);
    this.list.replaceChildren(
      ...matches.map((command, index) =>
        make(
          "li",
          { id: `command-${index}`, role: "option", ariaSelected: String(index === this.#chosen), onmousedown: (event) => this.#take(event, command) },
          make("b", {}, isolated(`/${command.name}`)),
          " ",
          isolated(command.description),
        ),
      ),
    );
    this.list.children[this.#chosen]?.scrollIntoView({ block: "nearest" });
  }

  #offer(isOpen) {
    this.list.hidden = !isOpen;
    if (isOpen) this.field.setAttribute("aria-activedescendant", `command-${this.#chosen}`);
    else this.field.removeAttribute("aria-activedescendant");
  }

  #take(event, command) {
    event.preventDefault();
    this.field.value = `/${command.name}${command.input ? " " : ""}`;
    this.#offer(false);
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
      this.#offer(false);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit();
    }
  }
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
