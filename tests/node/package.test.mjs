// What is in the package, how it is found, and its types.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = process.env.LIBACP_FOLDER;
const root = join(folder, "node_modules/libacp");
const require = createRequire(join(folder, "index.js"));

test("each export is a file of the package, and nothing else is in it", () => {
  const { exports, name, license } = JSON.parse(readFileSync(require.resolve("libacp/package.json"), "utf8"));
  assert.deepEqual([name, license], ["libacp", "Apache-2.0 OR MIT"]);
  const targets = Object.values(exports).flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)));
  for (const target of targets) assert.ok(existsSync(join(root, target)), target);
  const files = readdirSync(join(root, "dist")).filter((file) => !file.startsWith("LICENSE-"));
  for (const file of files) assert.match(file, /^[\w.]+\.(js|d\.ts|wasm)$/);
});

test("the raw module is exported, and imports only its glue", async () => {
  const module = await WebAssembly.compile(readFileSync(require.resolve("libacp/wasm")));
  const sources = new Set(WebAssembly.Module.imports(module).map(({ module }) => module));
  assert.deepEqual([...sources], ["./libacp_core_bg.js"]);
});

test("the browser's entry waits for init, and loads once", async () => {
  const script = `
    import { Connection, init } from "./node_modules/libacp/dist/browser.js";
    import { readFileSync } from "node:fs";
    const make = () => new Connection({ role: "client" });
    try { make(); process.exit(1); } catch (error) { if (!/init/.test(error.message)) throw error; }
    await init(new Response("no module", { headers: { "content-type": "application/wasm" } })).then(() => process.exit(2), () => {});
    const first = init(readFileSync("node_modules/libacp/dist/libacp_core_bg.wasm"));
    if (first !== init()) process.exit(3);
    await first;
    console.log(make().phase);`;
  writeFileSync(join(folder, "browser.mjs"), script);
  assert.equal(execFileSync(process.execPath, ["browser.mjs"], { cwd: folder, encoding: "utf8" }), "start\n");
});

test("the entry for clients alone refuses agents and drafts, and serves clients", () => {
  const script = `
    import assert from "node:assert/strict";
    import { readFileSync } from "node:fs";
    import { Client, connect, cutOutput, init } from "./node_modules/libacp/dist/client.only.js";
    import { Connection } from "./node_modules/libacp/dist/connection.js";
    await init(readFileSync("node_modules/libacp/dist/libacp_client_bg.wasm"));
    assert.throws(() => new Connection({ role: "agent" }), /^TypeError: role: .* no agents/);
    assert.throws(() => new Connection({ role: "client", drafts: ["nes"] }), /^TypeError: drafts: .* none/);
    assert.deepEqual(cutOutput("abc", 2), { output: "bc", truncated: true });
    let tell, end;
    const asked = new Promise((resolve) => (tell = resolve));
    const over = new Promise((resolve) => (end = resolve));
    const transport = {
      write: (bytes) => tell(JSON.parse(new TextDecoder().decode(bytes))),
      close: () => end(),
      readable: (async function* () {
        const result = { protocolVersion: 1, agentInfo: { name: "a", version: "1" } };
        yield JSON.stringify({ jsonrpc: "2.0", id: (await asked).id, result }) + "\\n";
        await over;
      })(),
    };
    const agent = await connect(transport, new Client("c", "1"));
    assert.equal((await asked).method, "initialize");
    assert.equal(agent.version, 1);
    assert.throws(() => agent.connection.request("session/update", {}), /RPC-27/);
    await agent.close();`;
  writeFileSync(join(folder, "only.mjs"), script);
  execFileSync(process.execPath, ["only.mjs"], { cwd: folder, encoding: "utf8", stdio: "pipe" });
});

test("in a browser, what cannot work is refused once the module is there", () => {
  const script = `
    import assert from "node:assert/strict";
    import { readFileSync } from "node:fs";
    import { Agent } from "./node_modules/libacp/dist/agent.browser.js";
    import { Client, PermissionPolicy, connect, init } from "./node_modules/libacp/dist/client.browser.js";
    const transport = () => ({ readable: (async function* () {})(), write() {}, close() {} });
    const agent = new Agent("a", "1").on("session/setmode", () => {});
    const client = new Client("c", "1", { policy: "lax" });
    const careful = new Client("c", "1", { permissionPolicy: { rules: [] } });
    assert.throws(() => new Client("c", "1", { polcy: "lax" }), /did you mean policy/);
    assert.throws(() => new PermissionPolicy({}), /init/);
    await init(readFileSync("node_modules/libacp/dist/libacp_core_bg.wasm"));
    await assert.rejects(agent.serve(transport()), /^TypeError: there is no method session.setmode; did you mean session.set_mode/);
    await assert.rejects(connect(transport(), client), /^TypeError: policy: expected/);
    await assert.rejects(connect(transport(), careful), /^TypeError: PermissionPolicy: the module for browsers has none/);
    assert.throws(() => new Agent("a", "1").on("session/setmode", () => {}), /did you mean/);
    console.log("refused");`;
  writeFileSync(join(folder, "refused.mjs"), script);
  assert.equal(execFileSync(process.execPath, ["refused.mjs"], { cwd: folder, encoding: "utf8" }), "refused\n");
});

test("each way to resolve modules finds the right types", () => {
  const attw = createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json");
  const options = ["--profile", "esm-only", "--exclude-entrypoints", "wasm", "wasm/client", "wasm/node", "http/wasm", "package.json", "--no-emoji", "--format", "ascii"];
  const program = join(attw, "../dist/index.js");
  try {
    execFileSync(process.execPath, [program, process.env.LIBACP_TARBALL, ...options], { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    assert.fail(error.stdout || error.stderr);
  }
});

for (const [resolution, module] of [["node16", "node16"], ["bundler", "es2022"]]) {
  test(`strict hosts compile, with modules resolved as ${resolution} does`, () => {
    const hosts = ["usage.ts", "host.ts"];
    for (const host of hosts) copyFileSync(fileURLToPath(new URL(host, import.meta.url)), join(folder, host));
    const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
    const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"];
    const target = ["--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", module, "--moduleResolution", resolution];
    try {
      execFileSync(process.execPath, [tsc, ...options, ...target, ...hosts], { cwd: folder, encoding: "utf8" });
    } catch (error) {
      assert.fail(error.stdout);
    }
  });
}

test("hosts compile with the types of Node in the place of a browser's", () => {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const types = fileURLToPath(new URL("node_modules/@types", import.meta.url));
  writeFileSync(
    join(folder, "node.ts"),
    `import { spawn } from "node:child_process";
    import { Readable, Writable } from "node:stream";
    import { MessageChannel } from "node:worker_threads";
    import { Agent, childProcess, messagePort, nodeStreams, streams } from "libacp/agent";
    import { connect } from "libacp/client";
    const agent = new Agent("a");
    await agent.serve(nodeStreams(process.stdin, process.stdout));
    await agent.serve(streams(Readable.toWeb(process.stdin), Writable.toWeb(process.stdout)));
    await agent.serve(messagePort(new MessageChannel().port1));
    const { process: child } = childProcess(spawn("x", { stdio: ["pipe", "pipe", "inherit"] }));
    const pid: number | undefined = child.pid;
    await connect(childProcess(spawn("x")));
    console.log(pid);`,
  );
  copyFileSync(fileURLToPath(new URL("remote.ts", import.meta.url)), join(folder, "remote.ts"));
  const options = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022", "--module", "node16", "--types", "node", "--typeRoots", types];
  try {
    execFileSync(process.execPath, [tsc, ...options, "node.ts", "remote.ts"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
});
