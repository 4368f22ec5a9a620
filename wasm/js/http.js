// `libacp/http` in every place: agents that are served to remote clients, and remote agents for clients. Read next:
// httpserver.js, httpclient.js.
import { Client, connect as connectTo } from "./client.js";
import { whenLoaded } from "./connection.js";
import { mustKnow } from "./host.js";
import { whenHttpLoaded } from "./httpcore.js";
import { Remote } from "./httpclient.js";
import { answer, headOf } from "./httpfetch.js";
import { Service } from "./httpserver.js";
import { upgrade } from "./httpsocket.js";

const HOW = ["timeout", "grace", "signal", "meta"];
const REMOTE = [
  "transport", "headers", "authorize", "onTransport", "patient", "reconnect", "resumable", "strict", "tolerates", "limits",
  "times", "fetch", "WebSocket", "credentials",
];

/** A service with what web-standard platforms call. */
class WebService extends Service {
  /** Bound, so that it can be given away: `export default serve(agent)`, `Deno.serve(serve(agent).fetch)`. */
  fetch = (request) => answer(this, request);

  async upgrade(request) {
    await this.ready();
    const { response, ...accepted } = upgrade(this, headOf(request));
    if (!response) return accepted;
    return { response: new Response(response.body || null, { status: response.status, headers: response.headers }) };
  }
}

/** Serves an agent, or one that a function makes for each connection. */
export const serve = (agent, options) => new WebService(agent, options);

/** Tells of what happens before there is an agent to tell it. */
function early(client, onTransport, event) {
  try {
    Promise.resolve(onTransport(event)).catch((error) => client.log.failed("onTransport", error));
  } catch (error) {
    client.log.failed("onTransport", error);
  }
}

/** What `connect` does with a command is up to the entry. */
export const connector = (spawn) =>
  async function connect(target, client = new Client(), options = {}) {
    if (Array.isArray(target)) return spawn(target, client, options);
    if (typeof target !== "string" && !(target instanceof URL)) return connectTo(target, client, options);
    mustKnow(options, [...HOW, ...REMOTE], "option");
    const { onTransport, ...settings } = options;
    const how = Object.fromEntries(HOW.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));
    await Promise.all([whenLoaded(), whenHttpLoaded()]);
    if (onTransport !== undefined && typeof onTransport !== "function") {
      throw new TypeError(`onTransport: expected a function, found ${typeof onTransport}`);
    }
    let agent;
    const remote = new Remote(target, settings, (event) => {
      if (event.type === "detached") agent?._detached(event.session);
      if (onTransport && agent) agent._call("onTransport", onTransport, event);
      else if (onTransport) early(client, onTransport, event);
    });
    agent = await connectTo(remote, client, how);
    return agent;
  };
