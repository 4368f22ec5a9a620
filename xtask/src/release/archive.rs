//! The C libraries of one target: headers, libraries, pkg-config files and the `CMake` package in one archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::{folder, host, Order};
use crate::install;
use crate::setup::run as call;
use crate::setup::steps;

/// What an archive says of itself.
const README: &str = include_str!("../../../ffi/ARCHIVE.md");
/// The oldest glibc that the shared libraries run with: its second number.
const GLIBC: u32 = 34;

pub(super) fn run(order: &Order) -> Result<()> {
    let host = host()?;
    if let Some(target) = &order.target {
        ensure!(*target == host, "the C libraries for {target} are built on such a machine; this one is {host}");
    }
    let name = format!("libacp-{}-{host}", order.version);
    let files = folder("c")?;
    let root = files.join(&name);
    fs::create_dir_all(&root)?;
    let prefix = std::path::absolute(&root)?;
    if cfg!(target_os = "linux") {
        install::run(&["--prefix".to_owned(), prefix.to_string_lossy().into_owned()])?;
        for library in ["libacp.so", "libacp_files.so"] {
            let wanted = newest_glibc(&fs::read(root.join("lib").join(library))?);
            ensure!(wanted <= GLIBC, "{library} needs glibc 2.{wanted}, and 2.{GLIBC} is promised");
        }
    } else {
        // Names and places of libraries are other ones there, which cargo-c knows.
        let mut cargo = crate::setup::cargo();
        cargo.args([
            "cinstall",
            "--release",
            "--package",
            "libacp-ffi",
            "--package",
            "libacp-ffi-files",
            "--libdir",
            "lib",
        ]);
        call(cargo.arg("--prefix").arg(&prefix)).context("cargo cinstall, of cargo-c")?;
    }
    relocatable(&root.join("lib/pkgconfig"), &prefix)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        fs::copy(licence, root.join(licence)).context(licence)?;
    }
    let readme = README.replace("{target}", &host).replace("{glibc}", &format!("2.{GLIBC}"));
    fs::write(root.join("README.md"), readme.replace("{repository}", env!("CARGO_PKG_REPOSITORY")))?;
    let archive = PathBuf::from(format!("{name}.tar.gz"));
    call(Command::new("tar").current_dir(&files).arg("-czf").arg(&archive).arg(&name))?;
    fs::remove_dir_all(&root)?;
    let archive = files.join(archive);
    if cfg!(target_os = "linux") {
        let mut tried = Command::new("tests/release/archive.sh");
        // As in `tests/install`, which has brought one.
        if std::env::var_os("CMAKE").is_none() {
            steps::VENV.bring()?;
            tried.env("CMAKE", std::path::absolute(steps::CMAKE)?);
        }
        call(tried.arg(&archive))?;
    }
    println!("{}: {}", if cfg!(target_os = "linux") { "packed and tried" } else { "packed" }, archive.display());
    Ok(())
}

/// Who unpacks an archive chooses the folder: pkg-config counts from where its file lies.
fn relocatable(folder: &Path, prefix: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let line = format!("prefix={}", prefix.display());
        ensure!(text.contains(&line), "{} does not say where it is", path.display());
        fs::write(&path, text.replace(&line, "prefix=${pcfiledir}/../.."))?;
    }
    Ok(())
}

/// The newest version of glibc that a library names, as in `GLIBC_2.34`: its second number.
fn newest_glibc(library: &[u8]) -> u32 {
    const NAME: &[u8] = b"GLIBC_2.";
    let found = library.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    let number = |at: usize| {
        let digits = library[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
    };
    found.map(|(at, _)| number(at)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::newest_glibc;

    #[test]
    fn the_newest_glibc_is_found() {
        assert_eq!(newest_glibc(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_2."), 34);
        assert_eq!(newest_glibc(b"no such name"), 0);
    }
}
