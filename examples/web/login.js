// Logging in and out, with the methods that the agent offers.

import { byId, button, isolated, make, tell } from "./dom.js";

/** Shows the login methods: all over the conversation where one is needed, and in the panel in any case. */
export class Login {
  #agent;
  #after;

  /** `left()` is called after the user has logged out. */
  constructor({ left }) {
    this.left = left;
    this.place = byId("login");
  }

  show(agent) {
    this.#agent = agent;
    this.#after = undefined;
    this.place.hidden = true;
    this.#panel();
  }

  /** Asks for a login; settles once there was one. */
  needed() {
    this.#after ??= Promise.withResolvers();
    this.place.hidden = false;
    this.place.replaceChildren(
      make("h2", {}, "This agent asks for a login"),
      ...(this.#agent.authMethods.length > 0 ? this.#methods() : [make("p", {}, "It offers no way to log in here: start it in a terminal once.")]),
    );
    this.place.querySelector("button")?.focus();
    return this.#after.promise;
  }

  #methods() {
    const { loginMethods } = this.#agent.connection.snapshot();
    const kinds = new Map(loginMethods.map(({ methodId, kind }) => [methodId, kind]));
    return this.#agent.authMethods.map((method) => {
      const id = method.id ?? method.methodId;
      const { name, description } = method;
      const works = ["agent", "custom"].includes(kinds.get(id) ?? "agent");
      const text = description ? make("p", { className: "dim" }, isolated(description)) : undefined;
      const control = works
        ? button(isolated(name), () => this.#log(id), { className: "login" })
        : make("p", {}, isolated(name), ": start the agent in a terminal for this");
      return make("div", { className: "method" }, control, text);
    });
  }

  async #log(methodId) {
    try {
      await this.#agent.authenticate(methodId);
      this.place.hidden = true;
      const after = this.#after;
      this.#after = undefined;
      after?.resolve();
      this.#panel("logged in");
    } catch (error) {
      tell(error.message);
    }
  }

  async #out() {
    try {
      await this.#agent.logout();
      this.#panel("logged out");
      this.left();
    } catch (error) {
      tell(error.message);
    }
  }

  #panel(told) {
    const { authMethods } = this.#agent;
    byId("account-section").hidden = authMethods.length === 0;
    const out = this.#agent.can("logout") ? [button("Log out", () => this.#out())] : [];
    byId("account").replaceChildren(...(told ? [make("p", { role: "status" }, told)] : []), ...this.#methods(), ...out);
  }
}
