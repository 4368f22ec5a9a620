// How a host hears that a conversation has changed: listeners, and loops over what is new.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { carry, greeted, sent, withSession } from "./pair.mjs";

const { Observer, SessionView } = await import(process.env.LIBACP_ENTRY);

function talking() {
  const { client, agent } = withSession({ client: { view: true } });
  const say = (text, messageId = "m") => {
    const content = { type: "text", text };
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", messageId, content } });
    carry(agent, client);
  };
  return { client, agent, say, view: new SessionView(client, "s") };
}

/** Counts how often something is asked. */
function counted(t, source, method) {
  return t.mock.method(source, method).mock;
}

test("a listener is called once for what comes in one go", async () => {
  const { say, view, client } = talking();
  const heard = [];
  const listener = () => heard.push(view.entries.map(({ text }) => text).join("|"));
  const [first, second] = [view.subscribe(listener), view.subscribe(listener)];
  say("a");
  say("b", "other");
  client.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "?" }] });
  assert.deepEqual(heard, []);
  await Promise.resolve();
  assert.deepEqual(heard, ["a|b|?", "a|b|?"]);
  first();
  say("c");
  await turn();
  assert.equal(heard.length, 3);
  second();
  second();
  say("d");
  await turn();
  assert.equal(heard.length, 3);
  assert.equal(view.message("m").text, "acd");
});

test("what the host sends is there at once", async (t) => {
  const { view, client } = talking();
  const listener = t.mock.fn();
  view.subscribe(listener);
  const { entries } = view;
  client.request("session/prompt", { sessionId: "s", prompt: [{ type: "text", text: "?" }] });
  assert.deepEqual([entries.length, view.entries.length, view.state], [0, 1, "running"]);
  await turn();
  assert.equal(listener.mock.callCount(), 1);
});

test("a listener is not called where nothing has changed", async (t) => {
  const { say, view, client, agent } = talking();
  say("a");
  const listener = t.mock.fn();
  view.subscribe(listener);
  client.handleTimeout(5);
  agent.request("_nothing");
  carry(agent, client);
  await turn();
  assert.equal(listener.mock.callCount(), 0);
  assert.equal(client.forgetView("s"), false);
  // Who looks in between takes nothing away.
  say("b");
  assert.equal(view.entries[0].text, "ab");
  await turn();
  assert.equal(listener.mock.callCount(), 1);
  client.close();
  for (const _ of client.events());
  await turn();
  client.free();
  await turn();
  assert.equal(listener.mock.callCount(), 1);
});

test("a listener may do anything, and is not called inside of itself", async () => {
  const { client, say, view } = talking();
  const heard = [];
  let isInside = false;
  const late = () => heard.push("late");
  const stopOther = view.subscribe(() => heard.push("other"));
  view.subscribe(() => {
    assert.equal(isInside, false);
    isInside = true;
    heard.push("first");
    if (heard.length < 5) {
      say("more");
      client.request("_x");
      stopOther();
      view.subscribe(late);
    }
    isInside = false;
  });
  say("a");
  await turn();
  assert.deepEqual(heard, ["other", "first", "first", "late", "first", "late", "late"]);
});

test("a listener that was taken away by another is not called any more", async () => {
  const { say, view } = talking();
  const heard = [];
  view.subscribe(() => stop());
  const stop = view.subscribe(() => heard.push("stopped"));
  view.subscribe(() => heard.push("last"));
  say("a");
  await turn();
  assert.deepEqual(heard, ["last"]);
});

test("a listener does not hear that a conversation was forgotten", async (t) => {
  const { client, agent } = greeted({ client: { view: true }, agentCapabilities: { sessionCapabilities: { close: {} } } });
  client.request("session/new", { cwd: "/", mcpServers: [] });
  agent.respond(carry(client, agent)[0], { sessionId: "s" });
  carry(agent, client);
  const view = new SessionView(client, "s");
  const listener = t.mock.fn();
  view.subscribe(listener);
  ended["the session is closed"]({ client, agent });
  await turn();
  assert.deepEqual([listener.mock.callCount(), view.frozen], [1, true]);
  assert.equal(client.forgetView("s"), true);
  client.handleTimeout(1);
  await turn();
  assert.deepEqual([listener.mock.callCount(), view.frozen], [1, true]);
});

test("a listener hears what came just before the end", async (t) => {
  const { client, agent, view } = talking();
  const listener = t.mock.fn();
  view.subscribe(listener);
  agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "session_info_update", title: "T" } });
  carry(agent, client);
  client.free();
  await turn();
  assert.deepEqual([listener.mock.callCount(), view.title], [1, "T"]);
});

test("what a listener throws keeps no other from being called", async (t) => {
  const { client, say } = talking();
  const failed = [];
  const view = new SessionView(client, "s", { onError: (error) => failed.push(error.message) });
  const heard = t.mock.fn();
  view.subscribe(() => {
    throw new Error("no");
  });
  view.subscribe(heard);
  say("a");
  await turn();
  assert.deepEqual([failed, heard.mock.callCount()], [["no"], 1]);
});

test("what a listener throws is an uncaught exception, if nobody wants it", async (t) => {
  const { say, view } = talking();
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  t.after(() => listeners.forEach((listener) => process.on("uncaughtException", listener)));
  const caught = new Promise((resolve) => process.once("uncaughtException", resolve));
  view.subscribe(() => {
    throw new Error("no");
  });
  say("a");
  assert.equal((await caught).message, "no");
});

test("nothing is asked where nobody looks", async (t) => {
  const { client, say, view } = talking();
  const [since, revision] = ["viewSince", "viewRevision"].map((name) => counted(t, client, name));
  say("a");
  await turn();
  assert.deepEqual([since.callCount(), revision.callCount()], [0, 0]);
  for (let count = 0; count < 10; count += 1) view.getSnapshot();
  assert.deepEqual([since.callCount(), revision.callCount()], [1, 1]);
  // Who hears of changes need not look at each.
  const stop = view.subscribe(() => {});
  for (let count = 0; count < 10; count += 1) {
    say("b");
    await turn();
  }
  assert.equal(since.callCount(), 1);
  stop();
  const asked = revision.callCount();
  say("c");
  await turn();
  assert.equal(revision.callCount(), asked);
});

test("a loop gets all that there is, then what is new", async () => {
  const { say, view, agent, client } = talking();
  say("a");
  say("b", "second");
  const changes = view.changes();
  const first = (await changes.next()).value;
  assert.deepEqual([first.reset, first.entries, first.state, first.title], [true, view.entries, "idle", null]);
  assert.equal(first.entries[0], view.entries[0]);
  const waiting = changes.next();
  say("c", "second");
  const { revision, epoch, ...second } = (await waiting).value;
  assert.deepEqual(second, { reset: false, entries: [view.message("second")], terminals: [], removed: [] });
  assert.deepEqual([revision, epoch], [view.revision, view.epoch]);
  agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "session_info_update", title: "T" } });
  carry(agent, client);
  const third = (await changes.next()).value;
  assert.deepEqual([third.title, third.entries, Object.hasOwn(third, "state")], ["T", [], false]);
  await changes.return();
});

test("a loop that is slow gets one step for all that it has missed", async () => {
  const { say, view } = talking();
  const seen = [];
  say("0");
  for await (const { entries } of view.changes()) {
    seen.push(entries[0].text);
    if (seen.length === 3) break;
    for (let count = 0; count < 1000; count += 1) {
      say(".");
      if (count % 100 === 0) await turn();
    }
  }
  assert.deepEqual(seen.map((text) => text.length), [1, 1001, 2001]);
});

test("a loop that is left listens no more", async (t) => {
  const { client, say, view } = talking();
  say("a");
  for await (const _ of view.changes()) break;
  const revision = counted(t, client, "viewRevision");
  say("b");
  await turn();
  assert.equal(revision.callCount(), 0);
});

test("two loops get the same", async () => {
  const { say, view } = talking();
  const read = async (most) => {
    const texts = [];
    for await (const { entries } of view.changes()) {
      texts.push(entries[0].text);
      if (entries[0].text.length === most) return texts;
    }
    return texts;
  };
  say("a");
  const both = Promise.all([read(3), read(3)]);
  for (const text of ["b", "c"]) {
    await turn();
    say(text);
  }
  assert.deepEqual(await both, [["a", "ab", "abc"], ["a", "ab", "abc"]]);
});

test("a signal ends a loop that waits", async () => {
  const { view } = talking();
  const stop = new AbortController();
  const done = (async () => {
    for await (const _ of view.changes({ signal: stop.signal }));
  })();
  await turn();
  stop.abort(new Error("enough"));
  await assert.rejects(done, /enough/);
  await assert.rejects(view.changes({ signal: stop.signal }).next(), /enough/);
});

const ended = {
  "the session is closed": ({ client, agent }) => {
    client.request("session/close", { sessionId: "s" });
    agent.respond(carry(client, agent)[0], {});
    carry(agent, client);
  },
  "the connection is closed": ({ client }) => {
    client.close();
    for (const _ of client.events());
  },
  "the agent has gone": ({ client }) => {
    client.receiveEof();
    for (const _ of client.events());
  },
  "the connection is freed": ({ client }) => client.free(),
};
for (const [name, end, isFresh] of Object.entries(ended).flatMap(([name, end]) => [[name, end, true], [name, end, false]])) {
  test(`a loop ends when ${name}, with what was told ${isFresh ? "just" : "long"} before that`, async () => {
    const { client, agent } = greeted({ client: { view: true }, agentCapabilities: { sessionCapabilities: { close: {} } } });
    client.request("session/new", { cwd: "/", mcpServers: [] });
    agent.respond(carry(client, agent)[0], { sessionId: "s" });
    carry(agent, client);
    const view = new SessionView(client, "s");
    const texts = [];
    const done = (async () => {
      for await (const { entries } of view.changes()) texts.push(...entries.map(({ text }) => text));
    })();
    await turn();
    agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } } });
    client.receive(sent(agent));
    for (const _ of client.events());
    // With something that it has not got yet, or without.
    if (!isFresh) await turn();
    end({ client, agent });
    await done;
    assert.deepEqual(texts, ["x"]);
    assert.equal(view.entries[0].text, "x");
    // Whoever begins later gets what there is, and the end.
    const late = [];
    for await (const { reset, entries } of view.changes()) late.push(reset, entries.length);
    assert.deepEqual(late, [true, 1]);
  });
}

test("an observer's session is looked at in the same way", async () => {
  const observer = new Observer({ view: true });
  const say = (from, members) => {
    observer.receive(from, `${JSON.stringify({ jsonrpc: "2.0", ...members })}\n`);
    for (const _ of observer.events());
  };
  say("client", { id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  say("agent", { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } });
  say("client", { id: 1, method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  const view = new SessionView(observer, "s");
  const heard = [];
  view.subscribe(() => heard.push(view.entries.length));
  const early = view.changes();
  assert.equal((await early.next()).value.reset, true);
  say("agent", { id: 1, result: { sessionId: "s" } });
  await turn();
  say("client", { id: 2, method: "session/prompt", params: { sessionId: "s", prompt: [{ type: "text", text: "Hi" }] } });
  await turn();
  assert.equal(heard.at(-1), 1);
  assert.deepEqual([(await early.next()).value.reset, await early.return()], [false, { done: true, value: undefined }]);
  assert.deepEqual([view.entries[0].text, view.state], ["Hi", "running"]);
  for (const side of ["client", "agent"]) observer.receiveEof(side);
  for (const _ of observer.events());
  const steps = [];
  for await (const { entries } of view.changes()) steps.push(entries.length);
  assert.deepEqual(steps, [1]);
});
