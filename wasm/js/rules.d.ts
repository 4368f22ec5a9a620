/** The rule catalogue. It needs no WebAssembly, and stays out of a bundle that does not import it. */
import type { Severity } from "./index.js";

/** A rule, whose id events and errors carry. */
export interface Rule {
  /** Its id: the area and a number. */
  readonly id: string;
  /** How binding the specification makes it. */
  readonly level: "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY";
  /** How bad it is when a peer breaks it. */
  readonly severity: Severity;
  /** Whether the host's calls are held to it. */
  readonly send: boolean;
  /** Whether the peer's messages are held to it. */
  readonly receive: boolean;
  /** Whether the connection follows or does what it says. */
  readonly track: boolean;
  /** What it says, in one sentence. */
  readonly text: string;
}

/** All rules, by area. */
export const rules: readonly Rule[];

/** The rule with this id. */
export function rule(id: string): Rule | undefined;
