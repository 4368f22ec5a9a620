// What handlers say of a host, against the types, which the specification's schema makes, and against what the other side
// may call then.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, Client, folder } from "./both.mjs";

const dist = join(folder, "node_modules/libacp/dist");
const { Connection } = await import(process.env.LIBACP_ENTRY);
const types = readFileSync(join(dist, "types.v1.d.ts"), "utf8");
const index = readFileSync(join(dist, "index.d.ts"), "utf8");
const drafts = [...index.match(/export type Draft =\n([^;]*);/)[1].matchAll(/"(\w+)"/g)].map(([, name]) => name);
/** Capabilities that say more than that a method is served. */
const STATED = {
  agent: { nes: { events: { document: { didOpen: {}, didChange: { syncKind: "full" }, didClose: {}, didSave: {}, didFocus: {} } } } },
  client: { elicitation: { form: {}, url: {} } },
};
const SIDES = [["agent", "Client", Agent], ["client", "Agent", Client]];
const TERMINALS = ["create", "output", "wait_for_exit", "kill", "release"].map((name) => `terminal/${name}`);
const handler = () => ({});

/** The methods of an interface, with their drafts. */
function declared(name) {
  const [, body] = types.match(new RegExp(`^export interface ${name} \\{\n([^]*?)^\\}`, "m"));
  const found = [...body.matchAll(/(?:@experimental Draft `(\w+)`\.\n {3}\*\/\n|\*\/\n) {2}"([^"]+)":/g)];
  return found.map(([, draft, method]) => [method, draft]).filter(([method]) => method !== "$/cancel_request");
}

const served = (sender) => ["Requests", "Notifications"].flatMap((kind) => declared(`${sender}${kind}`));

test("each side serves the methods that the other one sends, with their drafts, and no others", () => {
  for (const [role, sender, Host] of SIDES) {
    const all = served(sender);
    assert.ok(all.length > 10);
    for (const [method, draft] of all) {
      new Host("h", "1", { drafts, capabilities: STATED[role] }).on(method, handler);
      if (!draft) continue;
      const without = { drafts: drafts.filter((each) => each !== draft), capabilities: STATED[role] };
      assert.throws(() => new Host("h", "1", without).on(method, handler), { name: "TypeError", message: new RegExp(`${method}.*${draft}`) });
    }
    const own = new Set(all.map(([method]) => method));
    for (const [method] of served(sender === "Client" ? "Agent" : "Client")) {
      if (own.has(method)) continue;
      assert.throws(() => new Host("h", "1", { drafts }).on(method, handler), new RegExp(`is sent by ${role}s`));
    }
  }
});

test("a handler shows exactly the capability that the other side needs", () => {
  let gated = 0;
  for (const [role, sender, Host] of SIDES) {
    for (const [method] of declared(`${sender}Requests`)) {
      if (method === "initialize") continue;
      const host = new Host("h", "1", { drafts, capabilities: STATED[role] });
      const own = method === "session/request_permission" ? [] : TERMINALS.includes(method) ? TERMINALS : [method];
      const also = Object.keys(STATED[role]).flatMap((area) => declared(`${sender}Requests`).map(([name]) => name).filter((name) => name.startsWith(area)));
      for (const each of new Set([...own, ...also])) host.on(each, handler);
      const [none, whole] = [{}, host.offered()].map((capabilities) => other(role, capabilities));
      const needs = none.whyNot(method)?.message.includes("needs the capability");
      assert.ok(!whole.whyNot(method)?.message.includes("needs the capability"), `${method}: ${whole.whyNot(method)}`);
      gated += needs ? 1 : 0;
    }
  }
  assert.ok(gated > 25, `${gated}`);
});

/** The side that has been told these capabilities of a role. */
function other(role, capabilities) {
  const ends = { client: new Connection({ role: "client", drafts }), agent: new Connection({ role: "agent", drafts }) };
  const carry = (from, to) => {
    const bytes = from.transmit();
    from.consume(bytes.length);
    to.receive(bytes);
    return [...to.events()];
  };
  const told = (side) => (side === role ? capabilities : {});
  ends.client.request("initialize", { clientCapabilities: told("client") });
  for (const event of carry(ends.client, ends.agent)) {
    if (event.type === "request") ends.agent.respond(event, { agentCapabilities: told("agent") });
  }
  carry(ends.agent, ends.client);
  return role === "agent" ? ends.client : ends.agent;
}

test("what cannot work is refused where it is given, or once all is there", () => {
  const refused = [
    [() => new Agent("a").on("weather/today", handler), /weather\/today.*underscore/],
    [() => new Agent("a").on(5, handler), /expected the name of a method, found number/],
    [() => new Agent("a").on("", handler), /expected the name of a method/],
    [() => new Agent("a").on("$/cancel_request", handler), /\$\/cancel_request has no handler/],
    [() => new Agent("a").on("tool_call/cancel", handler), /tool_call\/cancel is of version 2/],
    [() => new Client("c").on("elicitation/create", handler), /elicitation\/create needs the capability elicitation/],
    [() => new Agent("a", "1", { drafts: ["session_frok"] }), /drafts: .*session_frok/],
    [() => new Agent("a", "1", { versions: [3] }), /versions: /],
    [() => new Client("c").on("terminal/create", handler).offered(), /terminal.*terminal\/output/],
    [() => new Agent("a", "1", { drafts }).on("nes/start", handler).offered(), /nes\/start needs the capability nes/],
    [() => new Agent("a", "1", { capabilities: { loadSession: true } }).offered(), /capabilities: loadSession .*session\/load/],
  ];
  for (const [give, expected] of refused) assert.throws(give, { name: "TypeError", message: expected });
  new Agent("a", "1", { versions: [1, 2] }).on("tool_call/cancel", handler).on("terminal/cancel", handler).offered();
  // What `initialize` will say depends on the client.
  new Agent("a", "1", { drafts }).on("nes/start", handler).on("initialize", handler).offered();
});
