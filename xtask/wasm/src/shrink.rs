//! Makes the module smaller: a panic becomes a trap, and then `wasm-opt` drops what nothing reaches any more.
//!
//! A panic in the module has nobody to tell: without a hook its message goes nowhere, and the caller sees a
//! `RuntimeError` either way. So the functions that begin one do not have to put a message together first.

use std::path::Path;
use std::process::Command;

use walrus::ir::{InstrLocId, Unreachable};
use walrus::{Function, FunctionKind, Module};

use crate::{run, Outcome};

/// Functions of the standard library that only end in a panic.
const PANICS: &[&str] = &[
    "core::panicking::",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::result::unwrap_failed",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::slice::index::slice_index_fail",
    "core::slice::sort::shared::smallsort::panic_on_ord_violation",
    "core::str::slice_error_fail",
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "std::thread::local::panic_access_error",
];

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

/// Turns panics into traps; how many functions that were.
pub(crate) fn trap_on_panic(module: &mut Module) -> usize {
    let begins_panic = |function: &&mut Function| function.name.as_deref().is_some_and(begins_panic);
    let mut trapped = 0;
    for function in module.funcs.iter_mut().filter(begins_panic) {
        if let FunctionKind::Local(function) = &mut function.kind {
            let entry = function.entry_block();
            function.block_mut(entry).instrs = vec![(Unreachable {}.into(), InstrLocId::default())];
            trapped += 1;
        }
    }
    trapped
}

/// Names may carry the digests of their crates in brackets.
fn begins_panic(name: &str) -> bool {
    let mut plain = String::new();
    let mut depth = 0;
    for character in name.chars() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    PANICS.iter().any(|begin| plain.starts_with(begin))
}

/// Optimises a module in its place with the optimiser of `package`.
pub(crate) fn optimise(package: &Path, module: &Path) -> Outcome<()> {
    if !package.join("node_modules/binaryen").exists() {
        run(Command::new("npm").args(["ci", "--silent"]).current_dir(package))?;
    }
    run(Command::new("node").args(OPTIMISER).arg(module).arg("-o").arg(module).current_dir(package))
}
