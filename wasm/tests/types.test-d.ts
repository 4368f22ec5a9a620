// What the generated types promise, checked by `tsc --strict --noEmit`. Each `@ts-expect-error` is a mistake that the
// compiler must find; where it does not, the comment itself is the error.

import type { RequestId, v1, v2 } from "../js/types.js";

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(yes: Same<A, B>): void;
declare function never(value: never): never;

// Session updates of version 1: closed, so that a switch can be exhaustive.
export function update(update: v1.SessionUpdate): string {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
    case "user_message_chunk":
      same<typeof update.content, v1.ContentBlock>(true);
      return text(update.content);
    case "tool_call":
      same<typeof update.title, string>(true);
      return update.title;
    case "tool_call_update":
      same<typeof update.title, string | null | undefined>(true);
      // @ts-expect-error an update may leave the title out
      return update.title;
    case "plan":
      // @ts-expect-error a plan has entries, not content
      update.content;
      return update.entries.map((entry) => entry.content).join();
    case "usage_update":
      same<typeof update.used, number | bigint | undefined>(true);
      return String(update.used);
    // @ts-expect-error no such update
    case "plan_of_action":
      return "";
    default:
      // @ts-expect-error not every update was handled
      return never(update);
  }
}

function text(block: v1.ContentBlock): string {
  // @ts-expect-error not every block has text
  block.text;
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return block.mimeType;
    case "resource_link":
      return block.uri;
    case "resource":
      return "text" in block.resource ? block.resource.text : block.resource.blob;
    default:
      return never(block);
  }
}

// Permission outcomes.
export function outcome(outcome: v1.RequestPermissionOutcome): string | undefined {
  // @ts-expect-error only a selected outcome names an option
  outcome.optionId;
  return outcome.outcome === "selected" ? outcome.optionId : undefined;
}
export const chosen: v1.RequestPermissionResponse = { outcome: { outcome: "selected", optionId: "yes" } };
export const dismissed: v1.RequestPermissionResponse = { outcome: { outcome: "cancelled" } };
// @ts-expect-error a selected outcome names its option
export const unnamed: v1.RequestPermissionOutcome = { outcome: "selected" };

// Unknown variants of version 2 do not come in the way of known ones.
export function block(block: v2.ContentBlock): unknown {
  if (block.type === "text") {
    same<typeof block, v2.ContentBlockText>(true);
    return block.text;
  }
  if (block.type === "image" || block.type === "audio" || block.type === "resource_link" || block.type === "resource") {
    return block._meta;
  }
  same<typeof block, v2.ContentBlockOther>(true);
  return block["anything"];
}
export const extension: v2.ContentBlock = { type: "_acme.dev/chart", points: [1, 2] };
// @ts-expect-error an extension's tag starts with an underscore
export const unmarked: v2.ContentBlock = { type: "chart", points: [1, 2] };

// A union within a union: both tags narrow.
export function state(update: v2.SessionUpdate): unknown {
  if (update.sessionUpdate !== "state_update") return undefined;
  if (update.state !== "idle") return update.state;
  if (update.stopReason === "error") same<typeof update, v2.SessionUpdateStateUpdateIdleError>(true);
  return update.stopReason;
}

// Patches of version 2 keep, clear or set.
const id = { sessionUpdate: "tool_call_update", toolCallId: "t1" } as const;
export const patches: v2.SessionUpdate[] = [id, { ...id, title: null }, { ...id, title: "Read" }];
// @ts-expect-error a title is text
export const misset: v2.ToolCallUpdate = { toolCallId: "t1", title: 1 };

// Members beside a union's, required ones, nulls and extensions.
export const session: v1.NewSessionRequest = {
  cwd: "/work",
  mcpServers: [
    { name: "stdio", command: "/bin/mcp", args: [], env: [] },
    { type: "http", name: "http", url: "https://localhost", headers: [] },
  ],
  _meta: { "acme.dev/trace": "1" },
};
export const bare: v1.NewSessionRequest = { cwd: "/", mcpServers: [], _meta: null };
// @ts-expect-error the working directory is required
export const homeless: v1.NewSessionRequest = { mcpServers: [] };
// @ts-expect-error no member of that name
export const misspelt: v1.NewSessionRequest = { cwd: "/", mcpServers: [], mcpserver: [] };
export function option(option: v1.SessionConfigOption): string | boolean {
  same<typeof option.name, string>(true);
  return option.type === "boolean" ? option.currentValue : option.currentValue.toUpperCase();
}

// Values: closed in version 1, open in version 2.
export const stop: v1.StopReason = "end_turn";
// @ts-expect-error version 1 closes this list
export const invented: v1.StopReason = "_tired";
export const role: v2.Role = "_narrator";

// Ids are exact.
export const ids: RequestId[] = ["a", 1, 9007199254740993n, null];
export const cancelled: v1.CancelRequestNotification = { requestId: null };
// @ts-expect-error an id is no boolean
export const wrong: RequestId = true;

// Methods by sender give params and results.
declare function request<M extends keyof v1.ClientRequests>(
  method: M,
  params: v1.ClientRequests[M]["params"],
): Promise<v1.ClientRequests[M]["result"]>;
export async function turn(): Promise<v1.StopReason> {
  const { sessionId } = await request("session/new", bare);
  // @ts-expect-error a prompt is a list of blocks
  await request("session/prompt", { sessionId, prompt: "hello" });
  // @ts-expect-error agents ask for permission, clients do not
  await request("session/request_permission", { sessionId });
  const answer = await request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
  return answer.stopReason;
}
same<keyof v1.ClientNotifications & keyof v1.AgentNotifications & "$/cancel_request", "$/cancel_request">(true);
same<v1.AgentNotifications["session/update"]["params"], v1.SessionNotification>(true);
same<v2.AgentNotifications["session/update"]["params"], v2.UpdateSessionNotification>(true);
same<v1.AgentRequests["fs/read_text_file"]["result"]["content"], string>(true);
