//! Makes the modules smaller, or faster, with `wasm-opt`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{order, run, Outcome};

const OPTIMISER: &str = "node_modules/binaryen/bin/wasm-opt";

/// Made smaller round by round until nothing changes. What counts is the size after compression, which inlining and more,
/// but shorter, segments of data make larger.
pub(crate) const SMALL: &[&str] = &[
    "-Oz",
    "--converge",
    // Whatever may trap is checked before, by the compiler's own code.
    "--ignore-implicit-traps",
    // The end of the stack lies there. Nothing else has an address below 1024, so none wraps around on the way to a member.
    "--low-memory-unused",
    "--always-inline-max-function-size=0",
    "--flexible-inline-max-function-size=0",
    "--one-caller-inline-max-function-size=0",
    "--skip-pass=memory-packing",
    "--skip-pass=reorder-functions",
    "--skip-pass=local-cse",
    "--skip-pass=simplify-locals",
    "--skip-pass=const-hoisting",
    "--skip-pass=merge-similar-functions",
];

/// Made faster. The compiler has done most of it.
pub(crate) const FAST: &[&str] = &["-O3", "--enable-simd"];

/// The features are those of the Rust target.
const COMMON: &[&str] = &[
    "--strip-debug",
    "--strip-producers",
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Sees to it that `package` has its optimiser.
pub(crate) fn install(package: &Path) -> Outcome<()> {
    if !package.join("node_modules/binaryen").exists() {
        run(Command::new("npm").args(["ci", "--silent"]).current_dir(package))?;
    }
    Ok(())
}

/// Puts the functions of an optimised module in the order in which it compresses best.
pub(crate) fn arrange(package: &Path, module: &Path) -> Outcome<()> {
    fs::write(module, order::name(&fs::read(module)?)?)?;
    optimise(package, module, &["--reorder-functions-by-name"])
}

/// Optimises a module in its place with the optimiser of `package`.
pub(crate) fn optimise(package: &Path, module: &Path, passes: &[&str]) -> Outcome<()> {
    let mut optimiser = Command::new("node");
    optimiser.arg(OPTIMISER).args(passes).args(COMMON).arg(module).arg("-o").arg(module);
    run(optimiser.current_dir(package))
}
