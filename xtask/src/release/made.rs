//! What several machines have made: all of it has to be there before any of it is published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Result};

use super::{Order, FILES};
use crate::setup::run as call;
use crate::setup::steps::{self, pip, PYTHON};

/// The targets of wheels, and what their names say of them; those with the C libraries, too.
pub(super) const TARGETS: &[(&str, &str, bool)] = &[
    ("x86_64-unknown-linux-gnu", "manylinux_2_28_x86_64", true),
    ("aarch64-unknown-linux-gnu", "manylinux_2_28_aarch64", true),
    ("x86_64-unknown-linux-musl", "musllinux_1_2_x86_64", false),
    ("aarch64-unknown-linux-musl", "musllinux_1_2_aarch64", false),
    ("x86_64-apple-darwin", "macosx_10_12_x86_64", false),
    ("aarch64-apple-darwin", "macosx_11_0_arm64", false),
    ("x86_64-pc-windows-msvc", "win_amd64", false),
];

pub(super) fn run(order: &Order) -> Result<()> {
    let mut files = Vec::new();
    collect(&Path::new(FILES).join("made"), &mut files)?;
    let lacking = lacking(&files, &order.version);
    ensure!(lacking.is_empty(), "{FILES}/made lacks {}", lacking.join(", "));
    let (wheels, archives): (Vec<&PathBuf>, Vec<_>) =
        files.iter().partition(|file| file.extension().is_some_and(|end| end == "whl"));
    if order.publish {
        steps::VENV.bring()?;
        call(pip().arg(TWINE))?;
        call(
            Command::new(PYTHON).args(["-m", "twine", "upload", "--non-interactive", "--skip-existing"]).args(&wheels),
        )?;
        let tag = format!("v{}", order.version);
        let mut create = Command::new("gh");
        create.args(["release", "create", &tag, "--verify-tag", "--title", &tag, "--notes", "See CHANGELOG.md."]);
        call(create.args(&archives))?;
    }
    let done = if order.publish { "published" } else { "complete" };
    println!("{done}: {} wheels, {} archives", wheels.len(), archives.len());
    Ok(())
}

/// What hands files to `PyPI`.
const TWINE: &str = "twine==6.2.0";

/// The files below a folder; none where there is no such folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// What is not among the files.
fn lacking(files: &[PathBuf], version: &str) -> Vec<String> {
    let mut wanted = Vec::new();
    for (target, wheel, library) in TARGETS {
        wanted.push(format!("libacp-{version}-cp39-abi3-{wheel}.whl"));
        if *library {
            wanted.push(format!("libacp-{version}-{target}.tar.gz"));
        }
    }
    // A wheel for two systems names both.
    let fits = |name: &str, wanted: &str| match wanted.strip_suffix(".whl").and_then(|name| name.rsplit_once('-')) {
        Some((head, system)) => {
            let tail = name.strip_prefix(head).and_then(|rest| rest.strip_prefix('-'));
            let systems = tail.and_then(|rest| rest.strip_suffix(".whl")).unwrap_or_default();
            systems.split('.').any(|named| named == system)
        }
        None => name == wanted,
    };
    let names: Vec<String> = files.iter().filter_map(|file| Some(file.file_name()?.to_str()?.to_owned())).collect();
    wanted.retain(|wanted| !names.iter().any(|name| fits(name, wanted)));
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named() {
        let mut files: Vec<PathBuf> = TARGETS
            .iter()
            .flat_map(|(target, wheel, library)| {
                let wheel = format!("wheel-{target}/libacp-1.0.0-cp39-abi3-{wheel}.whl");
                let archive = library.then(|| format!("c/libacp-1.0.0-{target}.tar.gz"));
                [Some(wheel), archive].into_iter().flatten().map(PathBuf::from)
            })
            .collect();
        assert!(lacking(&files, "1.0.0").is_empty());
        assert_eq!(lacking(&files, "1.0.1").len(), files.len());
        files[0] = "libacp-1.0.0-cp39-abi3-manylinux2014_x86_64.manylinux_2_28_x86_64.whl".into();
        assert!(lacking(&files, "1.0.0").is_empty());
        files[0] = "libacp-1.0.0-cp39-abi3-manylinux_2_28_x86_64_v2.whl".into();
        assert_eq!(lacking(&files, "1.0.0"), ["libacp-1.0.0-cp39-abi3-manylinux_2_28_x86_64.whl"]);
    }
}
