// In which words requests for files and terminals are refused: those of tests/access/refusals.json, as in Python.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clientSide } from "./both.mjs";

const { Files, RequestError, Terminals } = clientSide;
const { most, made, files, terminals } = JSON.parse(readFileSync(new URL("../access/refusals.json", import.meta.url), "utf8"));
const skip = process.platform !== "linux";
const text = (given) => (Array.isArray(given) ? given[0].repeat(given[1]) + (given[2] ?? "") : given);

async function refusal(asked) {
  try {
    await asked();
  } catch (error) {
    assert.ok(error instanceof RequestError, error.stack);
    return { code: error.code, message: error.message };
  }
  return "nothing was refused";
}

test("files are refused in the words of the other languages", { skip }, async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "libacp-refusals-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const { file, folder, link, to, text: content, bytes } of made) {
    if (folder) mkdirSync(join(root, folder));
    else if (link) symlinkSync(to, join(root, link));
    else writeFileSync(join(root, file), content ?? Buffer.from(bytes));
  }
  const [host, session] = [new Files({ most }), { roots: [root] }];
  for (const { method, path, content = "", code, message } of files) {
    const params = { path: `${root}/${text(path)}`, content };
    const asked = () => (method === "fs/read_text_file" ? host.readTextFile(session, params) : host.writeTextFile(session, params));
    assert.deepEqual(await refusal(asked), { code, message }, JSON.stringify([method, path]));
  }
  assert.deepEqual(await refusal(() => host.readTextFile(session, { path: "there" })), await refusal(() => host.readTextFile(session, { path: "/" + "x" })));
});

test("commands are refused in the words of the other languages", { skip }, async () => {
  const [host, session] = [new Terminals({ most: 1 }), { cwd: "/" }];
  for (const { command, args = [], env, cwd, code, message } of terminals) {
    const params = { command: text(command), args: args.map(text), env: env && [env], cwd };
    assert.deepEqual(await refusal(() => host.create(session, params)), { code, message }, JSON.stringify([command, args, env, cwd]).slice(0, 200));
  }
  const missing = { code: -32002, message: "There is no such terminal" };
  for (const call of ["output", "waitForExit", "kill", "release"]) assert.deepEqual(await refusal(() => host[call](session, "none")), missing);
  const id = await host.create(session, { command: "sleep", args: ["60"] });
  assert.deepEqual(await refusal(() => host.create(session, { command: "true" })), { code: -32603, message: "There are 1 terminals already" });
  await host.release(session, id);
  // Those that are being started count as well.
  const both = await Promise.all([1, 2].map(() => refusal(() => host.create(session, { command: "true" }))));
  assert.deepEqual(both.filter((each) => typeof each !== "string"), [{ code: -32603, message: "There are 1 terminals already" }]);
  await host.end(session);
  assert.deepEqual(await refusal(() => host.create(session, { command: "true" })), { code: -32002, message: "The session is over" });
});
