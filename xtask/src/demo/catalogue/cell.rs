//! Runs one cell: the client starts the agent and plays the steps of a version, and what it says is judged.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};

use super::expected::{Expected, Verdict, Word};
use super::hosts::Host;
use super::steps::{Catalogue, Said, STEPS};
use crate::demo::pair::{end_group, text, wait};

/// Where what a cell leaves behind lies.
const FOLDER: &str = "target/demo/catalogue";
/// A client gives a step up after 30 s; a cell takes a few seconds where the machine is quiet.
const LIMIT: Duration = Duration::from_mins(4);
/// Runs the agent with a file of its own for what it says.
const AGENT: &str = r#"said=$1; shift; exec "$@" 2>>"$said""#;

/// A client and an agent that speak a version.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) client: &'static Host,
    pub(super) agent: &'static Host,
    pub(super) version: u8,
}

/// A cell that has been played.
pub(super) struct Played {
    pub(super) verdict: Verdict,
    /// What the client has said, and both sides on standard error.
    said: String,
    errors: Vec<(&'static str, String)>,
    ms: u128,
}

impl Cell {
    pub(super) fn name(&self) -> String {
        format!("{}:{} in version {}", self.client.name, self.agent.name, self.version)
    }

    pub(super) fn hosts(&self) -> [&'static Host; 2] {
        [self.client, self.agent]
    }

    /// Whether the two have their roles, speak the version, and one of them is on libacp.
    pub(super) fn plays(&self) -> bool {
        let Cell { client, agent, version } = self;
        let roles = !client.client.is_empty() && !agent.agent.is_empty();
        roles && (client.ours || agent.ours) && self.hosts().iter().all(|host| host.versions.contains(version))
    }

    /// Runs it and judges it.
    pub(super) fn play(&self, catalogue: &Catalogue, expected: &Expected) -> Result<Played> {
        let root = std::env::current_dir()?;
        let folder = root.join(FOLDER).join(format!("{}-{}-{}", self.version, self.client.name, self.agent.name));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        let work = folder.join("work");
        fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
        let start = Instant::now();
        let ended = self.run(&folder, &work);
        let ms = start.elapsed().as_millis();
        let read = |name: &str| text(&folder.join(name));
        let said = read("client.stdout");
        let errors = vec![("client", read("client.stderr")), ("agent", read("agent.stderr"))];
        let steps: Vec<&str> = catalogue.of(self.version).collect();
        let mut verdict = match ended.and_then(|()| Said::read(&said)) {
            Ok(told) => expected.judge(self, &steps, &told),
            Err(error) => Verdict { wrong: vec![format!("{error:#}")], ..Verdict::default() },
        };
        // Hosts on libacp tell there what is wrong with the other side, and there is nothing wrong with either.
        if self.client.ours && self.agent.ours {
            let loud = errors.iter().filter(|(_, said)| !said.trim().is_empty());
            verdict.wrong.extend(loud.map(|(side, said)| format!("the {side} says: {}", said.trim())));
        }
        Ok(Played { verdict, said, errors, ms })
    }

    fn run(&self, folder: &Path, work: &Path) -> Result<()> {
        let (program, arguments) = self.client.client.split_first().context("a host without a client")?;
        let version = self.version.to_string();
        let mut command = Command::new(program);
        command.args(arguments).args(["--steps", STEPS, "--version", &version, "--work"]).arg(work);
        command.args(["--", "sh", "-c", AGENT, "agent"]).arg(folder.join("agent.stderr"));
        command.args(self.agent.agent).args(["--version", &version]).stdin(Stdio::null());
        let file = |name: &str| File::create(folder.join(name));
        command.stdout(file("client.stdout")?).stderr(file("client.stderr")?);
        // A group of their own, so that both can be ended together.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().with_context(|| (*program).to_owned())?;
        let status = wait(&mut child, Instant::now() + LIMIT)?;
        end_group(&mut child)?;
        match status {
            None => Err(anyhow!("not done within {} s", LIMIT.as_secs())),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(anyhow!("the client ended with {status}")),
        }
    }
}

impl Played {
    /// The numbers of steps: passed, not offered, declared failures.
    pub(super) fn counts(&self) -> [usize; 3] {
        let met = |word| self.verdict.met.iter().filter(|(_, one)| one.is == word).count();
        [self.verdict.passed, met(Word::NotOffered), met(Word::Failed)]
    }

    /// What is said when the cell has ended.
    pub(super) fn line(&self, cell: &Cell) -> String {
        let [passed, not_offered, declared] = self.counts();
        let word = if self.verdict.wrong.is_empty() { "right" } else { "WRONG" };
        let name = cell.name();
        format!("{word}  {name:<34} {passed} passed, {not_offered} not offered, {declared} declared {:>6} ms", self.ms)
    }

    /// What the client has said of each step.
    pub(super) fn details(&self) -> impl Iterator<Item = &str> {
        self.said.lines()
    }

    /// All there is to say about a cell that is wrong.
    pub(super) fn report(&self, cell: &Cell) -> Option<String> {
        if self.verdict.wrong.is_empty() {
            return None;
        }
        let mut lines = vec![format!("{} is wrong", cell.name())];
        lines.extend(self.verdict.wrong.iter().cloned());
        for (side, said) in self.errors.iter().filter(|(_, said)| !said.trim().is_empty()) {
            let tail: Vec<&str> = said.trim().lines().rev().take(10).collect();
            lines.push(format!("the {side} wrote at the end:"));
            lines.extend(tail.into_iter().rev().map(|line| format!("    {line}")));
        }
        Some(lines.join("\n  "))
    }
}
