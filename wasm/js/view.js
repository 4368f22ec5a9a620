// A session as a conversation, in objects that stay the same while they do not change. What each member does is said in
// view.d.ts; what a conversation has, in the core.
import { bellOf } from "./bell.js";

const NONE = Object.freeze([]);
/** What the facts are before anything was told of them. */
const FACTS = {
  state: "idle", stopReason: null, error: null, usage: null, turnUsage: null, title: null, updatedAt: null,
  configOptions: null, modes: null, commands: null, background: null, questions: NONE, prompts: NONE,
  replaying: false, frozen: false, turn: 0, trimmed: 0, dropped: 0,
};
const NOTHING = Object.freeze({ revision: 0, epoch: 0, ...FACTS, entries: NONE, terminals: NONE });
/** The content of an entry: what can be long, and grows. */
const CONTENT = { message: "blocks", compaction: "summary", tool_call: "content", terminal: "output" };
/** One id may be that of a thought as well, which comes last. */
const ROLES = ["agent", "user", "session", "thought"];

const isObject = (value) => typeof value === "object" && value !== null;
const textOf = (blocks) => blocks.map((block) => (block.type === "text" ? block.text : "")).join("");

/** Like what a listener of an event throws: nobody catches it, and it keeps no other from being called. */
const thrown = (error) => {
  setTimeout(() => {
    throw error;
  });
};

/** A value of JSON, frozen. What equals the value before it is that object, all of it or a part. */
function settled(value, before) {
  if (value === before || Object.isFrozen(value)) return value;
  const names = Object.keys(value);
  const other = isObject(before) && Array.isArray(before) === Array.isArray(value) ? before : NONE;
  let isSame = other === before && Object.keys(other).length === names.length;
  for (const name of names) {
    const known = Object.hasOwn(other, name) ? other[name] : undefined;
    value[name] = settled(value[name], known);
    isSame &&= value[name] === known;
  }
  return isSame ? before : Object.freeze(value);
}

/** Where the entry of an index stands, or would: lists are in the order of the indexes. */
function placeOf(list, index) {
  let [from, to] = [0, list.length];
  if (to === 0 || list[to - 1].index < index) return to;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle].index < index) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The indexes that the first list has and the second has not. */
function gone(before, now) {
  const last = before.at(-1);
  if (last === undefined || placeOf(now, last.index + 1) === before.length) return [];
  const kept = new Set(now.map(({ index }) => index));
  return before.map(({ index }) => index).filter((index) => !kept.has(index));
}

/** What is new in a snapshot since the one before; all of it, if it shows another conversation. */
function difference(before, now, reset) {
  const isNew = ({ revision }) => reset || revision > before.revision;
  const facts = Object.keys(FACTS).filter((name) => before === NOTHING || before[name] !== now[name]);
  return {
    revision: now.revision,
    epoch: now.epoch,
    reset,
    ...Object.fromEntries(facts.map((name) => [name, now[name]])),
    entries: now.entries.filter(isNew),
    terminals: now.terminals.filter(isNew),
    removed: reset ? [] : [...gone(before.entries, now.entries), ...gone(before.terminals, now.terminals)],
  };
}

export class SessionView {
  #source;
  #bell;
  #onError;
  #snapshot = NOTHING;
  /** What the bell had counted when the snapshot was made. */
  #count = -1;
  #listeners = new Set();
  /** The revision that the listeners were told last. */
  #told = 0;
  /** The connection has forgotten it: what it has next is another conversation. */
  #isLost = false;
  /** How often it was another one. */
  #generation = 0;
  #isOver = false;

  constructor(source, session, { onError = thrown } = {}) {
    const bell = bellOf(source);
    if (!bell) throw new TypeError("connection: expected a Connection or an Observer");
    if (!bell.isHeard) throw new TypeError("connection: it was made without the option view");
    if (typeof session !== "string") throw new TypeError("session: expected the id of a session");
    this.#source = source;
    this.#bell = bell;
    this.#onError = onError;
    this.session = session;
  }

  getSnapshot = () => {
    if (!this.#isOver && this.#count !== this.#bell.count && !this.#bell.isOver) this.#read();
    return this.#snapshot;
  };

  subscribe = (listener) => {
    if (typeof listener !== "function") throw new TypeError("subscribe: expected a function");
    return this.#listen({ listener });
  };

  async *changes({ signal } = {}) {
    let wake;
    let [before, generation] = [NOTHING, -1];
    const woken = () => wake?.();
    const unlisten = this.#listen({ listener: woken, hearsAll: true });
    signal?.addEventListener("abort", woken);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const now = this.getSnapshot();
        const isOther = generation !== this.#generation;
        if (isOther || now !== before) {
          const changes = difference(before, now, isOther || before.epoch !== now.epoch);
          [before, generation] = [now, this.#generation];
          yield changes;
        } else if (this.#isDone) {
          return;
        } else {
          await new Promise((resolve) => (wake = resolve));
        }
      }
    } finally {
      signal?.removeEventListener("abort", woken);
      unlisten();
    }
  }

  message(id) {
    const { entries } = this.getSnapshot();
    for (const role of ROLES) {
      const found = entries.findLast((entry) => entry.type === "message" && entry.id === id && entry.role === role);
      if (found) return found;
    }
    return undefined;
  }

  tool(id) {
    return this.#find("tool_call", id);
  }

  plan(id = "main") {
    return this.#find("plan", id);
  }

  terminal(id) {
    return this.getSnapshot().terminals.findLast((terminal) => terminal.id === id);
  }

  forget() {
    this.getSnapshot();
    const isForgotten = !this.#bell.isOver && this.#source.forgetView(this.session);
    if (isForgotten) this._end();
    return isForgotten;
  }

  static {
    for (const name of Object.keys(NOTHING)) {
      Object.defineProperty(this.prototype, name, {
        get() {
          return this.getSnapshot()[name];
        },
      });
    }
  }

  #find(type, id) {
    return this.getSnapshot().entries.findLast((entry) => entry.type === type && entry.id === id);
  }

  /** One function may be given twice, so each time is an object of its own. */
  #listen(one) {
    if (this.#listeners.size === 0 && !this.#isOver && !this.#bell.isOver) {
      this.#told = this.#revision;
      this.#bell.add(this);
    }
    this.#listeners.add(one);
    return () => {
      this.#listeners.delete(one);
      if (this.#listeners.size === 0) this.#bell.delete(this);
    };
  }

  get #revision() {
    return this.#source.viewRevision(this.session) ?? this.#told;
  }

  /** Whether nothing changes any more. */
  get #isDone() {
    return this.#isOver || this.#bell.isOver || this.#snapshot.frozen || this.#source.phase === "closed";
  }

  /** Something has happened to the connection. */
  _heard() {
    const revision = this.#revision;
    const isChanged = revision !== this.#told;
    this.#told = revision;
    this.#tell(isChanged);
  }

  /** The session is over: what there is now stays. */
  _end() {
    const isChanged = this.getSnapshot().revision !== this.#told;
    this.#isOver = true;
    this.#bell.delete(this);
    queueMicrotask(() => this.#tell(isChanged));
  }

  #tell(isChanged) {
    for (const one of [...this.#listeners]) {
      if (!this.#listeners.has(one) || !(isChanged || one.hearsAll)) continue;
      try {
        one.listener();
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #read() {
    this.#count = this.#bell.count;
    const revision = this.#source.viewRevision(this.session);
    this.#isLost ||= revision === undefined && this.#snapshot !== NOTHING;
    if (revision === undefined || (revision === this.#snapshot.revision && !this.#isLost)) return;
    const isOther = this.#isLost || revision < this.#snapshot.revision;
    const before = isOther ? NOTHING : this.#snapshot;
    this.#isLost = false;
    this.#generation += Number(isOther);
    const { first, removed, reset, entries, terminals, ...told } = this.#source.viewSince(this.session, before.revision);
    const without = new Set(removed);
    const list = (kept, heads) => this.#list(reset ? NONE : kept, heads, first, without);
    for (const name of Object.keys(told)) told[name] = settled(told[name], before[name]);
    this.#snapshot = Object.freeze({
      ...before,
      ...told,
      entries: list(before.entries, entries),
      terminals: list(before.terminals, terminals),
    });
  }

  #list(before, heads, first, without) {
    const isWhole = without.size === 0 && !(before[0]?.index < first);
    if (isWhole && heads.length === 0) return before;
    // Spread: of a frozen list, `slice` makes one that is slow to freeze.
    const list = isWhole ? [...before] : before.filter(({ index }) => index >= first && !without.has(index));
    if (list.length === before.length && heads.length === 0) return before;
    for (const head of heads) {
      const place = placeOf(list, head.index);
      list[place] = this.#entry(head, list[place]);
    }
    return Object.freeze(list);
  }

  /** An entry, from what there is of it beside its content, and from what it was. */
  #entry(head, before) {
    const name = CONTENT[head.type];
    if (name) this.#fill(head, name, before);
    return settled(head, before);
  }

  #fill(head, name, before) {
    if (before?.end === head.end) {
      for (const member of [name, "before", "text"]) if (member in before) head[member] = before[member];
      return;
    }
    const { from, continues, before: cut, [name]: more } = this.#source.viewContent(this.session, head.index, before?.end ?? 0);
    const known = from === 0 ? undefined : before;
    if (name === "output") {
      head.output = known ? known.output + more : more;
      head.before = cut;
      return;
    }
    head[name] = known ? [...known[name], ...more] : more;
    if (known && continues && more.length > 0) {
      const at = known[name].length - 1;
      const [last, { text }] = head[name].slice(at);
      head[name].splice(at, 2, { ...last, text: last.text + text });
    }
    if (name === "content") return;
    // One text, where there is one: both are read in one piece then.
    const [only] = head[name];
    const isOne = head[name].length === 1 && only.type === "text";
    head.text = isOne ? only.text : (known?.text ?? "") + textOf(more);
  }
}
