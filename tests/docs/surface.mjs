// docs/surface.json against the declarations of `libacp/agent` and `libacp/client`: what it names is there, and whatever is
// public there is named in it.
import { readFileSync } from "node:fs";

/** Compares, and tells `check` of each name; `exported` has the exports of a file of the package. */
export function compareSurface({ ts, checker, file, exported, check }) {
  const { sections, apart } = JSON.parse(readFileSync(file("docs/surface.json"), "utf8"));
  const ours = new Map(["agent", "client"].flatMap((half) => [...exported(file(`wasm/js/${half}.d.ts`))]));
  // What these pass on is described, and kept, with the connection underneath.
  const own = new Set(["agent", "client", "shared"].map((name) => file(`wasm/js/${name}.d.ts`)));
  const isOwn = (declaration) => own.has(declaration?.getSourceFile().fileName);
  const declared = (symbol) => symbol?.declarations?.[0];
  const typeOf = (symbol) => checker.getTypeOfSymbolAtLocation(symbol, declared(symbol));

  const mayBeLeftOut = (parameter) => checker.isOptionalParameter(declared(parameter));

  /** What a function, a method or a constructor takes and need not be given. */
  function taken(symbol) {
    const type = typeOf(symbol);
    const signatures = [...type.getCallSignatures(), ...type.getConstructSignatures()];
    return signatures.flatMap(({ parameters }) => parameters).filter(mayBeLeftOut).map((parameter) => checker.getNonNullableType(typeOf(parameter)));
  }
  const parts = (type) => (type.isUnion() ? type.types : [type]);
  const options = (symbol, name) =>
    taken(symbol).flatMap(parts).map((type) => declared(type.getProperty(name))).filter((each) => each && isOwn(each));
  const member = (symbol, name) => checker.getDeclaredTypeOfSymbol(symbol).getProperty(name);

  /** The declarations that a name stands for; none if there is no such thing. */
  function resolved(name) {
    const [, path, below, called] = /^(\w+)(?:\.(\w+))?(?:\((.*)\))?$/.exec(name) ?? [];
    const whole = ours.get(path);
    const symbol = whole && below ? member(whole, below) : whole;
    if (!symbol) return [];
    if (called === undefined) return [declared(symbol)];
    if (called.startsWith("{")) return options(symbol, called.slice(1, -1));
    // A method, among those that the handlers of this side may be for.
    const lists = checker.getTypeArguments(typeOf(symbol)).slice(0, 2);
    return lists.some((list) => list.getProperty(JSON.parse(called))) ? [declared(symbol)] : [];
  }

  /** Options that a callable declares in place. */
  function* inPlace(path, symbol) {
    for (const type of taken(symbol).flatMap(parts)) {
      for (const each of type.getProperties()) {
        if (isOwn(declared(each)) && ts.isTypeLiteralNode(declared(each).parent)) yield [`${path}({${each.name}})`, declared(each)];
      }
    }
  }

  /** All that is public, by the name that it has here. */
  function* all() {
    for (const [name, symbol] of ours) {
      yield [name, declared(symbol)];
      if (symbol.flags & ts.SymbolFlags.Function) yield* inPlace(name, symbol);
      if (!isOwn(declared(symbol)) || !(symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))) continue;
      for (const each of checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))) {
        // Members of the language's (`[Symbol.asyncDispose]`), and what errors are called.
        if (!isOwn(declared(each)) || each.name.startsWith("__@") || (each.name === "name" && name.match(/Error|NoResult|Ended/))) continue;
        yield [`${name}.${each.name}`, declared(each)];
        yield* inPlace(`${name}.${each.name}`, each);
      }
    }
  }

  const reasons = apart.javascript.flatMap(({ names, why }) => names.map((name) => [name, why]));
  for (const [name, why] of reasons) check(why.trim() !== "", `surface.json: ${name} is apart without a reason`);
  const listed = sections.flatMap(({ rows }) => rows).flatMap(({ names }) => names.javascript ?? []);
  for (const [name] of reasons) check(!listed.includes(name), `surface.json: ${name} is apart, and also in a table`);
  const named = new Set();
  for (const name of [...listed, ...reasons.map(([name]) => name)]) {
    const found = resolved(name);
    check(found.length > 0, `surface.json: there is no ${name} in JavaScript`);
    // A class is named with its members.
    for (const each of found) named.add(each).add(each.parent);
  }
  const everything = new Map([...all()].map(([name, declaration]) => [declaration, name]));
  for (const [declaration, name] of everything) check(named.has(declaration), `surface.json: ${name} of JavaScript is missing`);
  // A walk that finds little has not walked.
  check(everything.size > 150 && listed.length > 200, `surface.json: only ${everything.size} public names, ${listed.length} in the tables`);
}
