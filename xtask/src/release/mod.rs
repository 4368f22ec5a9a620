//! `cargo xtask release PART`: makes what a release consists of, looks whether it is what its users need, and publishes it
//! if that is asked for.
//!
//! The workflow calls nothing else, so everything that it does can be tried on any machine. A part is a row of [`PARTS`];
//! what it makes lies in `target/release-files` afterwards.

mod archive;
mod crates;
mod made;
mod npm;
mod versions;
mod wheels;

use std::fs;
use std::path::PathBuf;

use anyhow::{bail, ensure, Context, Result};

use crate::commands::Options;

pub(crate) const USAGE: &str = "PART [--target TARGET] [--tag TAG] [--publish]";
pub(crate) const OPTIONS: Options = &[
    ("PART", "check, crates, npm, wheels, c, or made: what several machines have made of the last two"),
    ("--target TARGET", "for this target of Rust's, in wheels and c; this machine's without it"),
    ("--tag TAG", "fail where the versions are not those of this tag, as in v0.1.0"),
    ("--publish", "hand it to its registry; without it nothing leaves the machine"),
];

/// Where everything that is made lies.
const FILES: &str = "target/release-files";

/// A part of a release.
struct Part {
    name: &'static str,
    /// Whether it is made anew for each target.
    by_target: bool,
    publishes: bool,
    run: fn(&Order) -> Result<()>,
}

const PARTS: &[Part] = &[
    Part { name: "check", by_target: false, publishes: false, run: |_| Ok(()) },
    Part { name: "crates", by_target: false, publishes: true, run: crates::run },
    Part { name: "npm", by_target: false, publishes: true, run: npm::run },
    Part { name: "wheels", by_target: true, publishes: false, run: wheels::run },
    Part { name: "c", by_target: true, publishes: false, run: archive::run },
    Part { name: "made", by_target: false, publishes: true, run: made::run },
];

/// What is asked for.
#[derive(Debug, Default, PartialEq)]
struct Order {
    target: Option<String>,
    tag: Option<String>,
    publish: bool,
    /// The version of everything that is made.
    version: String,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (part, mut order) = read(args)?;
    order.version = versions::agreed(order.tag.as_deref())?;
    println!("version {} everywhere", order.version);
    (part.run)(&order)
}

fn read(args: &[String]) -> Result<(&'static Part, Order)> {
    let names = || PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    let (name, rest) = args.split_first().with_context(|| format!("expected one of {}", names()))?;
    let part = PARTS.iter().find(|part| part.name == name);
    let part = part.with_context(|| format!("no part {name}; expected one of {}", names()))?;
    let mut order = Order::default();
    let mut rest = rest.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().cloned().with_context(|| format!("{option}: expected a value"));
        match option.as_str() {
            "--target" => order.target = Some(value()?),
            "--tag" => order.tag = Some(value()?),
            "--publish" => order.publish = true,
            _ => bail!("{option}: unknown; expected {USAGE}"),
        }
    }
    ensure!(part.by_target || order.target.is_none(), "{name} is the same for every target; leave --target out");
    ensure!(part.publishes || !order.publish, "{name} publishes nothing; made, crates and npm do");
    Ok((part, order))
}

/// The folder of a part's files, empty.
fn folder(name: &str) -> Result<PathBuf> {
    let folder = PathBuf::from(FILES).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// The target of this machine's compiler.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = std::process::Command::new(rustc).arg("-vV").output().context("rustc")?;
    let said = String::from_utf8(output.stdout).context("rustc -vV")?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// The only file of a folder whose name ends like this.
fn only(folder: &std::path::Path, end: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        found.push(entry?.path());
    }
    found.retain(|path| path.to_string_lossy().ends_with(end));
    match &found[..] {
        [one] => Ok(one.clone()),
        _ => bail!("{}: expected one file *{end}, found {}", folder.display(), found.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(line: &str) -> Result<(&'static str, Order)> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read(&args).map(|(part, order)| (part.name, order))
    }

    #[test]
    fn an_order_is_read() {
        let (name, read) = order("wheels --target aarch64-unknown-linux-musl --tag v1.2.3").unwrap();
        assert_eq!(name, "wheels");
        assert_eq!(read.target.as_deref(), Some("aarch64-unknown-linux-musl"));
        assert_eq!((read.tag.as_deref(), read.publish), (Some("v1.2.3"), false));
        assert!(order("crates --publish").unwrap().1.publish);
        assert_eq!(order("npm").unwrap(), ("npm", Order::default()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, why) in [
            ("", "expected one of check, crates, npm, wheels, c, made"),
            ("nothing", "no part nothing"),
            ("npm --target x", "leave --target out"),
            ("wheels --target", "--target: expected a value"),
            ("wheels --verbose", "--verbose: unknown"),
            ("wheels --publish", "wheels publishes nothing"),
        ] {
            let error = order(line).unwrap_err().to_string();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
