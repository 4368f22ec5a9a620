// What has been said: messages in pieces, thoughts folded away, tool calls in their places.

import { isolated, make, showMarkdownSoon } from "./dom.js";
import { drawBlock, ToolCard } from "./tools.js";

const WHO = { user_message_chunk: "user", agent_message_chunk: "agent", agent_thought_chunk: "thought" };

export class Conversation {
  #tools = new Map();
  #last;

  constructor(element) {
    this.element = element;
  }

  clear() {
    for (const card of this.#tools.values()) card.close();
    this.element.replaceChildren();
    this.#tools.clear();
    this.#last = undefined;
  }

  /** The next piece of a message; a new one when somebody else spoke, or its id says so. */
  chunk(kind, content, messageId) {
    const who = WHO[kind];
    const same = this.#last?.who === who && (messageId ?? null) === (this.#last.messageId ?? null);
    const stays = this.#atEnd();
    if (!same) this.#last = this.#begin(who, messageId);
    const { place } = this.#last;
    if (content.type === "text") {
      this.#last.text += content.text;
      showMarkdownSoon(place, this.#last.text);
    } else {
      place.parentElement.append(drawBlock(content));
    }
    if (stays) this.#toEnd();
  }

  #begin(who, messageId) {
    const place = make("div", { className: "markdown" });
    const message =
      who === "thought"
        ? make("details", { className: "thought" }, make("summary", {}, "Thoughts"), place)
        : make("article", { className: who, ariaLabel: who === "user" ? "You" : "Agent" }, place);
    this.element.append(message);
    return { who, messageId, place, text: "" };
  }

  /** What the user has sent, as the agent would tell it later. */
  said(text) {
    this.#last = undefined;
    this.chunk("user_message_chunk", { type: "text", text });
    this.#last = undefined;
    this.#toEnd();
  }

  /** A tool call or what became of it. */
  tool(update) {
    const stays = this.#atEnd();
    this.#card(update).update(update);
    if (stays) this.#toEnd();
  }

  /** Asks whether a tool call may go on: the id of an option, or undefined. */
  ask({ toolCall, options, signal }) {
    const stays = this.#atEnd();
    const choice = this.#card(toolCall).ask(toolCall, options, signal);
    if (stays) this.#toEnd();
    return choice;
  }

  #card(update) {
    let card = this.#tools.get(update.toolCallId);
    if (!card) {
      card = new ToolCard();
      this.#tools.set(update.toolCallId, card);
      this.element.append(card.element);
      this.#last = undefined;
    }
    return card;
  }

  /** A line that is nobody's message. */
  note(text, className = "note") {
    this.#last = undefined;
    const stays = this.#atEnd();
    this.element.append(make("p", { className }, isolated(text)));
    if (stays) this.#toEnd();
  }

  #atEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < 80;
  }

  #toEnd() {
    requestAnimationFrame(() => (this.element.scrollTop = this.element.scrollHeight));
  }
}
