// What the documentation says of TypeScript, by the compiler: every exported declaration of the package is described, its
// members too, and every name in the table of docs/src/migrating.md is exported, theirs by the official SDK and ours by
// this package. What docs/surface.json says is compared with the declarations in both directions. Needs the packages of tests/node. Ends with `N passed, N failed`.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { compareSurface } from "./surface.mjs";

const require = createRequire(new URL("../node/package.json", import.meta.url));
const ts = require("typescript");
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const own = readdirSync(at("wasm/js")).filter((name) => name.endsWith(".d.ts"));
const files = own.map((name) => at(`wasm/js/${name}`));
const sdk = at("tests/node/node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.d.ts");
const options = { target: ts.ScriptTarget.ES2022, lib: ["lib.esnext.d.ts", "lib.dom.d.ts"], moduleResolution: ts.ModuleResolutionKind.Node16, module: ts.ModuleKind.Node16 };
const program = ts.createProgram([...files, sdk], options);
const checker = program.getTypeChecker();

const failures = [];
let passed = 0;
function check(good, what) {
  if (good) passed += 1;
  else failures.push(what);
}

/** The exports of a file by name, seen through `export … from`. */
function exported(file) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  const through = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  return new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, through(symbol)]));
}

/** What can be named below a symbol: members of what it is, and of what it makes. */
function members(symbol) {
  const types = [checker.getDeclaredTypeOfSymbol(symbol)];
  if (symbol.valueDeclaration) types.push(checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration));
  return new Map(types.flatMap((type) => checker.getPropertiesOfType(type)).map((member) => [member.name, member]));
}

/** Members of the language's (`[Symbol.dispose]`), of extensions, and tags, which say what the object is. */
function speaksForItself({ name, type }) {
  const tag = type && (ts.isLiteralTypeNode(type) || (ts.isUnionTypeNode(type) && type.types.every(ts.isTypeLiteralNode)));
  return ts.isComputedPropertyName(name) || name.text === "_meta" || tag;
}

const described = (symbol) => symbol.getDocumentationComment(checker).length > 0;

for (const [index, name] of own.entries()) {
  const source = program.getSourceFile(files[index]);
  for (const [exportName, symbol] of exported(files[index])) {
    // What a file only passes on is described where it is declared; a namespace is a file.
    if (!symbol.declarations?.some((declaration) => declaration.getSourceFile() === source)) continue;
    if (symbol.flags & ts.SymbolFlags.ValueModule) continue;
    check(described(symbol), `${name}: ${exportName} is not described`);
    // Words of the protocol's own members are the model's; what is `…Like` something is described where that is.
    if (/^types\.v\d/.test(name) || exportName.endsWith("Like")) continue;
    for (const declaration of symbol.declarations) {
      for (const member of declaration.members ?? []) {
        if (!member.name || speaksForItself(member)) continue;
        const itself = checker.getSymbolAtLocation(member.name);
        check(described(itself), `${name}: ${exportName}.${itself.name} is not described`);
      }
    }
  }
}

const section = readFileSync(at("docs/src/migrating.md"), "utf8").split("\n## ").find((text) => text.startsWith("TypeScript"));
const theirs = exported(sdk);
const ours = new Map(["agent", "client"].flatMap((half) => [...exported(at(`wasm/js/${half}.d.ts`))]));
let names = 0;
for (const row of section.split("\n").filter((line) => line.startsWith("| ")).slice(2)) {
  const [, , there, here] = row.split("|");
  for (const [cell, place, whose] of [[there, theirs, "the official SDK"], [here, ours, "libacp"]]) {
    for (const [, name, member] of cell.matchAll(/`(\w+)(?:\.(\w+))?`/g)) {
      names += 1;
      const symbol = place.get(name);
      check(symbol && (member === undefined || members(symbol).has(member)), `migrating.md: ${whose} has no ${name}${member ? `.${member}` : ""}`);
    }
  }
}
// A walk that finds little has not walked.
if (names < 60 || passed < 900) failures.push(`only ${names} names in the table, ${passed} checks`);

compareSurface({ ts, checker, file: at, exported, check });

for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
