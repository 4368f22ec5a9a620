// What the user is asked: the agent's requests for permission and its elicitations, as the view lists them, and what the page
// itself asks before it writes a file or runs a command. Those about one tool call come one after another, each with what it
// says itself.

import { byId, isolated, make } from "./dom.js";
import { elicitation, waitingFor } from "./elicitation.js";
import { drawData, Items } from "./items.js";
import { Question } from "./permission.js";

/** Where an agent offers nothing to choose: an answer that chooses nothing. */
const DISMISS = [{ optionId: null, name: "Dismiss", kind: "reject_once" }];

/** A question with its text and buttons. `about` is what is asked: a title, content, and options. */
class Card {
  #buttons = make("div", { className: "permission" });
  #items = new Items();
  #question;

  constructor({ title, content = [], rawInput, element }, options, context, choose) {
    this.element = make("div", { className: "question", role: "group", ariaLabel: "Question" });
    const data = rawInput && content.length === 0 ? make("details", { open: true }, make("summary", {}, "Input"), drawData(rawInput)) : undefined;
    this.element.append(make("p", { className: "asked" }, isolated(title)), this.#items.element, ...[data, element].filter(Boolean), this.#buttons);
    this.#items.advance(content, {}, Infinity, context);
    this.options = options;
    this.choose = choose;
  }

  /** Puts it somewhere, where it is not there yet. */
  put(place) {
    const focus = this.element.contains(document.activeElement) ? document.activeElement : undefined;
    if (this.element.parentElement !== place) place.append(this.element);
    focus?.focus({ preventScroll: true });
    this.#question ??= new Question(this.#buttons, this.options, this.choose);
  }

  /** What it is about has changed. */
  again() {
    this.#question?.again();
  }

  end() {
    this.#question?.end();
    this.element.remove();
  }
}

export class Questions {
  /** Questions of agents without an answer, by session and id. */
  #requests = new Map();
  #own = [];
  #cards = new Map();
  /** Pages that the user was sent to, by the ids of their elicitations. */
  #pages = new Map();
  #session;
  #view;

  constructor(conversation) {
    this.conversation = conversation;
    this.place = byId("asks");
  }

  /** Asks what an agent's request asks: the id of an option, or nothing once its signal has stopped. */
  ask(request) {
    const { session, id, signal } = request;
    const options = request.options.length > 0 ? request.options : DISMISS;
    return this.#wait({ session, id, signal, options, about: (tool) => aboutTool(request, tool), take: (optionId) => optionId });
  }

  /** Asks what an elicitation asks: its answer. It belongs to a session, or to a call that opens one or logs in. */
  async elicit(subject, params, { id, signal }) {
    const session = params.sessionId === undefined ? undefined : subject;
    const { about, options, take } = elicitation(params, (url) => this.#pages.set(params.elicitationId, { session, note: waitingFor(url) }));
    const answer = await this.#wait({ session, id, signal, options, about: () => about, take });
    return answer ?? { action: "cancel" };
  }

  /** What was to be done on a page is done. */
  completed(elicitationId) {
    this.#pages.get(elicitationId)?.note.remove();
    this.#pages.delete(elicitationId);
  }

  /** The agent is gone, and waits for nothing. */
  left() {
    for (const id of this.#pages.keys()) this.completed(id);
  }

  #wait({ session, id, signal, options, about, take }) {
    const key = keyOf(session, typeof id === "bigint" ? id : JSON.stringify(id));
    return new Promise((resolve) => {
      const end = (answer) => {
        this.#requests.delete(key);
        resolve(answer);
        // The next one about the same tool call takes its place at once.
        this.draw(this.#session);
      };
      const answer = (optionId) => {
        const taken = take(optionId);
        if (taken !== undefined) end(taken);
      };
      signal.addEventListener("abort", () => end(), { once: true });
      if (signal.aborted) return end();
      this.#requests.set(key, { key, session, about, options, answer });
      this.conversation.soon();
      return undefined;
    });
  }

  /** Asks for consent to something that the page does for the agent of a session: whether it may. */
  async consent(session, about, signal) {
    const options = [
      { optionId: "no", name: "Refuse", kind: "reject_once" },
      { optionId: "yes", name: about.does, kind: "allow_once" },
    ];
    const asked = Promise.withResolvers();
    const own = { key: Symbol("own"), session, about, options, answer: asked.resolve };
    const stop = () => asked.resolve();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#own.push(own);
    this.conversation.soon();
    const choice = await asked.promise;
    signal.removeEventListener("abort", stop);
    this.#own.splice(this.#own.indexOf(own), 1);
    this.conversation.soon();
    return choice === "yes";
  }

  /** How many questions of a session wait, on display or not. */
  waiting(session) {
    return this.#own.filter((own) => own.session === session).length + (session.view?.questions.length ?? 0);
  }

  /** Draws the questions of a session, once its entries are drawn; without a session, those that belong to none. */
  draw(session) {
    this.#session = session;
    this.#view = session?.view;
    const due = [...this.#due()];
    for (const [key, { card }] of this.#cards) {
      if (due.some((one) => one.key === key)) continue;
      card.end();
      this.#cards.delete(key);
    }
    for (const { key, about, options, answer, tool, toolCallId } of due) {
      let known = this.#cards.get(key);
      if (!known) {
        known = { card: new Card(about, options, this.conversation.context, answer), tool };
        this.#cards.set(key, known);
      }
      known.card.put((toolCallId && this.conversation.slot(toolCallId)) || this.place);
      if (known.tool !== tool) known.card.again();
      known.tool = tool;
    }
    this.#drawPages();
  }

  /** The questions that are shown now. */
  *#due() {
    const seen = new Set();
    for (const { id, toolCallId } of this.#view?.questions ?? []) {
      const key = keyOf(this.#session, id);
      const known = this.#requests.get(key);
      if (!known || seen.has(toolCallId ?? key)) continue;
      seen.add(toolCallId ?? key);
      const tool = toolCallId ? this.#view.entries.findLast((entry) => entry.type === "tool_call" && entry.id === toolCallId) : undefined;
      yield { ...known, about: known.about(tool), toolCallId, tool };
    }
    for (const known of this.#requests.values()) if (!known.session) yield { ...known, about: known.about() };
    for (const own of this.#own) {
      if (own.session !== this.#session) continue;
      yield own;
      return;
    }
  }

  /** Says which pages the agent waits for. */
  #drawPages() {
    for (const { session, note } of this.#pages.values()) {
      const isDue = !session || session === this.#session;
      if (isDue && note.parentElement !== this.place) this.place.prepend(note);
      if (!isDue) note.remove();
    }
  }
}

const keyOf = (session, id) => `${session?.id ?? ""}\n${id}`;

/** What a request for permission says itself is what is allowed; where it is silent, what was said of the tool call before. */
function aboutTool({ toolCall, title, description }, tool) {
  const content = [...(description ? [{ type: "text", text: description }] : []), ...(toolCall.content ?? [])];
  return { title: title ?? tool?.title ?? "The agent asks for permission", content, rawInput: toolCall.rawInput };
}
