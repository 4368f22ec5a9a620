//! The Python wheel of one target, for every Python from 3.9 on; tried where this machine can run it.
//!
//! Linux wheels are linked by zig, which knows the symbols of each glibc: they need neither an old system nor a container,
//! and one machine makes those of every processor.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::{folder, host, only, Order};
use crate::setup::run as call;
use crate::setup::steps::{self, pip, PYTHON};

/// The linker of the Linux wheels.
const ZIG: &str = "ziglang==0.15.2";
/// The oldest systems that a wheel runs on, by the end of its target.
const SYSTEMS: &[(&str, &str)] = &[("linux-gnu", "manylinux_2_28"), ("linux-musl", "musllinux_1_2")];

pub(super) fn run(order: &Order) -> Result<()> {
    let host = host()?;
    let target = order.target.as_deref().unwrap_or(&host);
    steps::VENV.bring()?;
    let system = SYSTEMS.iter().find(|(end, _)| target.ends_with(end)).map(|(_, system)| *system);
    if system.is_some() {
        call(pip().arg(ZIG))?;
    }
    call(Command::new("rustup").args(["target", "add", target]))
        .with_context(|| format!("the standard library for {target}"))?;
    let files = folder(&format!("wheels/{target}"))?;
    let mut maturin = Command::new(PYTHON);
    maturin.args([
        "-m",
        "maturin",
        "build",
        "--quiet",
        "--release",
        "--locked",
        "--manifest-path",
        "python/Cargo.toml",
    ]);
    maturin.args(["--target", target]).arg("--out").arg(&files);
    match system {
        Some(system) => {
            // It would look for zig beside the `python3` that it finds first.
            maturin.env("CARGO_ZIGBUILD_PYTHON_PATH", std::path::absolute(PYTHON)?);
            maturin.args(["--zig", "--compatibility", system])
        }
        None => maturin.args(["--interpreter", PYTHON]),
    };
    call(&mut maturin)?;
    let wheel = only(&files, ".whl")?;
    if target == host {
        tried(&wheel, &order.version)?;
    } else {
        println!("note: {} is not tried, as this machine is {host}", wheel.display());
    }
    println!("built: {}", wheel.display());
    Ok(())
}

/// Installs the wheel into an environment of its own and asks it what its users would.
fn tried(wheel: &Path, version: &str) -> Result<()> {
    let empty = folder("wheels/test")?;
    call(Command::new(PYTHON).args(["-m", "venv", "--without-pip"]).arg(&empty))?;
    let python = empty.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let mut install = pip();
    install.args(["--no-index", "--no-deps", "--target"]).arg(empty.join("site")).arg(wheel);
    call(&mut install)?;
    let mut test = Command::new(std::path::absolute(python)?);
    test.env("PYTHONPATH", std::path::absolute(empty.join("site"))?);
    call(test.arg("tests/release/package.py").arg(version).arg(wheel.file_name().unwrap_or_default()))
}
