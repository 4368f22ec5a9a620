//! `cargo xtask demo`: one conversation between every client and every agent, over real pipes; in both versions of the
//! protocol. Then the high-level APIs play a catalogue of named steps.
//!
//! `tests/interop/README.md` says what is played. Read [`hosts`] and [`version_2`] for who plays, [`pair`] for how a pair is run and
//! checked, [`matrix`], [`trace`], [`deviations`] and [`violations`] for what is shown; [`catalogue`] has the steps, [`sdks`] the
//! versions of the peers.

mod catalogue;
mod deviations;
mod hosts;
mod matrix;
mod pair;
mod remote;
mod sdks;
mod trace;
mod version_2;
mod violations;

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{bail, Context, Result};

use crate::{commands, setup};
use hosts::Host;
use pair::{Ended, Expected, Figures, Outcome, Pair};

/// What the command takes.
pub(crate) const USAGE: &str =
    "[--all] [--version 1|2] [--only CLIENT:AGENT | --steps | --remote] [--jobs N] [--verbose]";
pub(crate) const OPTIONS: commands::Options = &[
    ("--all", "also with hosts that take long to set up, those on the SDKs of Rust, Go, Java and Kotlin"),
    ("--version 1|2", "the pairs of this version of the protocol alone; of both without it"),
    (
        "--only CLIENT:AGENT",
        "this pair alone; the hosts of version 2 end with -2, routers of both with the one they are asked for, high-level \
         APIs of the catalogue with -aio or -peers",
    ),
    ("--steps", "the catalogue of steps alone, without the one conversation"),
    (
        "--remote",
        "the clients and servers of the remote transports instead, over HTTP/1.1, HTTP/2 and WebSocket; with `--only`, of \
         CLIENT:SERVER or CLIENT:SERVER:WAY",
    ),
    ("--jobs N", "pairs that are played at a time; as many as there are processors without it, up to four"),
    ("--verbose", "show every message"),
];

/// The command line.
struct Options {
    all: bool,
    verbose: bool,
    jobs: usize,
    /// The pair that was asked for: of the conversation, if it is known there, or else of the catalogue.
    only: Option<String>,
    pair: Option<Pair>,
    plays: Plays,
    version: Option<u8>,
}

/// What of the demo is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plays {
    /// The conversation, and the catalogue of steps.
    Both,
    Steps,
    Remote,
}

impl Options {
    /// Whether the catalogue alone is played.
    fn catalogue_alone(&self) -> bool {
        self.plays == Plays::Steps || (self.only.is_some() && self.pair.is_none())
    }

    /// The hosts that take part where they can.
    fn wanted(&self) -> impl Iterator<Item = &'static Host> + Clone + '_ {
        let version = |host: &Host| self.version.is_none_or(|version| version == host.version);
        hosts::all().filter(move |host| (self.all || !host.slow) && version(host))
    }
}

/// The book's page on the steps of the catalogue, and which peer passes them.
pub(crate) fn steps_page() -> Result<String> {
    catalogue::page()
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    if options.plays == Plays::Remote {
        let Options { all, jobs, verbose, .. } = options;
        return remote::run(&remote::Plan { all, jobs, verbose, only: options.only.as_deref() });
    }
    let (absent, pairs) = if options.catalogue_alone() {
        Default::default()
    } else {
        let absent = absent(&options);
        let pairs = pairs(&options, &absent);
        (absent, pairs)
    };
    let hosts: Vec<&Host> = hosts::all()
        .filter(|host| pairs.iter().any(|pair| pair.client.name == host.name || pair.agent.name == host.name))
        .collect();
    require(&hosts)?;
    let catalogue = options.pair.is_none().then(|| catalogue::plan(&options)).transpose()?;
    let start = Instant::now();
    setup::bring_all(hosts.iter().map(|host| host.step).chain(catalogue.iter().flat_map(catalogue::Plan::steps)))?;
    println!("set up in {:.1} s", start.elapsed().as_secs_f64());

    let (mut right, mut wrong) = if pairs.is_empty() { (0, Vec::new()) } else { converse(&pairs, &absent, &options)? };
    if let Some(plan) = catalogue {
        let summary = plan.play(options.jobs, options.verbose)?;
        right += summary.right;
        wrong.extend(summary.wrong);
    }
    if options.only.is_none() && !options.all {
        println!("hosts that take long to set up wait for --all");
    }
    for report in &wrong {
        eprintln!("\n{report}");
    }
    if options.only.is_none() {
        println!("{right} passed, {} failed", wrong.len());
    }
    match wrong.len() {
        0 => Ok(()),
        failed => bail!("{failed} of {} pairs are wrong", right + failed),
    }
}

/// Plays the conversation with all pairs and shows how that went: how many are right, and what there is to say about the
/// others.
fn converse(pairs: &[Pair], absent: &[(&'static Host, String)], options: &Options) -> Result<(usize, Vec<String>)> {
    let expected = Expected::load()?;
    let start = Instant::now();
    let told = |pair: &Pair, ended: &Ended| show(*pair, ended, options.verbose);
    let results = side_by_side(pairs, options.jobs, |pair| pair.run(&expected).with_context(|| pair.name()), told)?;
    let played = start.elapsed().as_secs_f64();
    let cells: Vec<matrix::Cell<'_>> =
        results.iter().map(|(pair, ended)| (pair.client.name, pair.agent.name, cell(&ended.outcome))).collect();
    println!("\n{}", matrix::render(&cells, absent));
    for (host, reason) in absent {
        println!("note: {} is not here: {reason}", host.name);
    }
    let told: Vec<_> = results.iter().map(|(pair, ended)| (**pair, ended.told.as_slice())).collect();
    println!("{}", violations::shown(&told).join("\n"));
    for (pair, deviation) in
        results.iter().flat_map(|(pair, ended)| ended.outcome.deviations().map(move |one| (pair, one)))
    {
        println!("{}", deviation.shown(**pair));
    }
    let wrong: Vec<String> = results.iter().filter_map(|(_, ended)| ended.outcome.wrong()).cloned().collect();
    let (right, count) = (results.len() - wrong.len(), results.len());
    println!("\n{right} of {count} pairs are right, played in {played:.1} s\n");
    Ok((right, wrong))
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options {
        all: false,
        verbose: false,
        jobs: setup::jobs(),
        only: None,
        pair: None,
        plays: Plays::Both,
        version: None,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--all" => options.all = true,
            "--verbose" => options.verbose = true,
            "--steps" => options.plays = Plays::Steps,
            "--remote" => options.plays = Plays::Remote,
            "--only" => {
                let only = rest.next().context("--only: expected CLIENT:AGENT after it")?;
                // Those of the remote matrix have hosts of their own.
                options.pair = if args.iter().any(|arg| arg == "--remote") || catalogue::knows(only) {
                    None
                } else {
                    Some(named(only)?)
                };
                options.only = Some(only.clone());
            }
            "--version" => {
                let version =
                    rest.next().and_then(|version| version.parse().ok()).filter(|version| [1, 2].contains(version));
                options.version = Some(version.context("--version: expected 1 or 2 after it")?);
            }
            "--jobs" => {
                let number = rest.next().and_then(|number| number.parse().ok()).filter(|&number| number > 0);
                options.jobs = number.context("--jobs: expected a number from 1 after it")?;
            }
            other => bail!("expected {USAGE}, got {other}"),
        }
    }
    Ok(options)
}

fn named(text: &str) -> Result<Pair> {
    let names: Vec<&str> = hosts::all().map(|host| host.name).collect();
    let find = |name: &str| {
        Host::find(name).with_context(|| format!("--only: no host {name}; there are {}", names.join(", ")))
    };
    let (client, agent) = text.split_once(':').with_context(|| format!("--only: expected CLIENT:AGENT, got {text}"))?;
    let pair = Pair { client: find(client)?, agent: find(agent)? };
    if !pair.plays() {
        bail!("--only: {text} is no pair: one of the two has to be on libacp, and both have to know the same conversation");
    }
    Ok(pair)
}

/// The hosts that would take part and cannot be set up on this machine, and why. One that was asked for by name is set up
/// all the same, so that it is said what brings it.
fn absent(options: &Options) -> Vec<(&'static Host, String)> {
    let wanted = options.wanted().filter(|_| options.only.is_none());
    wanted.filter_map(|host| Some((host, host.step.not_here()?))).collect()
}

/// The pairs that can play.
fn pairs(options: &Options, absent: &[(&Host, String)]) -> Vec<Pair> {
    if let Some(pair) = options.pair {
        return vec![pair];
    }
    let here = |host: &&Host| !absent.iter().any(|(other, _)| other.name == host.name);
    let taken = || options.wanted().filter(here);
    let all = taken().flat_map(|client| taken().map(move |agent| Pair { client, agent }));
    all.filter(|pair| pair.plays()).collect()
}

/// Says which hosts are not in the tree, before anything is built.
fn require(hosts: &[&Host]) -> Result<()> {
    let lacking = |host: &&Host| {
        let missing: Vec<&str> = host.files.iter().copied().filter(|file| !Path::new(file).exists()).collect();
        (!missing.is_empty()).then(|| format!("  {}: {}", host.name, missing.join(", ")))
    };
    let lines: Vec<String> = hosts.iter().filter_map(lacking).collect();
    if lines.is_empty() {
        return Ok(());
    }
    bail!("hosts without their files:\n{}", lines.join("\n"))
}

/// Does the same with all of these, several at a time, and tells of each when it is done; the results in their order.
fn side_by_side<Item: Sync, Done: Send>(
    items: &[Item],
    jobs: usize,
    work: impl Fn(&Item) -> Result<Done> + Sync,
    told: impl Fn(&Item, &Done) + Sync,
) -> Result<Vec<(&Item, Done)>> {
    let waiting: Mutex<VecDeque<(usize, &Item)>> = Mutex::new(items.iter().enumerate().collect());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let printing = Mutex::new(());
    let mut results = std::thread::scope(|scope| {
        let worker = || {
            let mut results = Vec::new();
            while let Some((index, item)) = next() {
                let done = work(item)?;
                let guard = printing.lock().unwrap_or_else(PoisonError::into_inner);
                told(item, &done);
                drop(guard);
                results.push((index, item, done));
            }
            Ok(results)
        };
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        let mut all = Vec::new();
        for worker in workers {
            let results: Result<Vec<_>> = worker.join().unwrap_or_else(|_| bail!("a worker panicked"));
            all.extend(results?);
        }
        Ok::<_, anyhow::Error>(all)
    })?;
    results.sort_by_key(|(index, ..)| *index);
    Ok(results.into_iter().map(|(_, item, done)| (item, done)).collect())
}

/// What the matrix has for a pair.
fn cell(outcome: &Outcome) -> std::result::Result<&Figures, &'static str> {
    match outcome {
        Outcome::Right(figures) => Ok(figures),
        Outcome::Deviates(_) => Err("deviates"),
        Outcome::Wrong(_) => Err("WRONG"),
    }
}

/// What is said when a pair has ended.
fn show(pair: Pair, ended: &Ended, verbose: bool) {
    let coloured = std::io::stdout().is_terminal();
    if verbose {
        println!("\n{}", pair.name());
        for line in trace::shown(&ended.records, coloured) {
            println!("{line}");
        }
    }
    match &ended.outcome {
        Outcome::Right(figures) => println!("right  {:<18} {:>6} ms", pair.name(), figures.ms),
        Outcome::Deviates(_) => println!("right  {:<18} deviates as declared", pair.name()),
        Outcome::Wrong(_) => println!("WRONG  {}", pair.name()),
    }
}
