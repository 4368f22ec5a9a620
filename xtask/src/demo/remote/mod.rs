//! `cargo xtask demo --remote`: every client with every server over HTTP/1.1, HTTP/2 and WebSocket, where one of both is on
//! libacp.
//!
//! `tests/interop/README.md` says what is played. Read [`hosts`] for who plays, [`cell`] for how, [`declared`] for what peers
//! are known not to do.

mod cell;
mod declared;
mod hosts;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use serde_json::Value;

use crate::setup;
use cell::{Cell, Played};
use declared::Declared;
use hosts::{Host, CLIENTS, SERVERS};

const SCRIPT: &str = "tests/interop/remote/script.json";
const NAME: usize = 10;
const SERVER: usize = 16;
const WAY: usize = 7;

/// What is to be played.
pub(super) struct Plan<'a> {
    pub(super) all: bool,
    pub(super) jobs: usize,
    pub(super) verbose: bool,
    /// `CLIENT:SERVER` or `CLIENT:SERVER:WAY`.
    pub(super) only: Option<&'a str>,
}

/// Plays the matrix and prints it.
pub(super) fn run(plan: &Plan<'_>) -> Result<()> {
    let cells = cells(plan)?;
    let (script, declared) = (steps(&fs::read_to_string(SCRIPT).context(SCRIPT)?)?, Declared::load()?);
    let start = Instant::now();
    setup::bring_all(cells.iter().flat_map(|cell| [cell.client.step, cell.server.step]))?;
    println!("set up in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let told = |cell: &Cell, played: &Played| {
        if plan.verbose {
            println!("{}: {} ms\n{}", cell.name(), played.ms, played.said);
        }
    };
    let results = super::side_by_side(&cells, plan.jobs, |cell| cell.play().with_context(|| cell.name()), told)?;

    let mut table = header(&script);
    let mut wrong = Vec::new();
    for (cell, played) in &results {
        let (row, faults) = row(cell, played, &script, &declared);
        table.push_str(&row);
        if !faults.is_empty() {
            wrong.push(format!("{}:\n{}{}", cell.name(), faults.concat(), played.said));
        }
    }
    println!("\n{table}\n+ passed, - not offered by the peer, [n] declared failure of the peer, ! wrong");
    println!("{}", declared.notes().join("\n"));
    let unmet = if plan.all && plan.only.is_none() { declared.unmet() } else { Vec::new() };
    if plan.only.is_none() && !plan.all {
        println!("hosts that take long to set up, and further servers, wait for --all");
    }
    for report in wrong.iter().chain(&unmet) {
        eprintln!("\n{report}");
    }
    let failed = wrong.len() + unmet.len();
    println!("played in {:.1} s", start.elapsed().as_secs_f64());
    println!("{} passed, {failed} failed", results.len() - wrong.len());
    if failed > 0 {
        bail!("{failed} cells of the remote matrix are wrong");
    }
    Ok(())
}

/// The steps of the script, and what each has to find.
fn steps(text: &str) -> Result<Vec<(String, Value)>> {
    let script: Value = serde_json::from_str(text).context(SCRIPT)?;
    let step = |step: &Value| Some((step["step"].as_str()?.to_owned(), step["expected"].clone()));
    let steps = script["steps"].as_array().map(|all| all.iter().map(step).collect::<Option<Vec<_>>>());
    steps.flatten().with_context(|| format!("{SCRIPT}: expected a list of steps"))
}

/// The cells that are wanted.
fn cells(plan: &Plan<'_>) -> Result<Vec<Cell>> {
    let only: Option<Vec<&str>> = plan.only.map(|only| only.split(':').collect());
    let wanted = |host: &&Host| plan.all || !host.slow || plan.only.is_some();
    let mut cells = Vec::new();
    for client in CLIENTS.iter().filter(wanted) {
        for server in SERVERS.iter().filter(wanted).filter(|server| server.ours || client.ours) {
            for &way in client.ways.iter().filter(|way| server.ways.contains(way)) {
                let asked = only.as_ref().is_none_or(|names| {
                    let all = [client.name, server.name, way.name()];
                    (2..=3).contains(&names.len()) && names.iter().zip(all).all(|(name, is)| *name == is)
                });
                cells.extend(asked.then_some(Cell { client, server, way }));
            }
        }
    }
    if cells.is_empty() {
        let names = |hosts: &[Host]| hosts.iter().map(|host| host.name).collect::<Vec<_>>().join(", ");
        bail!(
            "--only: expected CLIENT:SERVER or CLIENT:SERVER:WAY of {} and {}; one has to be on libacp",
            names(CLIENTS),
            names(SERVERS)
        );
    }
    Ok(cells)
}

fn header(script: &[(String, Value)]) -> String {
    let mut line = format!("{:<NAME$}{:<SERVER$}{:<WAY$}", "client", "server", "over");
    for (step, _) in script {
        let _ = write!(line, "{step}  ");
    }
    line + "    ms  rules broken\n"
}

/// The row of a cell, and what is wrong in it.
fn row(cell: &Cell, played: &Played, script: &[(String, Value)], declared: &Declared) -> (String, Vec<String>) {
    let mut faults = Vec::new();
    let mut line = format!("{:<NAME$}{:<SERVER$}{:<WAY$}", cell.client.name, cell.server.name, cell.way.name());
    for (step, expected) in script {
        let problem = match played.found.get(step) {
            None => Some("it was not reached".to_owned()),
            Some(Err(why)) => Some(why.clone()),
            Some(Ok(found)) => (found != expected).then(|| format!("expected {expected}, found {found}")),
        };
        let mark = match (problem, declared.failure(cell, step)) {
            (None, None) => "+".to_owned(),
            (Some(_), Some((_, fails))) if fails.not_offered => "-".to_owned(),
            (Some(_), Some((number, _))) => format!("[{number}]"),
            (Some(problem), None) => {
                faults.push(format!("  {step}: {problem}\n"));
                "!".to_owned()
            }
            (None, Some((_, fails))) => {
                faults.push(format!("  {step}: it is declared to fail, and passed: {}\n", fails.place));
                "!".to_owned()
            }
        };
        let _ = write!(line, "{mark:<width$}", width = step.len() + 2);
    }
    let told = |side: &str| if side == "client" { cell.server.ours } else { cell.client.ours };
    let expected: BTreeSet<_> = declared.broken(cell).into_iter().filter(|(side, _)| told(side)).collect();
    for (side, rule) in expected.symmetric_difference(&played.broken) {
        let what =
            if expected.contains(&(*side, rule.clone())) { "was declared, and was not broken" } else { "was broken" };
        faults.push(format!("  {rule} {what} by the {side}\n"));
    }
    let broken: Vec<String> = played.broken.iter().map(|(side, rule)| format!("{rule} ({side})")).collect();
    (format!("{line}{:>6}  {}\n", played.ms, broken.join(", ")), faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &str = include_str!("../../../../tests/interop/remote/script.json");
    const DECLARED: &str = include_str!("../../../../tests/interop/remote/declared.json");

    fn find(hosts: &'static [Host], name: &str) -> &'static Host {
        hosts.iter().find(|host| host.name == name).unwrap()
    }

    /// What the cell of these two is found to be when each step ends so.
    fn faults(client: &str, server: &str, ends: impl Fn(&str, &Value) -> Result<Value, String>) -> Vec<String> {
        let cell = Cell { client: find(CLIENTS, client), server: find(SERVERS, server), way: hosts::Way::WebSocket };
        let script = steps(STEPS).unwrap();
        let found = script.clone().into_iter().map(|(step, expected)| (step.clone(), ends(&step, &expected)));
        let played = Played { found: found.collect(), broken: BTreeSet::new(), ms: 1, said: String::new() };
        row(&cell, &played, &script, &Declared::read(DECLARED).unwrap()).1
    }

    #[test]
    fn what_is_declared_has_to_fail_and_nothing_else_may() {
        let right = |_: &str, expected: &Value| Ok(expected.clone());
        let lacking = |step: &str, expected: &Value| match step {
            "delete" => Err("no such method".to_owned()),
            _ => Ok(expected.clone()),
        };
        assert!(faults("rust", "js", right).is_empty());
        assert!(faults("rust", "py-sdk", lacking).is_empty());
        assert_eq!(faults("rust", "js", lacking), ["  delete: no such method\n"]);
        let passes = faults("rust", "py-sdk", right).concat();
        assert!(passes.starts_with("  delete: it is declared to fail, and passed: "), "{passes}");
        let other = faults("rust", "js", |_, _| Ok(Value::Null));
        assert_eq!(other[0], "  initialize: expected 1, found null\n");
    }

    #[test]
    fn a_rule_that_is_kept_against_its_declaration_is_a_fault() {
        let right = |_: &str, expected: &Value| Ok(expected.clone());
        assert_eq!(
            faults("rust", "python/granian", right),
            ["  WS-01 was declared, and was not broken by the server\n"]
        );
    }
}
