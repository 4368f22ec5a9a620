// What the client really does for an agent: files, terminals, the user's choice.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";

export class Workspace {
  #terminals = new Map();
  #created = 0;

  perform(method, params) {
    const serve = this.#methods[method];
    if (serve === undefined) throw new Error(`${method} is not in the script`);
    return serve(params);
  }

  #methods = {
    "fs/read_text_file": async ({ path, line, limit }) => {
      const lines = (await readFile(path, "utf8")).split(/(?<=\n)/);
      const start = (line ?? 1) - 1;
      return { content: lines.slice(start, start + (limit ?? lines.length)).join("") };
    },
    "fs/write_text_file": async ({ path, content }) => {
      await writeFile(path, content);
      return {};
    },
    "session/request_permission": ({ options }) => {
      const option = options.find(({ kind }) => kind === "allow_once");
      return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
    },
    "terminal/create": async ({ command, args, env, cwd, outputByteLimit }) => {
      const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
      const stdio = ["ignore", "pipe", "pipe"];
      const child = spawn(command, args ?? [], { cwd: cwd ?? undefined, env: { ...process.env, ...added }, stdio });
      const terminal = { child, output: Buffer.alloc(0), truncated: false, status: undefined };
      const keep = (data) => {
        const all = Buffer.concat([terminal.output, data]);
        const over = outputByteLimit == null ? 0 : Math.max(0, all.length - outputByteLimit);
        terminal.truncated ||= over > 0;
        terminal.output = all.subarray(characterFrom(all, over));
      };
      child.stdout.on("data", keep);
      child.stderr.on("data", keep);
      terminal.ended = once(child, "close").then(([exitCode, signal]) => (terminal.status = { exitCode, signal }));
      await once(child, "spawn");
      this.#created += 1;
      const terminalId = `term-${this.#created}`;
      this.#terminals.set(terminalId, terminal);
      return { terminalId };
    },
    "terminal/wait_for_exit": (params) => this.#terminal(params).ended,
    "terminal/output": (params) => {
      const { output, truncated, status } = this.#terminal(params);
      return { output: output.toString(), truncated, exitStatus: status ?? null };
    },
    "terminal/release": (params) => {
      this.#terminal(params).child.kill();
      this.#terminals.delete(params.terminalId);
      return {};
    },
    "_libacp.dev/echo": (params) => params,
  };

  #terminal({ terminalId }) {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined) throw new Error(`there is no terminal ${terminalId}`);
    return terminal;
  }
}

/** The first place from `at` on where a character of UTF-8 begins. */
function characterFrom(bytes, at) {
  while (at > 0 && at < bytes.length && (bytes[at] & 0xc0) === 0x80) at += 1;
  return at;
}
