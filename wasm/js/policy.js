// Policies for requests for permission. What each member does is said in index.d.ts; what it means, in the core.
import { coreOf, theBorder, valueText } from "./connection.js";
import { parse } from "./json.js";

export class PermissionPolicy {
  #border = theBorder();
  #rules;

  constructor(policy) {
    const { Rules } = this.#border.glue;
    if (!Rules) throw new TypeError("PermissionPolicy: the module for browsers has none, to be smaller; decide in `permission`");
    this.#border.say(typeof policy === "string" ? policy : valueText(policy, "policy"));
    this.#rules = new Rules();
  }

  decide(connection, params) {
    const core = coreOf(connection);
    this.#border.say(valueText(params, "params"));
    this.#rules.decide(core);
    return parse(this.#border.told());
  }

  get decisions() {
    this.#rules.decisions();
    return parse(this.#border.told());
  }
}
