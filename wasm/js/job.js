// What goes on for a connection and may be stopped: a request of the peer's while it is served, with what its handler is
// told of it, and work that an agent has begun by itself. Read next: peer.js.
import { stopper } from "./wire.js";

/** What a handler is told beside its params: a signal, which is made where somebody asks for it; room for its answer. */
class How {
  #job;

  constructor(job) {
    this.#job = job;
    Object.defineProperty(this, "signal", How.#signal);
  }

  get id() {
    return this.#job.request.id;
  }

  reserve(bytes) {
    return this.#job.budget.reserve(this.#job.share, bytes);
  }

  static #signal = {
    enumerable: true,
    get() {
      return this.#job.signal;
    },
  };
}

export class Task {
  /** Settles when it is over. */
  done;
  #stopper;

  get signal() {
    this.#stopper ??= stopper();
    return this.#stopper.signal;
  }

  stop(why) {
    this.#stopper ??= stopper();
    this.#stopper.abort(new DOMException(why, "AbortError"));
  }
}

/** A request of the peer's that is being served. */
export class Job extends Task {
  answered = false;
  /** What is to be done once the connection has taken the answer. */
  whenTaken = undefined;

  constructor(request, size, budget) {
    super();
    this.request = request;
    this.size = request.method === "fs/write_text_file" ? size : 0;
    this.budget = budget;
    this.share = budget.share(request.method);
  }

  get how() {
    return new How(this);
  }
}
