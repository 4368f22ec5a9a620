// The thread that a proxy runs on: one instance of its module, which imports nothing and cannot grow beyond its limit.

import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const PAGE = 65536;
const CLIENT = 0;
const AGENT = 1;

/** The module with an upper bound on its memory: WebAssembly leaves that to the memory's declaration. */
function bounded(bytes, limit) {
  const number = (at) => {
    let value = 0;
    for (let shift = 0; ; shift += 7, at++) {
      value += (bytes[at] & 0x7f) * 2 ** shift;
      if (bytes[at] < 0x80) return [value, at + 1];
    }
  };
  const encoded = (value) => {
    const out = [];
    for (; value > 0x7f; value = Math.floor(value / 128)) out.push((value & 0x7f) | 0x80);
    return [...out, value];
  };
  // Behind eight bytes of magic and version: sections, each with its kind and its size. 5 is the memories.
  for (let at = 8; at < bytes.length; ) {
    const [size, body] = number(at + 1);
    if (bytes[at] === 5) {
      const [count, first] = number(body);
      const [least] = number(first + 1);
      if (count !== 1 || least * PAGE > limit) throw new Error("it wants more memory than it may have");
      const section = [1, 1, ...encoded(least), ...encoded(Math.floor(limit / PAGE))];
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([5, ...encoded(section.length), ...section]), bytes.subarray(body + size)]);
    }
    at = body + size;
  }
  throw new Error("it has no memory");
}

let proxy;

function write(data) {
  const address = proxy.acp_proxy_input(data.length);
  new Uint8Array(proxy.memory.buffer, address, data.length).set(data);
}

function start() {
  const { module, rules, memory } = workerData;
  proxy = new WebAssembly.Instance(new WebAssembly.Module(bounded(readFileSync(module), memory))).exports;
  write(Buffer.from(rules));
  if (proxy.acp_proxy_start() !== 0) {
    const problem = new Uint8Array(proxy.memory.buffer, proxy.acp_proxy_problem(), proxy.acp_proxy_problem_size());
    throw new Error(`it does not accept the rules: ${new TextDecoder().decode(problem)}`);
  }
}

function output(side) {
  const size = proxy.acp_proxy_waiting(side);
  const data = Buffer.from(new Uint8Array(proxy.memory.buffer, proxy.acp_proxy_output(side), size));
  proxy.acp_proxy_consume(side, size);
  return data;
}

parentPort.on("message", ({ side, data }) => {
  try {
    if (!proxy) start();
    write(data);
    if (data.length > 0) proxy.acp_proxy_receive(side);
    else proxy.acp_proxy_receive_eof(side);
    parentPort.postMessage({ toClient: output(CLIENT), toAgent: output(AGENT) });
  } catch (error) {
    const failed = error instanceof WebAssembly.RuntimeError ? "it failed" : error.message;
    parentPort.postMessage({ failed });
  }
});
