// The conversations that the full agent keeps, and what a user can set in them.

export const MODES = { ask: "Ask before changes", code: "Change files at once" };
const MODELS = { Local: ["small", "large"], Hosted: ["huge"] };
const PAGE = 2;

const titled = (name) => name[0].toUpperCase() + name.slice(1);

/** What is left of a session when it is closed. */
export class Conversation {
  mode = "ask";
  options = { model: "small", web: false };
  title = null;
  history = [];

  constructor({ id, cwd, roots }) {
    Object.assign(this, { id, cwd, roots });
    this.touch();
  }

  /** Keeps a message. */
  add(sessionUpdate, blocks) {
    const messageId = `message-${this.history.length}`;
    this.history.push(...blocks.map((content) => ({ sessionUpdate, content, messageId })));
  }

  touch() {
    this.updated = new Date().toISOString();
  }

  /** As `session/list` has it. */
  get info() {
    const further = this.roots.slice(1);
    const info = { sessionId: this.id, cwd: this.cwd, title: this.title, updatedAt: this.updated };
    return further.length > 0 ? { ...info, additionalDirectories: further } : info;
  }

  get modes() {
    const availableModes = Object.entries(MODES).map(([id, description]) => ({ id, name: titled(id), description }));
    return { currentModeId: this.mode, availableModes };
  }

  /** All options; a client that does not take switches gets none. */
  configOptions(booleans) {
    const groups = Object.entries(MODELS).map(([name, models]) => ({
      group: name.toLowerCase(),
      name,
      options: models.map((value) => ({ value, name: titled(value) })),
    }));
    const { model, web } = this.options;
    const select = { type: "select", id: "model", name: "Model", category: "model", currentValue: model, options: groups };
    return booleans ? [select, { type: "boolean", id: "web", name: "Search the web", currentValue: web }] : [select];
  }

  /** Sets an option, if there is such a one. */
  set(id, value) {
    const fits = { model: () => Object.values(MODELS).flat().includes(value), web: () => typeof value === "boolean" };
    if (!Object.hasOwn(fits, id) || !fits[id]()) return false;
    this.options[id] = value;
    return true;
  }
}

/** All conversations, of all clients of this process. */
export class Store {
  #all = new Map();

  add(conversation) {
    this.#all.set(conversation.id, conversation);
  }

  find(id) {
    return this.#all.get(id);
  }

  remove(id) {
    this.#all.delete(id);
  }

  /** Some conversations, those of a directory or all, and where the next ones begin. */
  page(cwd, cursor) {
    const found = [...this.#all.values()].filter((each) => cwd == null || each.cwd === cwd);
    const begin = Number(cursor ?? 0);
    const sessions = found.slice(begin, begin + PAGE).map(({ info }) => info);
    return found.length > begin + PAGE ? { sessions, nextCursor: String(begin + PAGE) } : { sessions };
  }
}
