// The turns that agents in JavaScript play alike, on libacp and on the official SDK.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fill } from "./catalogue-steps.mjs";

const TURNS = JSON.parse(readFileSync(new URL("catalogue-turns.json", import.meta.url), "utf8"));
const DIGITS = "0123456789";
const COLOURS = { type: "string", oneOf: ["red", "blue"].map((each) => ({ const: each, title: each })) };
const FORM = { type: "object", properties: { colour: COLOURS }, required: ["colour"] };
/** What a question about a tool call can be answered with. */
export const CHOICES = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const choices = (...values) => values.map((value) => ({ value, name: value }));

/** The options that sessions begin with, by their ids. */
export const BEGINNING = { model: "small", style: "novel", web: false };

/** The options as they are listed, with the names that version 1 has for their members, or those of version 2. */
export function listed(options, id = "id", group = "group") {
  const styles = Object.entries({ prose: ["novel", "essay"], verse: ["haiku", "sonnet"] });
  const grouped = styles.map(([name, values]) => ({ [group]: name, name, options: choices(...values) }));
  return [
    { type: "select", [id]: "model", name: "Model", currentValue: options.model, options: choices("small", "large") },
    { type: "select", [id]: "style", name: "Style", currentValue: options.style, options: grouped },
    { type: "boolean", [id]: "web", name: "Search the web", currentValue: options.web },
  ];
}

/** The updates of what `turns.json` has, other than messages and thoughts, in the words of a version. */
const SAYS = {
  call: (members, version) => ({ sessionUpdate: version === 1 ? "tool_call" : "tool_call_update", ...members }),
  change: (members) => ({ sessionUpdate: "tool_call_update", ...members }),
  plan: (entries, version) =>
    version === 1 ? { sessionUpdate: "plan", entries } : { sessionUpdate: "plan_update", plan: { type: "items", planId: "plan", entries } },
  update: (update) => update,
};

async function play(turn, said, version) {
  for (const each of fill(said, turn.session.cwd)) {
    const [word, what] = Object.entries(each)[0];
    if (word === "message" || word === "thought") await turn[word](what, each.id ? { messageId: each.id } : {});
    else await turn.update(each[version] ?? SAYS[word](what, version));
  }
}

/**
 * The turns, by the ids of their steps. `of` is what an agent has in a form of its own: `version`, whose words its updates
 * have; of a turn `kept`, `further` and `client`, which are the session's state, its additional directories and the client's name;
 * `request` and `notify`, which ask and tell the client; `Refusal`, the class of errors that have a code; `remembered`, a message that is replayed.
 */
export function turns(of) {
  const remember = async (turn) => {
    await turn.message("Remembered.");
    of.kept(turn).history.push(of.remembered("agent_message", { type: "text", text: "Remembered." }));
  };
  const waitToBeCancelled = async (turn) => {
    await turn.message("Waiting.");
    await new Promise((_, reject) => turn.signal.addEventListener("abort", () => reject(turn.signal.reason)));
  };
  const showBlock = async (turn) => {
    const { type, mimeType, data, resource, uri, name } = turn.blocks[1];
    const shown = { image: [mimeType, data], resource: [resource?.uri, resource?.text], resource_link: [uri, name] };
    await turn.message([type, ...shown[type]].join(" "));
  };
  const settings = async (turn) => {
    const { mode, options } = of.kept(turn);
    await turn.message(`${mode} ${options.model} ${options.web}`);
  };
  const elicit = (message) => async (turn) => {
    const { action, content } = await of.request(turn, "elicitation/create", { mode: "form", message, requestedSchema: FORM });
    await turn.message([action, ...Object.values(content ?? {})].join(" "));
  };
  const visit = async (turn) => {
    const link = { mode: "url", message: "Visit", url: "https://example.com/visit", elicitationId: "visit" };
    const { action } = await of.request(turn, "elicitation/create", link);
    await of.notify(turn, "elicitation/complete", { elicitationId: "visit" });
    await turn.message(action);
  };
  const bigPrompt = async (turn) => {
    const { text } = turn.blocks[1];
    await turn.message(`${text.length} ${text === DIGITS.repeat(text.length / 10) ? "the same" : "different"}`);
  };
  const stops = ["end_turn", "max_tokens", "max_turn_requests", "refusal"].map((reason) => [`stop.${reason}`, () => reason]);
  return {
    ...Object.fromEntries(Object.entries(TURNS).map(([id, said]) => [id, (turn) => play(turn, said, of.version)])),
    ...Object.fromEntries(stops),
    "init.client": (turn) => turn.message(`client ${of.client(turn)}`),
    "session.load.replay": remember,
    "session.resume": remember,
    "session.close": waitToBeCancelled,
    "cancel.prompt": waitToBeCancelled,
    async "session.multi"(turn) {
      for (let number = 0; number < 20; number += 1) {
        await turn.message(`${turn.session.id} ${number};`);
        await sleep(1);
      }
    },
    "session.folders": (turn) => turn.message(of.further(turn).join(" ")),
    "prompt.image": showBlock,
    "prompt.resource": showBlock,
    "prompt.link": showBlock,
    "mode.set": settings,
    "config.select": settings,
    "config.boolean": settings,
    "config.grouped": (turn) => turn.message(of.kept(turn).options.style),
    "elicit.form": elicit("Which colour?"),
    "elicit.decline": elicit("Anything else?"),
    "elicit.complete": visit,
    "enum.stop": () => "_libacp.dev/tired",
    "enum.audience": (turn) => turn.message(turn.blocks[1].annotations.audience.join(" ")),
    "meta.prompt": (turn) => turn.message(`trace ${turn.meta?.["libacp.dev/trace"]}`),
    "error.handler"() {
      throw new of.Refusal(-32042, "No such thing", { thing: "x" });
    },
    "big.prompt-1m": bigPrompt,
    "big.prompt-8m": bigPrompt,
  };
}
