/** The rule catalogue. It needs no WebAssembly, and stays out of a bundle that does not import it. */
import type { Severity } from "./index.js";

/** A rule, whose id events and errors have. */
export interface Rule {
  /** The id of the rule: the area and a number, such as `PERM-02`. */
  readonly id: string;
  /** The level of the requirement. */
  readonly level: "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY";
  /** How serious it is when a peer breaks the rule. */
  readonly severity: Severity;
  /** Whether the rule is checked in the host's calls. */
  readonly send: boolean;
  /** Whether the rule is checked in the peer's messages. */
  readonly receive: boolean;
  /** Whether the connection keeps the state that the rule describes, or acts as it says. */
  readonly track: boolean;
  /** What the rule says. */
  readonly text: string;
}

/** All rules, by area. */
export const rules: readonly Rule[];

/** The rule with this id; undefined for an unknown id. */
export function rule(id: string): Rule | undefined;
