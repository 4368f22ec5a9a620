//! Writes `include/acp.h` and `include/acp_files.h` from the sources of the crates `ffi` and `ffi-files`:
//! `cargo run -p xtask-header -- [--check]`.
//!
//! The headers are committed, so that nobody needs this to build; `--check` fails when one is stale. What is not made from
//! the source (the conventions at the top, the helpers at the end) is in the `cbindgen.toml` of each crate.

use std::path::Path;

use anyhow::{bail, Context, Result};

/// Each header, with the folder of the crate that it is made from.
const HEADERS: &[(&str, &str)] = &[("include/acp.h", "ffi"), ("include/acp_files.h", "ffi-files")];

fn main() -> Result<()> {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("expected no argument but --check"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("not in a workspace")?;
    for (header, folder) in HEADERS {
        let (path, text) = (root.join(header), text(&root.join(folder))?);
        if !check {
            std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        } else if std::fs::read(&path).with_context(|| path.display().to_string())? != text {
            bail!("{header} is stale; make it new with `cargo run -p xtask-header`");
        }
    }
    Ok(())
}

/// The header of a crate.
fn text(folder: &Path) -> Result<Vec<u8>> {
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).map_err(anyhow::Error::msg)?;
    let sources = sources(&folder.join("src"))?;
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut text = Vec::new();
    builder.generate().with_context(|| folder.display().to_string())?.write(&mut text);
    Ok(safe(&String::from_utf8(text)?).into_bytes())
}

/// Puts negative numbers into parentheses, so that they stay numbers wherever a macro stands.
fn safe(text: &str) -> String {
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["#define", name, number] if number.starts_with('-') => format!("#define {name} ({number})\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The modules of the interface, in the order in which the crate lists them.
fn sources(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let root = std::fs::read_to_string(folder.join("lib.rs")).with_context(|| folder.display().to_string())?;
    let modules = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    // Hosts of the WebAssembly module do not read a header.
    Ok(modules.filter(|&module| module != "wasm").map(|module| folder.join(format!("{module}.rs"))).collect())
}
