//! The book: it is built and refused when it is broken, its programs are run as their readers run them, and the names in it
//! are looked up. What is particular to TypeScript and to the proxy is with their own suites.

use std::process::Command;

use anyhow::Result;

use super::Log;
use crate::references;
use crate::setup::{cargo, require, steps};

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    require("pkg-config")?;
    references::bring()?;
    log.run(cargo().args(["run", "--quiet", "-p", "xtask-book"]))?;
    log.run(Command::new("python3").args(["tests/docs/broken.py", "target/debug/xtask-book"]))?;
    log.run(Command::new("python3").arg("tests/docs/tree.py"))?;
    programs(log, &["c", "cpp", "python", "node", "rust", "tokio", "recipes"])?;
    log.run(Command::new("python3").arg("tests/docs/rust.py"))?;
    log.run(Command::new(steps::PYTHON).arg("tests/docs/python.py"))
}

/// Builds and runs the programs of some pages.
pub(super) fn programs(log: &Log<'_>, kinds: &[&str]) -> Result<()> {
    log.run(Command::new("python3").arg("tests/docs/programs.py").args(kinds))
}
