//! Makes the module smaller with `wasm-opt`.

use std::path::Path;
use std::process::Command;

use crate::{run, Outcome};

/// The optimiser, made smaller round by round until nothing changes. What counts is the size after compression, which
/// inlining and more, but shorter, segments of data make larger. The features are those of the Rust target.
const OPTIMISER: &[&str] = &[
    "node_modules/binaryen/bin/wasm-opt",
    "-Oz",
    "--converge",
    "--always-inline-max-function-size=0",
    "--flexible-inline-max-function-size=0",
    "--one-caller-inline-max-function-size=0",
    "--skip-pass=memory-packing",
    "--skip-pass=reorder-functions",
    "--skip-pass=local-cse",
    "--skip-pass=simplify-locals",
    "--skip-pass=const-hoisting",
    "--strip-debug",
    "--strip-producers",
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
];

/// Optimises a module in its place with the optimiser of `package`.
pub(crate) fn optimise(package: &Path, module: &Path) -> Outcome<()> {
    if !package.join("node_modules/binaryen").exists() {
        run(Command::new("npm").args(["ci", "--silent"]).current_dir(package))?;
    }
    run(Command::new("node").args(OPTIMISER).arg(module).arg("-o").arg(module).current_dir(package))
}
