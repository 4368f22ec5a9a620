// How a host in TypeScript uses the package; compiled, never run. Each `@ts-expect-error` is a mistake that the types
// must catch.
import { CapabilityMisuse, Connection, ErrorCode, Misuse, Observer, SessionView, cutOutput, init, raw } from "libacp";
import { rule, rules } from "libacp/rules";
import type {
  ConnectionSnapshot, Event, Json, MessageEntry, RequestEvent, SessionEntry, SessionSnapshot, SessionViewSnapshot, TerminalEntry,
  v1, v2,
} from "libacp";

await init();

using client = new Connection({ role: "client", drafts: ["session_fork"], policies: { note: "off" }, limits: { frame: 1000 } });
const id: string | number | bigint = client.request("initialize", { clientCapabilities: { terminal: true } });
client.request("session/new", { cwd: "/", mcpServers: [] }, { timeout: 10, signal: AbortSignal.timeout(5) });
client.request("_own/method", { anything: 1n });
client.request("_own/method");
client.request("_own/method", {}, { timeout: null });
// @ts-expect-error milliseconds are a number
client.request("_own/method", {}, { timeout: "10" });
client.request("initialize");
client.notify("_own/notification");
client.request("session/prompt", raw("{}"), { id });
client.notify("session/cancel", { sessionId: "s" });

// @ts-expect-error an agent's method
client.request("fs/read_text_file", { sessionId: "s", path: "/" });
// @ts-expect-error no such method
client.request("session/nwe", {});
// @ts-expect-error cwd is missing
client.request("session/new", { mcpServers: [] });
// @ts-expect-error params are missing
client.request("session/new");
// @ts-expect-error params are missing
client.notify("session/cancel");
// @ts-expect-error a notification
client.request("session/cancel", { sessionId: "s" });
// @ts-expect-error no such role
new Connection({ role: "editor" });
// @ts-expect-error no such draft
new Connection({ role: "client", drafts: ["nope"] });

for (const event of client.events()) {
  switch (event.type) {
    case "request":
      if (event.method === "terminal/output") {
        client.respond(event, { ...cutOutput("all of it", 4), exitStatus: { exitCode: 0 } });
      } else if (event.method === "fs/read_text_file") {
        const path: string = event.params.path;
        client.respond(event, { content: path });
        // @ts-expect-error the content is missing
        client.respond(event, {});
        // @ts-expect-error the result is missing
        client.respond(event);
        client.respond(event.id, { anything: true });
        // @ts-expect-error the content is text
        client.respond(event, { content: 1 });
      } else if (event.method === "session/request_permission") {
        const option: v1.PermissionOption | undefined = event.params.options[0];
        client.respond(event, { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } });
      } else {
        client.respondError(event, { code: ErrorCode.METHOD_NOT_FOUND, message: "not here", data: { method: event.method } });
      }
      break;
    case "notification":
      if (event.method === "session/update") {
        const { update } = event.params;
        if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
          const text: string = update.content.text;
          console.log(event.timing, text);
        }
      }
      break;
    case "response":
      if (event.outcome === "result" && event.method === "session/prompt") {
        const reason: v1.StopReason = event.result.stopReason;
        console.log(reason);
      } else if (event.outcome === "error") {
        const code: number = event.error.code;
        console.log(code, event.error.data);
      }
      // @ts-expect-error only a result has it
      event.result;
      break;
    case "late_response":
      if (event.outcome === "result" && event.method === "session/new") console.log(event.result.sessionId);
      break;
    case "violation":
      console.log(event.rule, event.severity, event.pointer, event.consequence, event.code?.toFixed());
      break;
    case "advice":
      console.log(event.rule, event.method, event.id, rule(event.rule)?.text);
      break;
    case "cancel":
    case "answered":
      console.log(event.id, event.method);
      break;
    case "closed":
      console.log(event.reason, event.terminals.length);
      break;
    default:
      event satisfies never;
  }
}

const agent = new Connection({ role: "agent" });
const reading = agent.request("fs/read_text_file", { sessionId: "s", path: "/x", line: 1 });
agent.cancel(reading);
agent.notify("session/update", {
  sessionId: "s",
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } },
});
// @ts-expect-error no such kind of update
agent.notify("session/update", { sessionId: "s", update: { sessionUpdate: 5 } });
const capabilities: v1.ClientCapabilities = agent.capabilities;
const name: string | undefined = agent.peerInfo.clientInfo?.name;

const either = new Connection({ role: "client", versions: [1, 2] });
either.request("initialize", { info: { name: "c", version: "1" }, capabilities: {} });
either.request("initialize", { clientCapabilities: {} });
const hello: v2.InitializeRequest = { protocolVersion: 2, info: { name: "c", version: "1" }, capabilities: {} };
either.request("initialize", hello);
const onlyTwo = new Connection({ role: "client", versions: [2] });
onlyTwo.request("session/new", { cwd: "/w" });
// @ts-expect-error only version 1 has it
onlyTwo.request("session/load", { sessionId: "s", cwd: "/w", mcpServers: [] });
// @ts-expect-error no such version
new Connection({ role: "client", versions: [3] });

function keep(event: Event<"agent">): RequestEvent<"agent"> | undefined {
  return event.type === "request" ? event : undefined;
}

const refusal: Misuse | undefined = client.whyNot("session/load");
const broken: string | undefined = refusal?.rule ?? rules[0]?.id;
if (refusal instanceof CapabilityMisuse) refusal.kind satisfies "capability";
const turn: "idle" | "running" | "cancelling" | "requires_action" | undefined = client.session("s")?.turn;
const snapshot: SessionSnapshot<1> | undefined = client.sessionSnapshot("s");
const whole: ConnectionSnapshot = client.snapshot();
const login: "unknown" | "required" | "done" = whole.login;
const kinds: ("agent" | "terminal" | "custom" | "unknown")[] = whole.loginMethods.map(({ kind }) => kind);
const extension: Json | undefined = client.peerExtension("x.example");
console.log(login, kinds, whole.version?.toFixed(), whole.openElicitations[0], whole.providers[0]?.enabled, extension);
// @ts-expect-error no extension may be advertised
extension.toString();
const option: string | undefined = snapshot?.configOptions?.[0]?.id;
const command: string | undefined = client.commandText("s", snapshot?.commands?.[0]?.name ?? "", "input");
const inside: boolean = client.inRoots("s", "/");
console.log(option, command, inside, snapshot?.modes?.availableModes?.[0]?.id, snapshot?.terminals.get("t"));
// @ts-expect-error there may be no plan
snapshot?.plan.length;
const bytes: Uint8Array = client.transmit();
client.consume(bytes.length);

const viewing = new Connection({ role: "client", versions: [1, 2], view: true, limits: { viewEntries: 10 } });
const view = new SessionView(viewing, "s", { onError: console.error });
new SessionView(new Observer({ view: true }), "s");
new SessionView(agent, "s");
// @ts-expect-error the session is missing
new SessionView(viewing);
// @ts-expect-error not a connection
new SessionView({}, "s");

/** As React declares it. */
declare function useSyncExternalStore<T>(subscribe: (changed: () => void) => () => void, getSnapshot: () => T): T;
const shown: SessionViewSnapshot = useSyncExternalStore(view.subscribe, view.getSnapshot);

function line(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return entry.blocks.length > 1 ? `${entry.role} ${entry.text}` : entry.text;
    case "tool_call":
      // @ts-expect-error a message has it
      entry.text;
      return `${entry.title ?? entry.id} ${entry.status} ${entry.content.length} ${entry.locations[0]?.path}`;
    case "plan":
      return JSON.stringify(entry.plan);
    case "compaction":
      return `${entry.status} ${entry.text}`;
    case "subagent":
      return entry.title ?? "";
    case "notice":
      return entry.severity;
    case "update":
      return entry.sessionUpdate;
    default:
      return entry satisfies never;
  }
}
const message: MessageEntry | undefined = view.message("m");
const terminal: TerminalEntry | undefined = view.terminal("t");
const running: boolean = view.state === "running" && view.prompts.length > 0 && !view.frozen;
console.log(shown.entries.map(line), message?.text, terminal?.output, running, view.plan()?.type, view.tool("t")?.permission);
// @ts-expect-error entries are frozen
shown.entries.push(shown.entries[0]!);
// @ts-expect-error they do not change
shown.entries[0]!.revision = 1;
// @ts-expect-error nor does the session
view.title = "";
for await (const { reset, entries, terminals, removed, title } of view.changes({ signal: AbortSignal.timeout(5) })) {
  const told: string | null | undefined = title;
  console.log(reset, entries.map(line), terminals.length, removed[0]?.toFixed(), told);
  // @ts-expect-error it may not have changed
  title.length;
}
const forgotten: boolean = view.forget();
export { capabilities, forgotten, keep, name, broken, turn };
