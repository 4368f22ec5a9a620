//! The README's examples in C, C++, Python and JavaScript, as their readers would run them. The Rust one is among the
//! documentation tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};

use super::Log;
use crate::setup::steps;

const FOLDER: &str = "target/readme";
/// What a client says to the agents in C and C++, and what they must answer.
const SAID: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"Hi"}]}}
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
        fs::write(&source, blocks(&readme, language).first().with_context(|| format!("no example in {language}"))?)?;
        let program = Path::new(FOLDER).join(language);
        let mut compile = Command::new(compiler);
        compile.args([standard, "-Wall", "-Wextra", "-Iinclude", "-o"]).arg(&program).arg(&source);
        log.run(compile.args(["target/release/libacp.a", "-lpthread", "-ldl", "-lm"]))?;
        // What draws a view is part of a client.
        let part = Path::new(FOLDER).join(format!("draw.{language}"));
        let drawing = blocks(&readme, language).get(1).copied();
        fs::write(&part, drawing.with_context(|| format!("nothing draws a view in {language}"))?)?;
        let mut check = Command::new(compiler);
        log.run(check.args([standard, "-Wall", "-Wextra", "-Werror", "-Iinclude", "-fsyntax-only"]).arg(&part))?;
        let mut talk = Command::new("sh");
        talk.args(["-euc", r#""$0" < "$1" | grep -Fx "$2""#]).args([&program, &said]).arg(ANSWERED);
        log.run(&mut talk)?;
        log.passed(language)?;
    }
    let python = blocks(&readme, "python");
    let [connection, agent, client, viewer] = python[..] else {
        bail!("{} examples in Python, not four", python.len())
    };
    let all = [("example.py", connection), ("agent.py", agent), ("client.py", client), ("viewer.py", viewer)];
    for (name, text) in all {
        fs::write(Path::new(FOLDER).join(name), text)?;
    }
    let interpreter = std::path::absolute(steps::PYTHON)?;
    for name in ["example.py", "client.py", "viewer.py"] {
        log.run(Command::new(&interpreter).arg(name).current_dir(FOLDER))?;
        log.passed(name)?;
    }
    // Where the packed package is installed.
    let source = Path::new("target/node/readme.mjs");
    fs::write(source, blocks(&readme, "js").first().context("no example in JavaScript")?)?;
    log.run(Command::new("node").arg(source))?;
    log.passed("js")
}

/// The examples in a language.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let ends = |rest: &'a str| rest.split("```").next().unwrap_or_default();
    readme.split(&format!("\n```{language}\n")).skip(1).map(ends).collect()
}
