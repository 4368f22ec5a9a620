//! The npm package: packed, installed into an empty folder, and asked for each of its entries.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{folder, only, Order};
use crate::setup::run as call;
use crate::setup::steps::{self, npm};

pub(super) fn run(order: &Order) -> Result<()> {
    steps::NPM_PACKAGE.bring()?;
    let packed = only(Path::new(steps::TARBALLS), ".tgz")?;
    let files = folder("npm")?;
    let file = files.join(packed.file_name().unwrap_or_default());
    fs::copy(&packed, &file)?;

    let empty = folder("npm-test")?;
    fs::write(empty.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")?;
    let place = empty.display().to_string();
    call(npm(&place).args(["install", "--no-package-lock", "--offline"]).arg(std::path::absolute(&file)?))?;
    fs::copy("tests/release/package.mjs", empty.join("package.mjs"))?;
    call(Command::new("node").current_dir(&empty).args(["package.mjs", &order.version]))?;

    let mut publish = Command::new("npm");
    publish.arg("publish").arg(&file).args(["--access", "public"]);
    if order.publish {
        call(publish.arg("--provenance"))?;
    } else {
        call(publish.arg("--dry-run"))?;
    }
    println!("{}: {}", if order.publish { "published" } else { "packed and tried" }, file.display());
    Ok(())
}
