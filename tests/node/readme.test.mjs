// The examples of the READMEs, as their readers would run them, and those of examples/node.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = join(process.env.LIBACP_FOLDER, "readme");
mkdirSync(folder, { recursive: true });
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const blocks = (path) => [...readFileSync(at(path), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
const run = (name, ...args) =>
  execFileSync(process.execPath, [name, ...args], { cwd: folder, encoding: "utf8", timeout: 20_000, input: "" });

test("the README of the project", () => {
  copyFileSync(at("docs/snippets/node/agent.mjs"), join(folder, "agent.mjs"));
  const said = blocks("README.md").map((code, index) => {
    writeFileSync(join(folder, `main-${index}.mjs`), code);
    return run(`main-${index}.mjs`);
  });
  assert.match(said[0], /protocolVersion: 1.*SESS-09: /s);
  assert.equal(said[1], "You said: Hello\n");
  assert.match(said[2], /^\[ 'hello' \]\n(.*\n)*\[ 'hello', 'Think about it', 'HELLO' \]\nend_turn\n$/);
  assert.equal(said.length, 3);
});

test("the README of the package: its client talks to its agent", () => {
  const [agent, client, remote, connection] = blocks("wasm/README.md");
  writeFileSync(join(folder, "agent.mjs"), agent);
  writeFileSync(join(folder, "client.mjs"), client);
  writeFileSync(join(folder, "remote.mjs"), remote);
  writeFileSync(join(folder, "connection.mjs"), connection);
  writeFileSync(join(folder, "notes.md"), "1234567");
  assert.equal(run("client.mjs"), "7 characters about everything\nend_turn\n");
  assert.match(run("remote.mjs"), /^connecting\n(connecting\n)?connected\nhello\nclosed\n$/);
  assert.match(run("connection.mjs"), /^response initialize \{/);
});

test("the same examples are right in strict TypeScript", () => {
  // The others use what only an option of theirs promises, or functions whose parameters have no types.
  const typed = { "README.md": [0, 1], "wasm/README.md": [0, 1, 2] };
  const names = Object.entries(typed).flatMap(([path, indexes]) =>
    indexes.map((index) => {
      const name = `${path.length}-${index}.mts`;
      writeFileSync(join(folder, name), blocks(path)[index]);
      return name;
    }),
  );
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const types = ["--types", "node", "--typeRoots", at("tests/node/node_modules/@types")];
  const options = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "node16", ...types];
  try {
    execFileSync(process.execPath, [tsc, ...options, ...names], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    assert.fail(error.stdout);
  }
});

test("what is copied serves two sessions, and clients that offer nothing", () => {
  writeFileSync(join(folder, "agent.mjs"), blocks("wasm/README.md")[0]);
  for (const name of ["agent.mjs", "short-agent.mjs", "said-agent.mjs"]) {
    const path = { "short-agent.mjs": "examples/node/short-agent.mjs", "said-agent.mjs": "docs/snippets/node/agent.mjs" }[name];
    if (path) copyFileSync(at(path), join(folder, name));
    rmSync(join(folder, "notes.md"), { force: true });
    writeFileSync(join(folder, "plain.mjs"), `
import { Client, Files, spawnAgent } from "libacp/client";
for (const client of [new Client(), new Client("c", "1", { files: new Files() })]) {
  const agent = await spawnAgent(["node", "${name}"], client);
  const sessions = [await agent.newSession(process.cwd()), await agent.newSession(process.cwd())];
  for (const session of sessions) {
    const turn = session.prompt("hello");
    const text = await turn.readText();
    console.log(turn.stopReason, text !== "");
  }
  await agent.close();
}
`);
    assert.equal(run("plain.mjs"), "end_turn true\n".repeat(4), name);
  }
});

test("an agent that is copied stops with its client", () => {
  writeFileSync(join(folder, "agent.mjs"), blocks("wasm/README.md")[0]);
  // Its input is closed at once.
  assert.equal(run("agent.mjs"), "");
});

test("the short examples", () => {
  for (const name of ["short-agent.mjs", "short-client.mjs"]) copyFileSync(at(`examples/node/${name}`), join(folder, name));
  writeFileSync(join(folder, "notes.md"), "one\ntwo\n");
  const said = run("short-client.mjs", "count the lines", "--", process.execPath, "short-agent.mjs");
  // A question may be put before what was told before it has been shown.
  assert.deepEqual(said.split("\n").filter((line) => line !== "wc wants to run; allowed"), [
    "[plan] read notes.md, count, answer",
    "[Read notes.md: in_progress]",
    "[Read notes.md: completed]",
    "[wc: pending]",
    "[wc: in_progress]",
    "[wc: completed]",
    "notes.md has 2 lines, and wc says 2 notes.md.",
    "(end_turn)",
    "",
  ]);
});
