// The conversations that the full agent on the official SDK keeps.
import { randomUUID } from "node:crypto";

const PAGE = 2;

export class Conversation {
  id = randomUUID();
  mode = "ask";
  options = { model: "small", web: false };
  title = null;
  history = [];

  constructor(cwd, further, mcpServers) {
    Object.assign(this, { cwd, further, mcpServers });
  }

  add(sessionUpdate, blocks) {
    const messageId = `message-${this.history.length}`;
    this.history.push(...blocks.map((content) => ({ sessionUpdate, content, messageId })));
  }

  get modes() {
    return { currentModeId: this.mode, availableModes: [{ id: "ask", name: "Ask" }, { id: "code", name: "Code" }] };
  }

  configOptions(booleans) {
    const { model, web } = this.options;
    const values = ["small", "large", "huge"].map((value) => ({ value, name: value }));
    const select = { type: "select", id: "model", name: "Model", currentValue: model, options: values };
    return booleans ? [select, { type: "boolean", id: "web", name: "Web", currentValue: web }] : [select];
  }
}

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

  page(cwd, cursor) {
    const found = [...this.#all.values()].filter((each) => cwd == null || each.cwd === cwd);
    const begin = Number(cursor ?? 0);
    const sessions = found.slice(begin, begin + PAGE).map(({ id, cwd, title }) => ({ sessionId: id, cwd, title }));
    return found.length > begin + PAGE ? { sessions, nextCursor: String(begin + PAGE) } : { sessions };
  }
}
