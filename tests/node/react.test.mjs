// examples/node/conversation.jsx in React itself.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Client, joined, later } from "./both.mjs";

const require = createRequire(import.meta.url);
const { createElement } = require("react");
const { act, create } = require("react-test-renderer");

const { outputFiles: [{ text: program }] } = await build({
  entryPoints: [fileURLToPath(new URL("../../examples/node/conversation.jsx", import.meta.url))],
  bundle: true,
  write: false,
  format: "cjs",
  external: ["react"],
  // Counts what is rendered: `counting/jsx-runtime` stands between the example and React.
  jsx: "automatic",
  jsxImportSource: "counting",
  plugins: [
    {
      name: "counting",
      setup(build) {
        build.onResolve({ filter: /^counting\// }, ({ path }) => ({ path, namespace: "counting" }));
        build.onLoad({ filter: /.*/, namespace: "counting" }, () => ({
          contents: `import * as react from "react/jsx-runtime";
            const counted = (make) => (type, props, key) => {
              if (typeof type === "string") globalThis.rendered.push(type + " " + (props.className ?? ""));
              return make(type, props, key);
            };
            export const [jsx, jsxs] = [counted(react.jsx), counted(react.jsxs)];`,
        }));
      },
    },
  ],
});
const example = { exports: {} };
new Function("require", "module", "exports", program)(require, example, example.exports);
const { Conversation } = example.exports;
globalThis.rendered = [];
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

/** What was rendered since it was asked last. */
function rendered() {
  const names = globalThis.rendered;
  globalThis.rendered = [];
  return names.map((name) => name.trim());
}

test("a component renders what has changed, and nothing else", async (t) => {
  const said = t.mock.method(console, "error", () => {});
  const [steps, done] = [[later(), later(), later()], [later(), later(), later()]];
  const { session } = await joined(
    t,
    async (turn) => {
      await turn.plan(["read", "answer"]);
      await turn.toolCall("Look", { kind: "read" }, () => {});
      await turn.message("One");
      for (const [at, step] of steps.entries()) {
        done[at].resolve();
        await step.promise;
        await turn.message(` more ${at}`);
      }
    },
    { client: new Client("c", "1", { view: true }) },
  );
  const until = (isThere) =>
    act(async () => {
      while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 1));
    });
  const text = () => session.view.entries.at(-1)?.text;
  rendered();
  let page;
  await act(() => (page = create(createElement(Conversation, { session }))));
  assert.deepEqual(rendered(), ["section"]);
  assert.deepEqual(page.toJSON().props, { "aria-busy": false });

  const turn = session.prompt("Hi").readText();
  await until(() => text() === "One");
  const shown = (node) => (typeof node === "string" ? node : `${node.type} ${node.props.className ?? ""}(${node.children?.map(shown)})`);
  assert.deepEqual(page.toJSON().children.map(shown), [
    "p user(Hi)", "ol (li pending(read),li pending(answer))", "p completed(Look)", "p agent(One)",
  ]);
  assert.equal(page.toJSON().props["aria-busy"], true);
  rendered();

  for (const [at, step] of steps.entries()) {
    step.resolve();
    await until(() => text()?.endsWith(` more ${at}`) && (at < 2 || session.view.state === "idle"));
    const names = rendered();
    assert.ok(names.includes("p agent"));
    assert.deepEqual(names.filter((name) => name !== "section" && name !== "p agent"), []);
  }
  assert.equal(await turn, "One more 0 more 1 more 2");
  assert.equal(shown(page.toJSON().children[3]), "p agent(One more 0 more 1 more 2)");
  assert.equal(page.toJSON().props["aria-busy"], false);

  // It listens while it is shown.
  const asked = t.mock.method(session.agent.connection, "viewRevision").mock;
  await act(() => page.unmount());
  await session.prompt("again");
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(asked.callCount(), 0);
  const warned = said.mock.calls.map(({ arguments: [first] }) => String(first)).filter((first) => !first.includes("deprecated"));
  assert.deepEqual(warned, []);
});
