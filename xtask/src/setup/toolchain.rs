//! The targets and components that `rust-toolchain.toml` names.
//!
//! rustup installs them together with the toolchain, but not with `RUSTUP_AUTO_INSTALL=0`, and not if the toolchain is
//! already there or was chosen by name. So the set-up looks for what is missing and installs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{bail, ensure, Context, Result};

use super::{is_there, run};

const FILE: &str = "rust-toolchain.toml";

/// The components that the file may name, and the program by which each is recognised.
const COMPONENTS: &[(&str, &str)] = &[("rustfmt", "bin/rustfmt"), ("clippy", "bin/cargo-clippy")];

/// Installs what is missing. Targets are required. Components only matter to those who change the code, so a missing one
/// is reported and is no error.
pub(crate) fn bring() -> Result<()> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if *done {
        return Ok(());
    }
    let wanted = Wanted::read(&fs::read_to_string(FILE).context(FILE)?)?;
    let sysroot = sysroot()?;
    let lacking = wanted.lacking(&sysroot);
    let mut said = String::new();
    if is_there("rustup") {
        for (kind, names) in [("target", &lacking.targets), ("component", &lacking.components)] {
            if let Err(error) = add(kind, names) {
                said = format!("\n{error:#}");
            }
        }
    }
    // The compiler in use may not be the one that rustup has changed.
    let lacking = wanted.lacking(&sysroot);
    if !lacking.targets.is_empty() {
        bail!("{}{said}", lacking.advice());
    }
    if !lacking.components.is_empty() {
        println!("note: {}", lacking.advice());
    }
    *done = true;
    Ok(())
}

/// Installs targets or components for the active toolchain.
fn add(kind: &str, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let start = Instant::now();
    let mut rustup = Command::new("rustup");
    rustup.args([kind, "add"]).args(names);
    // The toolchain that cargo was started from, which is not always the one that the file names.
    if let Some(toolchain) = std::env::var_os("RUSTUP_TOOLCHAIN") {
        rustup.arg("--toolchain").arg(toolchain);
    }
    run(&mut rustup)?;
    println!("set up: {kind} {} with rustup ({:.1} s)", names.join(", "), start.elapsed().as_secs_f64());
    Ok(())
}

/// The folder of the active compiler's libraries and programs.
fn sysroot() -> Result<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().context("rustc")?;
    ensure!(output.status.success(), "rustc --print sysroot: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout).context("rustc --print sysroot")?.trim_end().into())
}

/// Targets and components.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    /// The release that the file names.
    channel: String,
    targets: Vec<String>,
    components: Vec<String>,
}

impl Wanted {
    /// What the text of the file names.
    fn read(text: &str) -> Result<Self> {
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once('='));
            let found = lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
            found.with_context(|| format!("{FILE} has no {name}"))
        };
        let words = |name| {
            let list = value(name)?.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
            let list = list.with_context(|| format!("{FILE}: expected {name} as a list on one line"))?;
            Ok::<_, anyhow::Error>(list.split(',').map(unquoted).filter(|word| !word.is_empty()).collect())
        };
        let wanted = Wanted {
            channel: unquoted(value("channel")?),
            targets: words("targets")?,
            components: words("components")?,
        };
        let unknown = wanted.components.iter().find(|name| component(name).is_none());
        ensure!(
            unknown.is_none(),
            "{FILE}: COMPONENTS does not say how to recognise {}",
            unknown.map_or("", String::as_str)
        );
        Ok(wanted)
    }

    /// The part of it that a toolchain does not have.
    fn lacking(&self, sysroot: &Path) -> Self {
        let mut lacking = self.clone();
        lacking.targets.retain(|target| !has_library(&sysroot.join("lib/rustlib").join(target).join("lib")));
        lacking.components.retain(|name| {
            let program = component(name).map(|path| sysroot.join(path));
            !program.is_some_and(|path| path.is_file() || path.with_extension("exe").is_file())
        });
        lacking
    }

    /// What to run where rustup could not add to the toolchain.
    fn advice(&self) -> String {
        let option =
            |kind: &str, names: &[String]| names.iter().map(|name| format!(" --{kind} {name}")).collect::<Vec<_>>();
        let options = [option("target", &self.targets), option("component", &self.components)].concat();
        format!(
            "this Rust toolchain lacks {}; run `rustup toolchain install {channel}{}`, then `cargo +{channel} xtask …`",
            [&self.targets[..], &self.components].concat().join(", "),
            options.concat(),
            channel = self.channel,
        )
    }
}

fn component(name: &str) -> Option<&'static str> {
    COMPONENTS.iter().find(|(known, _)| *known == name).map(|(_, path)| *path)
}

/// Whether the standard library of a target is in this folder. The folder alone says nothing.
fn has_library(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with("libcore-"))
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[toolchain]\nchannel = \"1.95.0\"\ncomponents = [\"rustfmt\", \"clippy\"]\ntargets = [\"wasm32-unknown-unknown\"]\n";

    #[test]
    fn the_projects_file_is_read() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(FILE);
        assert_eq!(fs::read_to_string(file).unwrap(), TEXT);
        let wanted = Wanted::read(TEXT).unwrap();
        assert_eq!(
            (wanted.channel.as_str(), wanted.targets.as_slice()),
            ("1.95.0", &["wasm32-unknown-unknown".to_owned()][..])
        );
        assert_eq!(wanted.components, ["rustfmt", "clippy"]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (text, expected) in [
            ("channel = \"1\"\ntargets = []", "rust-toolchain.toml has no components"),
            ("channel = \"1\"\ntargets = [\ncomponents = []", "expected targets as a list on one line"),
            (
                "channel = \"1\"\ntargets = []\ncomponents = [\"rust-src\"]",
                "COMPONENTS does not say how to recognise rust-src",
            ),
        ] {
            let error = Wanted::read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not say {expected:?}");
        }
    }

    #[test]
    fn what_is_missing_is_found_and_named() {
        let sysroot = std::env::temp_dir().join(format!("libacp-sysroot-{}", std::process::id()));
        let library = sysroot.join("lib/rustlib/wasm32-unknown-unknown/lib");
        // rustup leaves the folders behind when it removes a target.
        fs::create_dir_all(&library).unwrap();
        fs::create_dir_all(sysroot.join("bin")).unwrap();
        fs::write(sysroot.join("bin/rustfmt"), "").unwrap();
        let wanted = Wanted::read(TEXT).unwrap();
        let lacking = wanted.lacking(&sysroot);
        assert_eq!(
            lacking.advice(),
            "this Rust toolchain lacks wasm32-unknown-unknown, clippy; run `rustup toolchain install 1.95.0 --target \
             wasm32-unknown-unknown --component clippy`, then `cargo +1.95.0 xtask …`"
        );
        fs::write(library.join("libcore-0123456789abcdef.rlib"), "").unwrap();
        fs::write(sysroot.join("bin/cargo-clippy"), "").unwrap();
        let lacking = wanted.lacking(&sysroot);
        assert_eq!((lacking.targets.len(), lacking.components.len()), (0, 0));
        fs::remove_dir_all(&sysroot).unwrap();
    }
}
