// What both JavaScript clients of the remote script have in common: the steps, and how they are told.

// More than a step takes; a peer that does not answer costs no more than this.
const LIMIT = 6000;

export const tell = (what) => console.log(JSON.stringify(what));

export const [address, way] = process.argv.slice(2);

/** Does a step and tells what came of it; what `work` has returned beside it. */
async function step(name, work) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no end within ${LIMIT / 1000} s`)), LIMIT);
  });
  try {
    const [found, more] = await Promise.race([work(), late]);
    tell({ step: name, found });
    return more;
  } catch (error) {
    tell({ step: name, cannot: String(error?.message ?? error) });
  } finally {
    clearTimeout(timer);
  }
}

/** Plays the script with a client that has a method for each step. */
export async function play(client) {
  // What nobody waits for any more may still fail.
  process.on("unhandledRejection", () => {});
  const agent = await step("initialize", () => client.connect());
  const session = await step("new", () => client.enter(agent));
  await step("prompt", async () => [await client.say(agent, session, "hello")]);
  await step("permission", async () => [await client.say(agent, session, "ask")]);
  await step("cancel", async () => [await client.cancelled(agent, session)]);
  await step("load", async () => {
    const [, other] = await client.connect();
    const [told, loaded] = await client.load(other, session);
    const [said] = await client.say(other, loaded, "more");
    await client.close(other);
    return [[...told, said]];
  });
  const second = await step("second", async () => {
    const [, second] = await client.enter(agent);
    const [said] = await client.say(agent, second, "again");
    return [[client.name(second) !== client.name(session), said], second];
  });
  await step("delete", async () => {
    const has = async () => (await client.say(agent, session, `has ${client.name(second)}`))[0];
    const had = await has();
    await client.remove(agent, second);
    return [[had, await has()]];
  });
  await client.close(agent);
  process.exit();
}
