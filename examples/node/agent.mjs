// An agent that plays the script on its standard input and output: node agent.mjs --script FILE
import { parseArgs } from "node:util";
import { EXACT, Player } from "./player.mjs";
import { load } from "./script.mjs";
import { Wire } from "./wire.mjs";

const AGENT_INFO = { name: "libacp-example-node-agent", version: "0.1.0" };

async function converse(path) {
  const wire = new Wire({ role: "agent" }, process.stdin, process.stdout);
  const player = new Player(load(path), wire, {
    perform: (method, params, expected) =>
      method === "initialize" ? { ...expected, agentInfo: info(params) } : method.startsWith("_") ? params : expected,
    seen: ({ method, params }) => learn(player, method, params),
  });
  await player.play();
  await player.end();
}

function info({ clientInfo }) {
  const exact = clientInfo._meta?.[EXACT.name];
  return exact === undefined ? AGENT_INFO : { ...AGENT_INFO, _meta: { [EXACT.name]: exact } };
}

/** The agent learns the folders from what it is told. */
function learn(player, method, params) {
  if (method === "initialize") player.named("clientInfo", params);
  if (method === "session/new") player.places.cwd = params.cwd;
  if (method === "session/prompt" && player.places.work === undefined) {
    const link = params.prompt.find(({ type }) => type === "resource_link")?.uri ?? "";
    const uri = /^file:\/\/(\/.*)\/notes\.md$/.exec(link)?.[1];
    if (uri === undefined) player.fail("/prompt: links to no notes.md");
    Object.assign(player.places, { work: decodeURIComponent(uri), work_uri: uri });
  }
}

try {
  const { values } = parseArgs({ options: { script: { type: "string" } } });
  await converse(values.script);
} catch (error) {
  process.stderr.write(`node agent: ${error.message}\n`, () => process.exit(1));
}
