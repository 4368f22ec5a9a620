//! The oldest Rust that the manifests declare: every crate that users build declares the same one, and the core and the C
//! library build with it.

use std::process::Command;

use anyhow::{ensure, Context, Result};
use serde_json::Value;

use super::Log;
use crate::setup::{cargo, is_there};

/// The crates that users build from source, or that go into what they install, and with what.
const BUILT: &[(&str, &[&str])] =
    &[("libacp", &["check", "--all-features"]), ("libacp-ffi", &["build"]), ("libacp-ffi-files", &["build"])];
/// What another compiler makes is of no use to this one.
const FOLDER: &str = "target/msrv";

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    let metadata = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("what cargo metadata prints")?;
    let declared = |name: &str| {
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.into_iter().find(|package| package["name"] == name);
        package.and_then(|package| package["rust_version"].as_str()).with_context(|| format!("{name}: no rust-version"))
    };
    let oldest = declared("libacp")?;
    for (name, _) in BUILT {
        ensure!(declared(name)? == oldest, "{name} declares Rust {}, the core {oldest}", declared(name)?);
    }
    log.passed("one oldest version of Rust")?;

    let toolchain = release(oldest);
    if !is_there("rustup") {
        return log.note(&format!("rustup is not here, so nothing is built with Rust {toolchain}"));
    }
    // Says so and does nothing where it is installed.
    log.run(rustup().args(["toolchain", "install", "--profile", "minimal", "--no-self-update", &toolchain]))?;
    for (name, how) in BUILT {
        let mut build = rustup();
        build.args(["run", &toolchain, "cargo"]).args(*how);
        log.run(build.args(["--quiet", "--locked", "--package", name, "--target-dir", FOLDER]))?;
        log.passed(&format!("{name} with Rust {toolchain}"))?;
    }
    Ok(())
}

/// rustup, not held to the toolchain that this was started with.
fn rustup() -> Command {
    let mut rustup = Command::new("rustup");
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "CARGO_TARGET_DIR"] {
        rustup.env_remove(name);
    }
    rustup
}

/// The first release of a version: `1.85.0` of `1.85`.
fn release(version: &str) -> String {
    format!("{version}{}", ".0".repeat(2 - version.matches('.').count().min(2)))
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn a_version_begins_with_its_first_release() {
        assert_eq!(["1.85", "1.85.1", "2"].map(release), ["1.85.0", "1.85.1", "2.0.0"]);
    }
}
