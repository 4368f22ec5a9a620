// The floor of W4: what making JavaScript objects of the lines takes, with nothing around.
import { main, text, timed } from "./measure.mjs";

function parse(name) {
  // It takes no bytes, so they have been made strings.
  const all = text(name).split("\n").filter((line) => line !== "");
  return timed(all.length, () => {
    for (const line of all) JSON.parse(line);
  });
}

await main(() => ({ "w4-small": () => parse("small.jsonl"), "w4-mix": () => parse("mix.jsonl") }));
