//! The C libraries of one target: headers, libraries, pkg-config files and the `CMake` package in one archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::{folder, host, Order};
use crate::install;
use crate::setup::run as call;

/// A program that any C compiler takes, and that says which version it is linked with.
const PROGRAM: &str = "#include <acp.h>\n#include <acp_files.h>\nint main(void) { acp_config *config = 0; \
                       return acp_config_new(ACP_ROLE_CLIENT, &config) != ACP_OK; }\n";

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
        tried(&prefix)?;
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
    let archive = PathBuf::from(format!("{name}.tar.gz"));
    call(Command::new("tar").current_dir(&files).arg("-czf").arg(&archive).arg(&name))?;
    fs::remove_dir_all(&root)?;
    let archive = files.join(archive);
    println!("packed and tried: {}", archive.display());
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

/// Links a program with each of the libraries and runs it.
fn tried(prefix: &Path) -> Result<()> {
    let source = folder("c-test")?;
    let (program, main) = (source.join("program"), source.join("main.c"));
    fs::write(&main, PROGRAM)?;
    let lib = prefix.join("lib");
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror"]).arg(&main).arg("-I").arg(prefix.join("include")).arg("-L").arg(&lib);
    call(cc.args(["-lacp", "-lacp_files", "-o"]).arg(&program))?;
    call(Command::new(&program).env("LD_LIBRARY_PATH", lib))
}
