//! The README's examples in C, C++, Python and JavaScript, as their readers would run them. The Rust one is among the
//! documentation tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Log;
use crate::setup::steps;

const FOLDER: &str = "target/readme";
/// What stands around an example in C and in C++.
const C: [&str; 2] = ["#include \"acp.h\"\n#include <stdio.h>\nint main(void) {\n", "return 0;\n}\n"];
const CPP: [&str; 2] = ["#include \"acp.hpp\"\n#include <iostream>\nint main() {\n", "}\n"];

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    let readme = fs::read_to_string("README.md")?;
    for (language, compiler, standard, file, around) in
        [("c", "cc", "-std=c99", "example.c", C), ("cpp", "c++", "-std=c++17", "example.cpp", CPP)]
    {
        let example = block(&readme, language)?;
        let source = Path::new(FOLDER).join(file);
        fs::write(&source, [around[0], example, around[1]].concat())?;
        let program = Path::new(FOLDER).join(language);
        let mut compile = Command::new(compiler);
        compile.args([standard, "-Wall", "-Wextra", "-Iinclude", "-o"]).arg(&program).arg(&source);
        log.run(compile.args(["target/release/libacp.a", "-lpthread", "-ldl", "-lm"]))?;
        log.run(&mut Command::new(program))?;
        log.passed(language)?;
    }
    let source = Path::new(FOLDER).join("example.py");
    fs::write(&source, block(&readme, "python")?)?;
    log.run(Command::new(steps::PYTHON).arg(&source))?;
    log.passed("python")?;
    // Where the packed package is installed.
    let source = Path::new("target/node/readme.mjs");
    fs::write(source, block(&readme, "js")?)?;
    log.run(Command::new("node").arg(source))?;
    log.passed("js")
}

/// The first example in a language.
fn block<'a>(readme: &'a str, language: &str) -> Result<&'a str> {
    let start = format!("```{language}\n");
    let from = readme.find(&start).with_context(|| format!("README.md has no example in {language}"))? + start.len();
    let length = readme[from..].find("```").context("README.md: an example without an end")?;
    Ok(&readme[from..from + length])
}
