//! The matrix: clients down, agents across, and for each pair messages, bytes and milliseconds.

use super::hosts::{self, Host};
use super::pair::Figures;

const NAME: usize = 12;
const KIND: usize = 6;
const CELL: usize = 11;

/// A cell: a pair that was run, and how it ended: its figures, or a word.
pub(super) type Cell<'r> = (&'static str, &'static str, Result<&'r Figures, &'static str>);

/// One figure of a pair, as text.
type Figure = fn(&Figures) -> String;

const ROWS: &[(&str, Figure)] = &[
    ("msgs", |figures| figures.messages.to_string()),
    ("bytes", |figures| thousands(figures.bytes)),
    ("ms", |figures| figures.ms.to_string()),
];

/// Both matrices as text. Hosts that were not asked for are left out; those that this machine cannot run have a row that
/// says why.
pub(super) fn render(cells: &[Cell<'_>], absent: &[(&Host, String)]) -> String {
    let shown = |version: u8| {
        let text = one(version, cells, absent);
        (!text.is_empty()).then(|| format!("version {version}\n{text}"))
    };
    [1, 2].into_iter().filter_map(shown).collect::<Vec<_>>().join("\n")
}

/// The matrix of a version; nothing where no pair of it was run.
fn one(version: u8, cells: &[Cell<'_>], absent: &[(&Host, String)]) -> String {
    let hosts = hosts::all().filter(|host| host.version == version);
    let clients = hosts.clone().filter(|host| cells.iter().any(|cell| cell.0 == host.name));
    let agents: Vec<&Host> = hosts.filter(|host| cells.iter().any(|cell| cell.1 == host.name)).collect();
    if agents.is_empty() {
        return String::new();
    }
    let line = |name: &str, kind: &str, shown: &dyn Fn(&Host) -> String| {
        let columns: Vec<String> = agents.iter().map(|agent| format!("{:>CELL$}", shown(agent))).collect();
        format!("{name:<NAME$}{kind:<KIND$}{}\n", columns.concat())
    };
    let mut text = line("client", "agent:", &|agent| agent.name.to_owned());
    for client in clients {
        for (index, (kind, figure)) in ROWS.iter().enumerate() {
            let name = if index == 0 { client.name } else { "" };
            let shown = |agent: &Host| match cells.iter().find(|cell| (cell.0, cell.1) == (client.name, agent.name)) {
                None => "-".to_owned(),
                Some((_, _, Ok(figures))) => figure(figures),
                Some((_, _, Err(word))) => (*word).to_owned(),
            };
            text.push_str(&line(name, kind, &shown));
        }
    }
    let absent = absent.iter().filter(|(host, _)| host.version == version);
    text.extend(absent.map(|(host, reason)| format!("{:<NAME$}not here: {reason}\n", host.name)));
    text
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_in_their_columns() {
        let figures = Figures { messages: 118, bytes: 1_252_083, ms: 7 };
        let cells = [
            ("c", "rust", Ok(&figures)),
            ("c", "ts-sdk", Err("WRONG")),
            ("rust", "ts-sdk", Ok(&figures)),
            ("c-2", "ts-both-1", Ok(&figures)),
        ];
        let absent = Host::find("go-sdk").unwrap();
        let text = render(&cells, &[(absent, "go is not on this machine".to_owned())]);
        let expected = [
            "version 1",
            "client      agent:       rust     ts-sdk",
            "rust        msgs            -        118",
            "            bytes           -  1,252,083",
            "            ms              -          7",
            "c           msgs          118      WRONG",
            "            bytes   1,252,083      WRONG",
            "            ms              7      WRONG",
            "go-sdk      not here: go is not on this machine",
            "",
            "version 2",
            "client      agent:  ts-both-1",
            "c-2         msgs          118",
            "            bytes   1,252,083",
            "            ms              7",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
