//! Writes `include/acp.h` from the source of the `ffi` crate: `cargo run -p xtask-header -- [--check]`.
//!
//! The header is committed, so that nobody needs this to build; `--check` fails when it is stale. What is not made from
//! the source (the conventions at the top, the helpers at the end) is in `ffi/cbindgen.toml`.

use std::path::Path;

use anyhow::{bail, Context, Result};

const HEADER: &str = "include/acp.h";

fn main() -> Result<()> {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("expected no argument but --check"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).context("not in a workspace")?;
    let ffi = root.join("ffi");
    let config = cbindgen::Config::from_file(ffi.join("cbindgen.toml")).map_err(anyhow::Error::msg)?;
    let sources = sources(&ffi.join("src"))?;
    let builder = sources.iter().fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut text = Vec::new();
    builder.generate().context("ffi/src")?.write(&mut text);
    let path = root.join(HEADER);
    if !check {
        return std::fs::write(&path, text).with_context(|| path.display().to_string());
    }
    if std::fs::read(&path).with_context(|| path.display().to_string())? != text {
        bail!("{HEADER} is stale; make it new with `cargo run -p xtask-header`");
    }
    Ok(())
}

/// The modules of the interface, in the order in which the crate lists them.
fn sources(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let root = std::fs::read_to_string(folder.join("lib.rs")).context("ffi/src/lib.rs")?;
    let modules = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    // Hosts of the WebAssembly module do not read a header.
    Ok(modules.filter(|&module| module != "wasm").map(|module| folder.join(format!("{module}.rs"))).collect())
}
