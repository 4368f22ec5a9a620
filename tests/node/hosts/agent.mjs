export async function play() { throw new Error("not yet"); }
export async function refusal() { return undefined; }
