// Two connections wired together, for tests.
const entry = await import(process.env.LIBACP_ENTRY);
export const {
  Connection, ErrorCode, Misuse, ParamsMisuse, PhaseMisuse, RawJson, cutOutput, init, raw, rule, rules,
} = entry;

const decoder = new TextDecoder();

/** Everything that waits for the peer, as text. */
export function sent(connection) {
  const bytes = connection.transmit();
  connection.consume(bytes.length);
  return decoder.decode(bytes);
}

/** Carries what waits from one side to the other, and returns what it tells there. */
export function carry(from, to) {
  to.receive(sent(from));
  return [...to.events()];
}

/** A client and an agent that have greeted each other. */
export function greeted({ client: clientOptions, agent: agentOptions, clientCapabilities, agentCapabilities } = {}) {
  const client = new Connection({ role: "client", ...clientOptions });
  const agent = new Connection({ role: "agent", ...agentOptions });
  client.request("initialize", { clientCapabilities: clientCapabilities ?? {} });
  const [hello] = carry(client, agent);
  agent.respond(hello, { agentCapabilities: agentCapabilities ?? {} });
  carry(agent, client);
  return { client, agent };
}

/** The same with one session. */
export function withSession(options) {
  const { client, agent } = greeted(options);
  client.request("session/new", { cwd: "/", mcpServers: [] });
  const [asked] = carry(client, agent);
  agent.respond(asked, { sessionId: "s" });
  carry(agent, client);
  return { client, agent };
}
