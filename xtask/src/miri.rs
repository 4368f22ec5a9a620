//! `cargo xtask miri`: the tests below under Miri, an interpreter that finds undefined behaviour. All unsafe code is in
//! the C interface, so that comes first, with every input that fuzzing has collected for it.
//!
//! Miri is no part of the pinned toolchain: `rustup toolchain install nightly --component miri,rust-src`.

use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};

/// Arguments of `cargo miri test`. Of the core, those that end in a minute: others try thousands of random messages.
const TESTS: &[(&str, &[&str])] = &[
    (
        "the C interface: its unit tests, and what fuzzing has collected for it",
        &["--features", "words", "--test", "corpus_c"],
    ),
    (
        "the core's framing, JSON, envelopes and validation",
        &["--lib", "--", "framing::", "json::", "jsonrpc::", "validation::", "--skip", "strings_end"],
    ),
];

/// Inputs are files; and what a panic at the border carries is leaked on purpose, as dropping it may panic again.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-ignore-leaks";

pub(crate) fn run(args: &[String]) -> Result<()> {
    ensure!(args.is_empty(), "miri takes nothing");
    for (what, arguments) in TESTS {
        println!("{what}");
        let status = Command::new("rustup")
            .args(["run", "nightly", "cargo", "miri", "test", "--quiet", "-p", "libacp", "--no-default-features"])
            .args(*arguments)
            .env("MIRIFLAGS", FLAGS)
            .env("CARGO_TARGET_DIR", std::path::absolute(Path::new("target/miri"))?)
            // Said by the cargo that runs this, of its own toolchain.
            .env_remove("CARGO")
            .env_remove("RUSTUP_TOOLCHAIN")
            .status()
            .context("rustup")?;
        ensure!(
            status.success(),
            "{what}: a finding, or Miri is not there: rustup toolchain install nightly --component miri,rust-src"
        );
    }
    Ok(())
}
