// The observer as JavaScript has it. What each member does is said in index.d.ts; what it means, in the core.
import { Bell } from "./bell.js";
import { OTHER, asSession, begin, bytesOf, textOf, theBorder, wholeText } from "./connection.js";
import { observed } from "./getters.js";
import { parse } from "./json.js";

// As the core counts them.
const ROLE = ["client", "agent"];
const PHASE = ["start", "initializing", "ready", "closed"];
const [BUFFERED, IN_PHASE, VERSION] = [0, 1, 2];
const [CAPABILITIES, OPEN_REQUESTS, SESSIONS, SESSION, SESSION_SNAPSHOT, SNAPSHOT] = [0, 1, 2, 3, 4, 5];
/** What a connection decides and an observer does not. */
const OF_A_HOST = ["role", "timeout", "cancelGrace", "reminder", "handlers"];
const DEFAULTS = { role: "client", versions: [1, 2] };

function sideOf(value) {
  const side = ROLE.indexOf(value);
  if (side < 0) throw new TypeError('side: expected "client" or "agent"');
  return side;
}

export class Observer {
  #border;
  #core;
  /** What comes in must stay together. */
  #whole;
  /** The session of the last event that had to say one. */
  #session;
  #bell;

  constructor(options = {}) {
    const { framing, view } = begin(options, OF_A_HOST, DEFAULTS);
    this.#whole = framing === "messages";
    this.#bell = new Bell(this, view);
    this.#border = theBorder();
    this.#core = new this.#border.glue.Watch();
  }

  get #live() {
    if (!this.#core) throw new TypeError("this observer has been freed");
    return this.#core;
  }

  receive(from, data) {
    const [side, bytes, core] = [sideOf(from), bytesOf(data), this.#live];
    this.#border.give({ receive: (size) => core.receive(side, size) }, bytes, this.#whole);
  }

  receiveEof(from) {
    this.#live.receiveEof(sideOf(from));
  }

  pollEvent() {
    const core = this.#live;
    this.#bell.ring();
    const found = core.pollEvent();
    if (found === 0) return undefined;
    const from = ROLE[core.from()];
    if (found === OTHER) return { from, event: core.event() };
    const event = this.#border.event(found, this.#session);
    this.#session = event.session;
    return { from, event };
  }

  *events() {
    for (let seen; (seen = this.pollEvent()); ) yield seen;
  }

  get buffered() {
    return this.#live.number(BUFFERED);
  }

  get version() {
    const version = this.#live.number(VERSION);
    return Number.isNaN(version) ? undefined : version;
  }

  get phase() {
    return PHASE[this.#live.number(IN_PHASE)];
  }

  capabilities(of) {
    return this.#text(CAPABILITIES, sideOf(of));
  }

  openRequests(of) {
    return this.#text(OPEN_REQUESTS, sideOf(of));
  }

  sessions() {
    const sessions = Object.entries(this.#text(SESSIONS));
    return new Map(sessions.map(([id, session]) => [id, asSession(session)]));
  }

  session(id) {
    return asSession(this.#text(SESSION, 0, textOf(id, "id")));
  }

  sessionSnapshot(id) {
    return asSession(this.#text(SESSION_SNAPSHOT, 0, textOf(id, "id")));
  }

  snapshot() {
    return this.#text(SNAPSHOT);
  }

  free() {
    this.#bell.end();
    this.#core?.free();
    this.#core = undefined;
  }

  static {
    if (Symbol.dispose) this.prototype[Symbol.dispose] = this.prototype.free;
    const said = (observer, texts) => {
      const core = observer.#live;
      observer.#border.say(...texts);
      return core;
    };
    const text = (observer, place, ...texts) => (said(observer, texts).asked(place) ? observer.#border.told() : undefined);
    const value = (observer, place, ...texts) => {
      const found = text(observer, place, ...texts);
      return found === undefined ? undefined : parse(found);
    };
    const numberOf = (observer, place, ...texts) => said(observer, texts).numberOf(place);
    const asked = observed({ numberOf, text, value, textOf, wholeText });
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(asked))) {
      Object.defineProperty(this.prototype, name, { ...member, enumerable: false });
    }
  }

  #text(place, of = 0, ...texts) {
    const core = this.#live;
    this.#border.say(...texts);
    return core.text(place, of) ? parse(this.#border.told()) : undefined;
  }
}
