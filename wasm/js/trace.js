// What crosses the transport, as the host wants to see it.
import { Log } from "./log.js";

/** Opens what a path or the environment names; there is none where there are no files. */
let file;

/** Said by the entry for Node: `open(path)` gives a function that takes lines, and `path()` what the environment says. */
export function tracesTo(how) {
  file = how;
}

function sink(trace) {
  if (typeof trace === "function") return trace;
  const path = trace ?? file?.path();
  if (path === undefined || path === false) return undefined;
  if (typeof path !== "string" || !file) throw new TypeError("trace: expected a function, or under Node a path");
  return file.open(path);
}

/** Gives on whole messages, one by one; only one that is not split can be told in one piece. */
function lines(direction, tell, whole) {
  // A character may be split between two pieces.
  const decoder = new TextDecoder();
  const text = (data) => (typeof data === "string" ? data : decoder.decode(data, { stream: !whole }));
  let rest = "";
  return (data) => {
    if (whole) return tell(direction, text(data).trimEnd());
    const found = (rest + text(data)).split("\n");
    rest = found.pop();
    for (const line of found) if (line !== "") tell(direction, line);
    return undefined;
  };
}

/** The transport, with what it carries told to `trace`: `sent` or `received`, and the message. */
export function traced(transport, trace) {
  const to = sink(trace);
  if (!to) return transport;
  const log = new Log();
  const tell = (direction, message) => {
    try {
      to(direction, message);
    } catch (error) {
      log.failed("trace: the function has failed", error);
    }
  };
  const whole = transport.framing === "messages";
  const [sent, received] = [lines("sent", tell, whole), lines("received", tell, whole)];
  return {
    readable: heard(transport.readable, received),
    write(bytes) {
      sent(bytes);
      return transport.write(bytes);
    },
    close: () => transport.close(),
  };
}

async function* heard(readable, received) {
  for await (const chunk of readable) {
    received(chunk);
    yield chunk;
  }
}
