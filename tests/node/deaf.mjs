// Programs of the memory test: `agent` asks for a file so many times and reads nothing until it gets SIGUSR2, `neighbour`
// answers, and `client` serves both, and tells of its memory and of the neighbour's round trips.
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [role, path, count, wanted] = process.argv.slice(2);

const SHOWN = 200;

/** A peer in plain JSON: of each message it sees the beginning and the size. */
function plain(answer) {
  const say = (message) => writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let [head, size] = ["", 0];
  process.stdin.on("data", (chunk) => {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (size < SHOWN) head += part.toString("latin1", 0, SHOWN);
      size += part.length;
      from += part.length + 1;
      if (end < 0) break;
      const id = Number(/"id":(\d+)/.exec(head)?.[1] ?? NaN);
      answer({ id, method: /"method":"([^"]+)"/.exec(head)?.[1], size }, say);
      [head, size] = ["", 0];
    }
  });
}

const OPENING = {
  initialize: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] },
  "session/new": { sessionId: "s" },
};

const programs = {
  neighbour() {
    plain(({ id, method }, say) => say({ id, result: OPENING[method] ?? {} }));
  },

  agent() {
    const answers = new Map();
    plain(({ id, method, size }, say) => {
      if (method !== undefined) say({ id, result: OPENING[method] ?? {} });
      else answers.set(id, size);
      if (answers.size === Number(wanted)) say({ method: "_done", params: { sizes: [...answers.values()] } });
      if (method !== "_begin") return;
      // It reads no more, and stays.
      setInterval(() => {}, 1000);
      process.stdin.pause();
      for (let index = 1; index <= Number(count); index += 1) {
        say({ id: index, method: "fs/read_text_file", params: { sessionId: "s", path } });
      }
    });
    process.on("SIGUSR2", () => process.stdin.resume());
  },

  async client() {
    const { Client, Files, spawnAgent } = await import(pathToFileURL(join(process.env.LIBACP_FOLDER, "client.mjs")).href);
    const start = (which, client) => spawnAgent([process.execPath, import.meta.filename, which, path, count, wanted], client);
    const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
    let over;
    const done = new Promise((resolve) => (over = resolve));
    const client = new Client("c", "1", { files: new Files() }).on("_done", (_, { sizes }) => over(sizes));
    const [agent, neighbour] = [await start("agent", client), await start("neighbour")];
    const cwd = join(path, "..");
    await agent.newSession(cwd);
    const trips = [];
    const peaks = [];
    let [before, peak, running] = [0, 0, true];
    const watching = (async () => {
      while (running) {
        const begun = performance.now();
        await neighbour.request("_ping", {});
        trips.push(performance.now() - begun);
        peak = Math.max(peak, memory());
        await pause(2);
      }
    })();
    // What a program takes that runs for a while is not what the agent costs.
    while (trips.length < 400) await pause(10);
    trips.length = 0;
    [before, peak] = [memory(), 0];
    await agent.request("_begin", {});
    // It has asked for everything, and the client has done what it does without being read.
    await pause(4000);
    peaks.push(peak - before);
    const deaf = trips.splice(0);
    agent.process.kill("SIGUSR2");
    const sizes = await done;
    peaks.push(peak - before);
    running = false;
    await watching;
    const p99 = [deaf, trips].map((all) => all.sort((one, other) => one - other)[Math.floor(all.length * 0.99)]);
    console.log(JSON.stringify({ before, peaks, answers: sizes.length, least: Math.min(...sizes), p99, trips: [deaf.length, trips.length] }));
    await Promise.all([agent.close(), neighbour.close()]);
  },
};

await programs[role]();
