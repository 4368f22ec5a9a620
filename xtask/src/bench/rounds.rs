//! Measuring: each program runs as a process of its own, and all take their turns in each round, so that what else the
//! machine does hits all of them.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

use super::works::{Contender, Language, Side, CONTENDERS, WORKS};
use super::{load, sizes, Figure, Plan};

/// More than any program takes, on a slow machine with others at work.
const PATIENCE: Duration = Duration::from_mins(5);

/// What came out.
#[derive(Default)]
pub(super) struct Results {
    /// Messages a second in each round, by work and contender (its place in [`CONTENDERS`]).
    pub(super) speeds: BTreeMap<(&'static str, usize), Vec<f64>>,
    /// KiB that W1 adds to a process that does nothing, in each round, by contender.
    pub(super) memory: BTreeMap<usize, Vec<f64>>,
    /// The most KiB that a process had.
    pub(super) peaks: BTreeMap<(&'static str, usize), Vec<f64>>,
    /// Everything that is not a matter of speed.
    pub(super) sizes: BTreeMap<&'static str, Figure>,
}

impl Results {
    /// Speeds of a side.
    pub(super) fn speeds(&self, work: &'static str, language: Language, side: Side) -> &[f64] {
        place(language, side).and_then(|place| self.speeds.get(&(work, place))).map_or(&[], Vec::as_slice)
    }

    /// What W1 takes a side.
    pub(super) fn memory(&self, language: Language, side: Side) -> &[f64] {
        place(language, side).and_then(|place| self.memory.get(&place)).map_or(&[], Vec::as_slice)
    }
}

fn place(language: Language, side: Side) -> Option<usize> {
    CONTENDERS.iter().position(|contender| contender.language == language && contender.side == side)
}

/// Measures what is wanted.
pub(super) fn measure(plan: &Plan) -> Result<Results> {
    let mut results = Results::default();
    let begun = Instant::now();
    for work in WORKS.iter().filter(|work| plan.wants(work.name)) {
        let able = contenders(plan).filter(|(_, contender)| contender.does(work.name)).collect::<Vec<_>>();
        for round in 0..plan.rounds {
            say(&format!("{}, round {} of {}", work.name, round + 1, plan.rounds), begun);
            for (place, contender) in in_turn(&able, round) {
                let milliseconds = if work.once { 0 } else { plan.milliseconds };
                let sample = once(contender, work.name, milliseconds)?;
                results.speeds.entry((work.name, place)).or_default().push(sample.speed);
                results.peaks.entry((work.name, place)).or_default().extend(sample.peak_kib);
            }
        }
    }
    if plan.wants("memory") {
        let sides = [Side::Libacp, Side::Official];
        let able = contenders(plan).filter(|(_, contender)| sides.contains(&contender.side)).collect::<Vec<_>>();
        for round in 0..plan.rounds {
            say(&format!("memory, round {} of {}", round + 1, plan.rounds), begun);
            for (place, contender) in in_turn(&able, round) {
                let (with, without) = (once(contender, "w1", 0)?, once(contender, "none", 0)?);
                let added = with.peak_kib.zip(without.peak_kib).map(|(with, without)| with - without);
                results.memory.entry(place).or_default().extend(added);
            }
        }
    }
    if plan.wants("sizes") {
        say("sizes", begun);
        results.sizes = sizes::measure(plan)?;
    }
    if plan.wants("load") && plan.wants_language(Language::Rust) {
        say("load", begun);
        results.sizes.extend(load::measure(plan)?);
    }
    say("", begun);
    Ok(results)
}

fn contenders(plan: &Plan) -> impl Iterator<Item = (usize, &'static Contender)> + '_ {
    CONTENDERS.iter().enumerate().filter(|(_, contender)| plan.wants_language(contender.language))
}

/// All of them, beginning with another one in each round.
fn in_turn<'c>(
    all: &'c [(usize, &'static Contender)],
    round: usize,
) -> impl Iterator<Item = (usize, &'static Contender)> + 'c {
    let first = if all.is_empty() { 0 } else { round % all.len() };
    all[first..].iter().chain(&all[..first]).copied()
}

/// Tells on a terminal what is being done.
fn say(what: &str, begun: Instant) {
    use std::io::IsTerminal;
    if std::io::stderr().is_terminal() {
        eprint!(
            "\r\x1b[K{}",
            if what.is_empty() { String::new() } else { format!("{:>4} s {what}", begun.elapsed().as_secs()) }
        );
        let _ = std::io::stderr().flush();
    }
}

struct Sample {
    speed: f64,
    peak_kib: Option<f64>,
}

fn once(contender: &Contender, work: &str, milliseconds: u64) -> Result<Sample> {
    let who = || format!("{} in {} at {work}", contender.name, contender.language.name());
    let line = output(&mut contender.command(work, milliseconds)).with_context(who)?;
    let number = |name: &str| line[name].as_f64();
    let (seconds, count) = number("seconds").zip(number("count")).with_context(who)?;
    ensure!(work == "none" || (seconds > 0.0 && count > 0.0), "{}: it did nothing", who());
    Ok(Sample { speed: count / seconds, peak_kib: number("peak_kib") })
}

/// The line that a program prints.
pub(super) fn output(command: &mut Command) -> Result<Value> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| format!("{command:?}"))?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            bail!("{command:?} has not ended after {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    // One line, which a pipe holds, so that nobody has to read meanwhile.
    let mut text = String::new();
    child.stdout.take().context("no output")?.read_to_string(&mut text)?;
    ensure!(status.success(), "{command:?} ended with {status}");
    serde_json::from_str(&text).with_context(|| format!("{command:?} printed {text:?}"))
}
