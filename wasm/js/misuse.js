// The classes of misuse, for all entries.
export {
  CapabilityMisuse,
  IdMisuse,
  LimitMisuse,
  MethodMisuse,
  Misuse,
  ParamsMisuse,
  PhaseMisuse,
  SessionMisuse,
} from "./mistakes.js";
