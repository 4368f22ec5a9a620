// Policies for requests for permission: the cases of tests/policies, and clients that have one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Agent, Client, clientSide, joined } from "./both.mjs";

const { Connection, PermissionPolicy } = await import(process.env.LIBACP_ENTRY);
const text = readFileSync(new URL("../policies/permissions.jsonl", import.meta.url), "utf8");
const CASES = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));

/** Gives a connection a message; the request that has come. */
function fed(client, message) {
  client.receive(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  client.consume(client.transmit().length);
  return [...client.events()].find(({ type }) => type === "request");
}

/** A client with the session `s`, which has been told the updates of a case. */
function clientOf({ version, view = true, told }) {
  const client = new Connection({ role: "client", view, versions: [version] });
  const info = { name: "a", version: "1" };
  const more = { additionalDirectories: {} };
  client.request("initialize", version === 1 ? {} : { info });
  const hello = version === 1 ? { agentCapabilities: { sessionCapabilities: more } } : { info, capabilities: { session: more } };
  fed(client, { id: 1, result: { protocolVersion: version, ...hello } });
  client.request("session/new", { cwd: "/work", additionalDirectories: ["/more"], mcpServers: [] });
  fed(client, { id: 2, result: { sessionId: "s" } });
  client.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "Hi" }] });
  for (const update of told) fed(client, { method: "session/update", params: { sessionId: "s", update } });
  return client;
}

for (const each of CASES) {
  test(`policies: ${each.name}`, () => {
    if (!each.decides) {
      const { pointer, message } = each.wrong;
      assert.throws(() => new PermissionPolicy(each.policyText), (error) => {
        assert.ok(error instanceof TypeError && error.message.startsWith(pointer) && error.message.includes(message), error.message);
        return true;
      });
      return;
    }
    const policy = new PermissionPolicy(each.policy);
    const client = clientOf(each);
    const { params } = fed(client, { id: 9, method: "session/request_permission", params: each.params });
    const decision = policy.decide(client, params);
    for (const [name, value] of Object.entries(each.decides)) assert.deepEqual(decision[name], value, name);
    assert.deepEqual(policy.decisions, [decision]);
  });
}

test("there are cases", () => assert.ok(CASES.length > 50, `${CASES.length}`));

const POLICY = { rules: [{ action: "allow", kind: "read" }, { action: "deny", kind: "delete" }] };

test("what the book shows decides as it says", async (t) => {
  const printed = [];
  const console = { log: (...words) => printed.push(words.join(" ")) };
  const ask = (request) => request.reject();
  // ANCHOR: policy
  const client = new Client("editor", "1.0", {
    permissionPolicy: {
      rules: [
        { action: "deny", path: ["**/.env", "**/.ssh/**"] },
        { action: "allow", kind: ["read", "search"], inRoots: true },
      ],
    },
    onDecision: (session, { action, reason }) => console.log(`${action}: ${reason}`),
    permission: ask, // whatever no rule is about
  });
  // ANCHOR_END: policy
  const { session } = await joined(t, async (turn) => {
    for (const path of ["/work/.env", "/work/notes.md", "/etc/passwd"]) {
      await turn.toolCall("Read", { kind: "read", locations: [path], status: "pending" }, (call) => call.askPermission());
    }
  }, { client });
  await session.prompt("Go");
  assert.deepEqual(printed, ["deny: rule 0 denies it", "allow: rule 1 allows it", "ask: no rule is about it"]);
});

for (const version of [1, 2]) {
  test(`what no rule is about goes to the user, in version ${version}`, async (t) => {
    const asked = [];
    const told = [];
    const permission = (request) => {
      asked.push(request.title);
      return request.allow();
    };
    const onDecision = (session, { action, rule }) => told.push([session.id, action, rule]);
    const client = new Client("c", "1", { permission, permissionPolicy: POLICY, onDecision, versions: [version] });
    const agent = new Agent("a", "1", { versions: [version] });
    const { session } = await joined(t, async (turn) => {
      for (const kind of ["read", "delete", "edit"]) {
        await turn.toolCall(kind, { kind, status: "pending" }, async (call) => {
          // The request names the call alone: its kind is in the view.
          const { allowed } = await call.askPermission();
          await turn.message(`${kind} ${allowed} `);
        });
      }
    }, { agent, client });
    assert.equal(await session.prompt("Go").readText(), "read true delete false edit true ");
    assert.deepEqual(asked, ["edit"]);
    const { id } = session;
    assert.deepEqual(told, [[id, "allow", "/rules/0"], [id, "deny", "/rules/1"], [id, "ask", null]]);
    assert.deepEqual(client.permissionPolicy.decisions.map(({ action }) => action), ["allow", "deny", "ask"]);
  });
}

test("without anybody to ask, what no rule allows may not run", async (t) => {
  const client = new Client("c", "1", { permissionPolicy: new clientSide.PermissionPolicy(JSON.stringify(POLICY)) });
  const { session } = await joined(t, async (turn) => {
    const { allowed } = await turn.askPermission({ toolCallId: "t", kind: "edit" });
    await turn.message(String(allowed));
  }, { client });
  assert.equal(await session.prompt("Go").readText(), "false");
});

test("what is wrong with a policy is said where it is given", () => {
  const wrong = { rules: [{ action: "allow", kind: "reed" }] };
  assert.throws(() => new Client("c", "1", { permissionPolicy: wrong }), /^TypeError: \/rules\/0\/kind: .*did you mean read/);
  const client = new Client("c", "1", { permissionPolicy: POLICY });
  const answer = () => ({ outcome: { outcome: "cancelled" } });
  assert.throws(() => client.on("session/request_permission", answer), /served by the option permissionPolicy/);
  const other = new Client("c", "1").on("session/request_permission", answer);
  assert.throws(() => (other.permissionPolicy = POLICY), /has a handler already/);
  assert.throws(() => new PermissionPolicy("{"), /^TypeError: the policy: not JSON/);
  assert.throws(() => new PermissionPolicy(POLICY).decide({}, {}), /connection: expected a Connection/);
  assert.throws(() => new Client("c", "1", { onDecision: 5 }), /onDecision: expected a function/);
});
