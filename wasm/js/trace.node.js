// Traces of the wire in files.
import { appendFileSync } from "node:fs";
import { tracesTo } from "./trace.js";

tracesTo({
  path: () => process.env.LIBACP_TRACE || undefined,
  // At once, so that the last line before a crash is there; whoever traces is no longer in a hurry.
  open: (path) => (direction, message) => {
    const line = [new Date().toISOString(), process.pid, direction === "sent" ? "->" : "<-", message].join(" ");
    appendFileSync(path, `${line}\n`, { mode: 0o600 });
  },
});
