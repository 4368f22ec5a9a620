//! `cargo xtask bench`: libacp beside the official SDKs and beside nothing but a parser, in one run.
//!
//! What is measured, and what each program does, is in `bench/README.md`; what came out is in `docs/performance.md`.
//! Read [`works`] first (what there is), then [`rounds`] (how it is measured), [`goals`] (what must come out),
//! [`report`] and [`publish`]. [`instructions`] is apart: what the tests compare.

mod figure;
mod goals;
mod inputs;
pub(crate) mod instructions;
mod load;
mod publish;
mod report;
mod rounds;
mod sizes;
mod works;

use anyhow::{bail, Context, Result};

use crate::commands::Options;
use crate::setup::{bench as steps, bring_all, Step};
use figure::Figure;
use works::Language;

pub(crate) const USAGE: &str = "[--quick] [--only NAME]… [--json FILE] [--write] | --instructions [--update]";
pub(crate) const OPTIONS: Options = &[
    ("--quick", "two short rounds, to see whether it works"),
    ("--only NAME", "some works (w1 to w8, memory, sizes, load) or languages (rust, c, python, node)"),
    ("--json FILE", "every measurement, for programs"),
    ("--write", "put the tables into docs/performance.md and the README"),
    ("--instructions", "count the instructions of decoding, and compare them with those that are kept"),
    ("--update", "keep the new counts"),
];

/// What one call measures.
pub(crate) struct Plan {
    /// Names of works, languages, `memory`, `sizes` or `load`; all without any.
    only: Vec<String>,
    /// Rounds in which everything takes its turn.
    rounds: usize,
    /// How long a program measures in one round, at least.
    milliseconds: u64,
}

impl Plan {
    /// Whether this is to be measured, by itself or as part of something: `w4` names all of W4.
    fn wants(&self, name: &str) -> bool {
        let known = |only: &String| only == name || name.starts_with(&format!("{only}-"));
        let part = |is: fn(&str) -> bool| self.only.iter().all(|only| !is(only));
        match works::language(name) {
            Some(_) => part(|only| works::language(only).is_some()) || self.only.iter().any(known),
            None => part(|only| works::language(only).is_none()) || self.only.iter().any(known),
        }
    }

    fn wants_language(&self, language: Language) -> bool {
        self.wants(language.name())
    }
}

/// Does what the command line says.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut plan = Plan { only: Vec::new(), rounds: 5, milliseconds: 200 };
    let (mut json, mut write, mut args) = (None, false, args.iter().map(String::as_str));
    while let Some(arg) = args.next() {
        match arg {
            "--quick" => (plan.rounds, plan.milliseconds) = (2, 50),
            "--only" => plan.only.push(args.next().context("--only takes a name")?.to_lowercase()),
            "--json" => json = Some(args.next().context("--json takes a file")?.to_owned()),
            "--write" => write = true,
            "--instructions" => {
                let update = args.next();
                if update.is_some_and(|update| update != "--update") || args.next().is_some() {
                    bail!("expected nothing behind --instructions but --update");
                }
                return instructions::run(update.is_some());
            }
            other => bail!("{other} is no option; there are: {USAGE}"),
        }
    }
    let names: Vec<&str> = works::names().collect();
    for only in &plan.only {
        let is_known = names.iter().any(|name| name == only || name.starts_with(&format!("{only}-")));
        if !is_known {
            bail!("nothing is called {only}; there are: {}", names.join(", "));
        }
    }
    if write && !(plan.only.is_empty() && plan.rounds >= 5) {
        bail!("--write is for whole runs: not with --only or --quick");
    }
    inputs::write()?;
    bring_all(needed(&plan))?;
    let results = rounds::measure(&plan)?;
    let [about, everything, goals] = [report::about(&plan), report::everything(&results), report::goals(&results)];
    println!("{about}\n\n{everything}\n\n{goals}");
    if write {
        publish::write(&about, &everything, &goals, &report::summary(&results))?;
    }
    if let Some(file) = json {
        let text = serde_json::to_string_pretty(&report::json(&plan, &results))?;
        std::fs::write(&file, text + "\n").with_context(|| file.clone())?;
        println!("\nwritten: {file}");
    }
    Ok(())
}

/// The set-up of what is wanted.
fn needed(plan: &Plan) -> impl Iterator<Item = &'static Step> + '_ {
    let all: [(Language, &'static Step); 6] = [
        (Language::Rust, &steps::RUST),
        (Language::Rust, &steps::RUST_OFFICIAL),
        (Language::Rust, &steps::RUST_REMOTE),
        (Language::C, &steps::C_PROGRAM),
        (Language::Python, &steps::PYTHON),
        (Language::Node, &steps::NODE_PROGRAMS),
    ];
    all.into_iter().filter(|(language, _)| plan.wants_language(*language)).map(|(_, step)| step)
}
