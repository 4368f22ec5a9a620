//! The crate as others get it: packed, unpacked in a folder outside of the tree, built from there, and its
//! documentation's example run; and the documentation itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::Log;
use crate::setup::cargo;

/// Where the documentation has its example of a whole program.
const EXAMPLE: &str = "core/src/aio/mod.rs";

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    let mut doc = cargo();
    doc.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--quiet", "-p", "libacp", "--no-deps", "--all-features"]);
    log.run(&mut doc)?;
    log.passed("documentation of all features")?;

    let target = std::path::absolute("target")?;
    log.run(cargo().args(["package", "--quiet", "-p", "libacp", "--no-verify", "--allow-dirty"]))?;
    let name = format!("libacp-{}", env!("CARGO_PKG_VERSION"));
    let folder = std::env::temp_dir().join(format!("libacp-packed-{}", std::process::id()));
    let result = built(log, &folder, &name, &target);
    // What is left of it belongs to nobody.
    let _ = fs::remove_dir_all(&folder);
    result
}

fn built(log: &Log<'_>, folder: &Path, name: &str, target: &Path) -> Result<()> {
    let program = folder.join("program");
    fs::create_dir_all(program.join("src"))?;
    let archive = target.join("package").join(format!("{name}.crate"));
    log.run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder))?;
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "src/lib.rs"] {
        ensure!(folder.join(name).join(file).is_file(), "{file} is not in the package");
    }
    for file in ["tests", "benches", "protocol"] {
        ensure!(!folder.join(name).join(file).exists(), "{file} is in the package, and nobody needs it there");
    }
    log.passed("what is in the package")?;

    let manifest = format!(
        "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
         libacp = {{ path = \"../{name}\", features = [\"futures\"] }}\n\
         futures = {{ version = \"0.3\", default-features = false, features = [\"executor\"] }}\n"
    );
    fs::write(program.join("Cargo.toml"), manifest)?;
    fs::write(program.join("src/main.rs"), example()?)?;
    // The versions that this tree has been built with are there already.
    fs::copy("Cargo.lock", program.join("Cargo.lock"))?;
    let mut run = cargo();
    run.current_dir(&program).env("CARGO_TARGET_DIR", target.join("packed")).args(["run", "--quiet", "--offline"]);
    log.run(&mut run)?;
    log.passed("the documentation's example, with the package")
}

/// The last example of the module's documentation, as a program.
fn example() -> Result<String> {
    let text = fs::read_to_string(EXAMPLE)?;
    let lines =
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let code = text.rsplit("```").nth(1).with_context(|| format!("{EXAMPLE} has no example"))?;
    let code: Vec<_> = code.lines().map(|line| line.strip_prefix("# ").unwrap_or(line)).collect();
    Ok(format!("fn main() -> Result<(), std::io::Error> {{\n{}\n}}\n", code.join("\n")))
}
