// A connection over two byte streams: all the I/O that a host on libacp needs. Read next: player.mjs.
import { writeSync } from "node:fs";
import { Connection } from "libacp";

/** Counts what passes in one direction, and on demand records each line. */
class Count {
  lines = 0;
  bytes = 0;
  #open = [];

  constructor(direction, trace) {
    Object.assign(this, { direction, trace });
  }

  add(data) {
    this.bytes += data.length;
    let start = 0;
    for (let end; (end = data.indexOf(10, start)) >= 0; start = end + 1) {
      this.lines += 1;
      this.#open.push(data.subarray(start, end));
      const line = this.#open.splice(0);
      if (this.trace === undefined) continue;
      const record = { d: this.direction, ms: Number(performance.now().toFixed(3)), s: Buffer.concat(line).toString() };
      writeSync(this.trace, `${JSON.stringify(record)}\n`);
    }
    if (start < data.length) this.#open.push(data.subarray(start));
  }
}

export class Wire {
  #input;
  #output;

  /** `trace` is an open file for a record of every line. */
  constructor(options, input, output, trace) {
    this.connection = new Connection(options);
    this.#input = input;
    this.#output = output;
    const [out, back] = options.role === "client" ? [">", "<"] : ["<", ">"];
    this.sent = new Count(out, trace);
    this.received = new Count(back, trace);
    output.on("drain", () => this.flush());
  }

  // ANCHOR: events
  /** Every event until the connection is over. */
  async *events() {
    for await (const data of this.#input) {
      this.received.add(data);
      this.connection.receive(data);
      yield* this.connection.events();
      this.flush();
    }
    this.connection.receiveEof();
    yield* this.connection.events();
  }

  /** Sends what waits, as far as the stream takes it. To be called after each call of the connection's. */
  flush() {
    while (!this.#output.writableNeedDrain) {
      const bytes = this.connection.transmit();
      if (bytes.length === 0) break;
      this.sent.add(bytes);
      this.#output.write(bytes);
      this.connection.consume(bytes.length);
    }
  }
  // ANCHOR_END: events
}
