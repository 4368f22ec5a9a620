/** Policies that decide requests for permission. */
import type { Connection, Version } from "./index.js";
import type { v1, v2 } from "./types.js";

/** What a policy does with a request: `ask` leaves it to the user. */
export type PermissionAction = "allow" | "deny" | "ask";

/**
 * A rule of a policy. All members that it has must fit. Of several paths, all must fit a rule that allows, and one is enough
 * for other rules. A rule that allows by path fits no tool call that tells no path, and no command.
 */
export interface PermissionRule {
  /** What is done with a request that the rule fits. */
  readonly action: PermissionAction;
  /** The kind of the tool: one that was not told is `other`, and a command is `execute`. */
  readonly kind?: v1.ToolKind | `_${string}` | readonly (v1.ToolKind | `_${string}`)[];
  /**
   * A pattern for the tool's name, or for the title of the tool call if its name was not told: `*` is any text and `?` any
   * character.
   */
  readonly tool?: string | readonly string[];
  /**
   * A pattern for the paths of the tool call, its locations and the files of its diffs: absolute, or with `**` at its
   * beginning. Steps are compared one by one, and `**` is any number of them.
   */
  readonly path?: string | readonly string[];
  /** Whether the paths are inside the session's directories. */
  readonly inRoots?: boolean;
}

/** The rules of a policy, the first of which that fits decides, and what is done if none does (`ask`). */
export interface PermissionRules {
  /** The rules, in the order in which they are tried. */
  readonly rules?: readonly PermissionRule[];
  /** What is done with a request that no rule fits; `ask` by default. */
  readonly otherwise?: PermissionAction;
}

/** What a policy has decided about one request for permission. */
export interface PermissionDecision {
  /** What to do. `ask` leaves the request to the user; without anybody to ask, reject it. */
  action: PermissionAction;
  /** The option to answer with; null if the user decides, and if no option rejects. */
  optionId: string | null;
  /** The rule that decided, as a JSON pointer into the policy; null if no rule is about it. */
  rule: string | null;
  /** Why, in one sentence that contains nothing of the agent's. */
  reason: string;
  /** The session of the request; null if its id is longer than 256 bytes. */
  sessionId: string | null;
  /** The tool call, if the request names one. */
  toolCallId: string | null;
}

/**
 * Rules that decide requests for permission (PERM-06): allow, deny or ask, by the kind of the tool, its name and its paths.
 *
 * The paths are what the agent says, compared as text. So a policy saves the user questions and keeps an agent from
 * mistakes, and holds no malicious agent.
 *
 * The constructor takes rules, or their JSON text, and throws a `TypeError` with the place and what was expected there. Node
 * only: the module for browsers has no policies, to be smaller, and the constructor throws there.
 */
export class PermissionPolicy {
  constructor(rules: PermissionRules | string);
  /**
   * Decides a `session/request_permission` that a client's connection has received. It sends nothing: without an
   * `optionId`, answer a request that is denied with the outcome `cancelled`.
   *
   * Only an option for this one call is chosen to allow it (`allow_once`); to deny it, `reject_once` before
   * `reject_always`. With a view (the option `view` of the connection), the policy knows what was told of the tool call
   * before; without one, it knows the request alone.
   */
  decide<V extends Version>(
    connection: Connection<"client", V>,
    params: v1.RequestPermissionRequest | v2.RequestPermissionRequest,
  ): PermissionDecision;
  /** The last 256 decisions, oldest first. */
  readonly decisions: PermissionDecision[];
}
