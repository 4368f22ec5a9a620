//! The README's examples in C, C++, Python and JavaScript, as their readers would run them. The Rust one is among the
//! documentation tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Log;
use crate::setup::steps;

const FOLDER: &str = "target/readme";
/// What a client says to the agents in C and C++, and what they must answer.
const SAID: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"Hi"}]}}
"#;
const ANSWERED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    fs::create_dir_all(FOLDER)?;
    let readme = fs::read_to_string("README.md")?;
    let said = Path::new(FOLDER).join("said");
    fs::write(&said, SAID)?;
    for (language, compiler, standard, file) in
        [("c", "cc", "-std=c99", "example.c"), ("cpp", "c++", "-std=c++17", "example.cpp")]
    {
        let source = Path::new(FOLDER).join(file);
        fs::write(&source, block(&readme, language)?)?;
        let program = Path::new(FOLDER).join(language);
        let mut compile = Command::new(compiler);
        compile.args([standard, "-Wall", "-Wextra", "-Iinclude", "-o"]).arg(&program).arg(&source);
        log.run(compile.args(["target/release/libacp.a", "-lpthread", "-ldl", "-lm"]))?;
        let mut talk = Command::new("sh");
        talk.args(["-euc", r#""$0" < "$1" | grep -Fx "$2""#]).args([&program, &said]).arg(ANSWERED);
        log.run(&mut talk)?;
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
