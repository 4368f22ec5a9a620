//! The catalogue of named steps: what the high-level APIs can do, step by step, in both versions.
//!
//! `tests/interop/catalogue/README.md` says what is played. Read [`hosts`] for who plays, [`cell`] for how a cell is run and
//! judged, [`expected`] for what is declared, [`table`] for what is shown, [`page`] for what the book says of it.

mod cell;
mod expected;
mod hosts;
mod page;
mod steps;
mod table;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{bail, Context, Result};

use self::cell::{Cell, Played};
use self::expected::Expected;
use self::hosts::Host;
use self::steps::Catalogue;
use super::{side_by_side, Options};
use crate::setup::Step;

/// What is played, and with whom.
pub(super) struct Plan {
    catalogue: Catalogue,
    expected: Expected,
    cells: Vec<Cell>,
    absent: Vec<(&'static Host, String)>,
}

/// How it went.
pub(super) struct Summary {
    pub(super) right: usize,
    /// What there is to say about each cell that is wrong.
    pub(super) wrong: Vec<String>,
}

/// Whether a pair that was asked for by name is one of the catalogue.
pub(super) fn knows(only: &str) -> bool {
    hosts::named(only).is_some()
}

/// The book's page on what passes.
pub(super) fn page() -> Result<String> {
    page::page()
}

/// What these options ask for.
pub(super) fn plan(options: &Options) -> Result<Plan> {
    let catalogue = Catalogue::load()?;
    let expected = Expected::load(&catalogue)?;
    let wanted: Vec<&Host> = hosts::ALL.iter().filter(|host| options.all || !host.slow).collect();
    // One that was asked for by name is set up all the same, so that it is said what brings it.
    let absent: Vec<_> = match options.only {
        None => wanted.iter().filter_map(|host| Some((*host, host.step.not_here()?))).collect(),
        Some(_) => Vec::new(),
    };
    let here = |host: &&&Host| !absent.iter().any(|(other, _)| other.name == host.name);
    let mut cells: Vec<Cell> = Vec::new();
    for version in [1, 2].into_iter().filter(|version| options.version.is_none_or(|only| only == *version)) {
        if let Some(only) = &options.only {
            let (client, agent) = hosts::named(only).context("no such pair")?;
            cells.push(Cell { client, agent, version });
        } else {
            let taken = || wanted.iter().filter(here).copied();
            cells.extend(taken().flat_map(|client| taken().map(move |agent| Cell { client, agent, version })));
        }
    }
    cells.retain(Cell::plays);
    if cells.is_empty() {
        bail!("--only: these two do not play the steps of that version, or neither of them is on libacp");
    }
    let files: BTreeSet<&str> = cells.iter().flat_map(Cell::hosts).flat_map(|host| host.files).copied().collect();
    let missing: Vec<&str> = files.into_iter().filter(|file| !Path::new(file).exists()).collect();
    if !missing.is_empty() {
        bail!("the catalogue lacks {}", missing.join(", "));
    }
    Ok(Plan { catalogue, expected, cells, absent })
}

impl Plan {
    /// What its hosts need.
    pub(super) fn steps(&self) -> impl Iterator<Item = &'static Step> + '_ {
        self.cells.iter().flat_map(Cell::hosts).map(|host| host.step)
    }

    /// Plays all cells, several at a time, and shows how that went.
    pub(super) fn play(&self, jobs: usize, verbose: bool) -> Result<Summary> {
        let start = Instant::now();
        let told = |cell: &Cell, played: &Played| {
            println!("{}", played.line(cell));
            if verbose {
                played.details().for_each(|line| println!("    {line}"));
            }
        };
        let results = side_by_side(
            &self.cells,
            jobs,
            |cell| cell.play(&self.catalogue, &self.expected).with_context(|| cell.name()),
            told,
        )?;
        let seconds = start.elapsed().as_secs_f64();
        println!("\n{}", table::render(&results));
        for (host, reason) in &self.absent {
            println!("note: {} is not here: {reason}", host.name);
        }
        println!("{}", table::declared(&results).join("\n"));
        let wrong: Vec<String> = results.iter().filter_map(|(cell, played)| played.report(cell)).collect();
        let right = results.len() - wrong.len();
        println!("\n{right} of {} cells of the catalogue are right, played in {seconds:.1} s", results.len());
        Ok(Summary { right, wrong })
    }
}
