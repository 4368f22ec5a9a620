//! The matrix of the catalogue: clients down, agents across, and in each cell the numbers of steps.

use std::collections::BTreeMap;

use super::cell::{Cell, Played};
use super::hosts::{self, Host};

const NAME: usize = 20;
const COLUMN: usize = 12;

/// The matrices of the versions that were played.
pub(super) fn render(results: &[(&Cell, Played)]) -> String {
    let mut text = "steps that passed / not offered / declared failures\n".to_owned();
    for version in [1, 2] {
        let of: Vec<_> = results.iter().filter(|(cell, _)| cell.version == version).collect();
        let has = |name: &str, side: fn(&Cell) -> &Host| of.iter().any(|(cell, _)| side(cell).name == name);
        let clients = hosts::ALL.iter().filter(|host| has(host.name, |cell| cell.client));
        let agents: Vec<&Host> = hosts::ALL.iter().filter(|host| has(host.name, |cell| cell.agent)).collect();
        if agents.is_empty() {
            continue;
        }
        let columns: String =
            agents.iter().map(|agent| format!("{:>COLUMN$}", agent.name)).collect::<Vec<_>>().concat();
        text += &line(&format!("version {version}   agent:"), &columns);
        for client in clients {
            let shown = |agent: &&Host| {
                let found =
                    of.iter().find(|(cell, _)| (cell.client.name, cell.agent.name) == (client.name, agent.name));
                format!("{:>COLUMN$}", found.map_or("-".to_owned(), |(_, played)| numbers(played)))
            };
            let row: String = agents.iter().map(shown).collect::<Vec<_>>().concat();
            text += &line(client.name, &row);
        }
    }
    text
}

fn line(name: &str, columns: &str) -> String {
    format!("{name:<NAME$}{columns}\n")
}

fn numbers(played: &Played) -> String {
    let [passed, not_offered, declared] = played.counts();
    match played.verdict.wrong.len() {
        0 => format!("{passed}/{not_offered}/{declared}"),
        wrong => format!("{wrong} WRONG"),
    }
}

/// A line for each declaration that was met.
pub(super) fn declared(results: &[(&Cell, Played)]) -> Vec<String> {
    let mut cells: BTreeMap<(String, &str, &str, &str), usize> = BTreeMap::new();
    for (_, played) in results {
        for (step, one) in &played.verdict.met {
            *cells.entry((step.clone(), one.is.text(), &one.why, &one.place)).or_default() += 1;
        }
    }
    let line = |((step, is, why, place), count)| format!("{step} is {is} in {count} cells: {why} ({place})");
    cells.into_iter().map(line).collect()
}
