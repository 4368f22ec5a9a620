//! `cargo xtask fuzz`: builds the programs of `core/fuzz` with coverage and the address sanitizer, and runs each for some
//! minutes, without cargo-fuzz. It needs a C++ compiler for libFuzzer, and no nightly toolchain.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};

use crate::commands::Options;
use crate::setup::cargo;

mod seeds;

pub(crate) const USAGE: &str = "[--minutes N] [--only TARGET] [--keep] | --seeds";
pub(crate) const OPTIONS: Options = &[
    ("--minutes N", "how long each target runs; 5 without it, with 0 only what is there is tried once more"),
    ("--only TARGET", "this target of core/fuzz/fuzz_targets alone"),
    ("--keep", "take over into core/fuzz/corpus what reaches new code"),
    ("--seeds", "write into core/fuzz/corpus what the vectors of version 2 say, and run nothing"),
];

const FOLDER: &str = "core/fuzz";
/// What is built, found and collected.
const OUT: &str = "target/fuzz";
/// Bytes of one target's part of the committed corpus, so that all of them stay below 1 MB.
const KEPT: u64 = 130 * 1024;
/// Files of that part.
const FILES: usize = 150;
/// How the compiler notes which code has run, and what the sanitizer wants.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing -Zsanitizer=address";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut minutes, mut only, mut keep) = (5, None, false);
    if args == ["--seeds"] {
        for target in names(&Path::new(FOLDER).join("fuzz_targets"))? {
            let count = seeds::write(&target, &seeds(&target))?;
            if count > 0 {
                println!("{target}: {count} inputs");
            }
        }
        return Ok(());
    }
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("expected a value after {arg}; {USAGE}"));
        match arg.as_str() {
            "--minutes" => minutes = value()?.parse().context("--minutes")?,
            "--only" => only = Some(value()?.clone()),
            "--keep" => keep = true,
            _ => bail!("{arg}? expected {USAGE}"),
        }
    }
    let mut targets = names(&Path::new(FOLDER).join("fuzz_targets"))?;
    targets.retain(|target| only.as_ref().is_none_or(|only| only == target));
    ensure!(!targets.is_empty(), "no such target; {FOLDER}/fuzz_targets has them");
    let programs = build()?;
    let mut findings = 0;
    for target in &targets {
        findings += attack(&programs, target, minutes)?;
        if keep {
            collect(&programs, target)?;
        }
    }
    ensure!(findings == 0, "{findings} findings");
    Ok(())
}

/// The stems of the files in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        all.extend(entry?.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    all.sort();
    Ok(all)
}

/// Compiles all programs; the folder that they are in.
fn build() -> Result<PathBuf> {
    let version = Command::new("rustc").arg("-vV").output().context("rustc")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc -vV tells no host")?;
    // With a target given, the flags are not for what runs in the compiler. The sanitizer's is for those who ask.
    let status = cargo()
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path", &format!("{FOLDER}/Cargo.toml")])
        .args(["--target", host])
        .env("CARGO_TARGET_DIR", std::path::absolute(OUT)?)
        .env("RUSTFLAGS", FLAGS)
        .env("RUSTC_BOOTSTRAP", "1")
        .status()?;
    ensure!(status.success(), "the programs of {FOLDER} do not compile");
    Ok(Path::new(OUT).join(host).join("release"))
}

fn seeds(target: &str) -> PathBuf {
    Path::new(FOLDER).join("corpus").join(target)
}

/// What a target has collected on this machine.
fn collected(target: &str) -> PathBuf {
    Path::new(OUT).join("corpus").join(target)
}

/// Runs one target, and says how it went; how many inputs broke something.
fn attack(programs: &Path, target: &str, minutes: u64) -> Result<usize> {
    let (corpus, found) = (collected(target), Path::new(OUT).join("findings").join(target));
    for folder in [&corpus, &found, &seeds(target)] {
        fs::create_dir_all(folder)?;
    }
    let before = names(&found)?.len();
    let log = Path::new(OUT).join(format!("{target}.log"));
    let status = program(programs, target, &log)?
        // No minutes: what is there once more, and nothing new.
        .arg(if minutes == 0 { "-runs=0".into() } else { format!("-max_total_time={}", minutes * 60) })
        .args(["-max_len=4096", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1"])
        .arg(format!("-dict={FOLDER}/words.dict"))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args([&corpus, &seeds(target)])
        .status()?;
    let text = fs::read(&log)?;
    let text = String::from_utf8_lossy(&text);
    let executions = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units: "));
    let findings = names(&found)?.len() - before;
    println!("{target}: {} executions, {findings} findings", executions.map_or("no", str::trim));
    if findings > 0 {
        println!("  {} has what was found, {} what it broke", found.display(), log.display());
    }
    ensure!(status.success() || findings > 0, "{target} has failed: {}", log.display());
    Ok(findings)
}

/// A target's program, its output in a file.
fn program(programs: &Path, target: &str, log: &Path) -> Result<Command> {
    let mut command = Command::new(programs.join(target));
    let log = fs::File::create(log).with_context(|| log.display().to_string())?;
    command.stdout(Stdio::null()).stderr(log);
    Ok(command)
}

/// Takes over into the committed corpus a part of those inputs that together reach all code that the collected ones
/// reach: of all lengths, the smallest first, as far as they fit.
fn collect(programs: &Path, target: &str) -> Result<()> {
    let (kept, least) = (seeds(target), Path::new(OUT).join("least").join(target));
    if least.exists() {
        fs::remove_dir_all(&least)?;
    }
    fs::create_dir_all(&least)?;
    let log = Path::new(OUT).join(format!("{target}-merge.log"));
    let status = program(programs, target, &log)?.arg("-merge=1").args([&least, &collected(target), &kept]).status()?;
    ensure!(status.success(), "{target} cannot be merged: {}", log.display());
    fs::remove_dir_all(&kept)?;
    fs::create_dir_all(&kept)?;
    let mut inputs: Vec<(u64, OsString)> = Vec::new();
    for entry in fs::read_dir(&least)? {
        let entry = entry?;
        inputs.push((entry.metadata()?.len(), entry.file_name()));
    }
    inputs.sort();
    let mut room = KEPT;
    let step = inputs.len().div_ceil(FILES).max(1);
    for (length, name) in inputs.into_iter().step_by(step) {
        room = room.saturating_sub(length);
        if room == 0 {
            break;
        }
        fs::copy(least.join(&name), kept.join(&name))?;
    }
    Ok(())
}
