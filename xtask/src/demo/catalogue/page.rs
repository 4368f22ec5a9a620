//! `docs/src/steps.md`: which peer passes which step, from the catalogue and from what is declared of its cells.
//!
//! A run of the demo holds each cell against the same declarations, so the page says what a run would.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::expected::{Declared, Expected, Word};
use super::hosts::{self, Host};
use super::steps::Catalogue;
use crate::demo::sdks::Sdk;

/// The page, after the line that says what has written it.
pub(super) fn page() -> Result<String> {
    let catalogue = Catalogue::load()?;
    let expected = Expected::load(&catalogue)?;
    let mut page = "# Peers, step by step\n\n\
        `cargo xtask demo` takes agents through the steps below, each judged by itself. Clients and agents on the high-level APIs of \
        libacp in Rust, Python and JavaScript play them with each other and with the SDKs, and the three do alike, so they share a \
        column. A number is a step that is not offered (in brackets) or that fails; its reason follows the table. `cargo xtask demo \
        --all --steps` plays all of it again, and fails where a result differs from this page.\n"
        .to_owned();
    let sdks = hosts::ALL.iter().filter_map(|host| Sdk::find(host.sdk?));
    let sdks = sdks.map(|sdk| Ok(format!("{}, `{}` {}", sdk.name, sdk.package, sdk.version()?)));
    writeln!(page, "\nThe SDKs: {}.", sdks.collect::<Result<Vec<_>>>()?.join("; "))?;
    for version in [1, 2] {
        write!(page, "\n## Version {version}\n\n")?;
        table(&mut page, &catalogue, &expected, version)?;
    }
    Ok(page)
}

/// A column: a peer on one side, and the hosts that are on it.
struct Column {
    title: String,
    hosts: Vec<&'static Host>,
    client: bool,
}

fn columns(version: u8) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    let of = |ours: bool| hosts::ALL.iter().filter(move |host| host.ours == ours && host.versions.contains(&version));
    let mut sides = vec![("libacp".to_owned(), of(true).collect::<Vec<_>>())];
    for host in of(false) {
        let Some(name) = host.sdk else { continue };
        let sdk = Sdk::find(name).with_context(|| format!("{name}: no such SDK"))?;
        sides.push((format!("{name} {}", sdk.version()?), vec![host]));
    }
    for (title, hosts) in sides {
        for (side, client) in [("client", true), ("agent", false)] {
            if hosts.iter().all(|host| !if client { host.client } else { host.agent }.is_empty()) {
                columns.push(Column { title: format!("{title}, {side}"), hosts: hosts.clone(), client });
            }
        }
    }
    Ok(columns)
}

fn table(page: &mut String, catalogue: &Catalogue, expected: &Expected, version: u8) -> Result<()> {
    let columns = columns(version)?;
    writeln!(page, "| step | | {} |", columns.iter().map(|one| &*one.title).collect::<Vec<_>>().join(" | "))?;
    writeln!(page, "|{}", " --- |".repeat(columns.len() + 2))?;
    let mut reasons: Vec<&Declared> = Vec::new();
    for (id, says) in catalogue.told(version) {
        let mut row = format!("| `{id}` | {says} |");
        for column in &columns {
            let about =
                |one: &&Declared| column.hosts.iter().all(|host| one.blames(host.name, column.client, version, id));
            let Some(declared) = expected.all().iter().find(about) else {
                row.push_str(" ✓ |");
                continue;
            };
            let number = reasons.iter().position(|one| std::ptr::eq(*one, declared)).unwrap_or_else(|| {
                reasons.push(declared);
                reasons.len() - 1
            }) + 1;
            match declared.is {
                Word::NotOffered => write!(row, " ({number}) |")?,
                Word::Failed => write!(row, " {number} |")?,
            }
        }
        writeln!(page, "{row}")?;
    }
    page.push('\n');
    for (index, Declared { is, why, place, .. }) in reasons.iter().enumerate() {
        writeln!(page, "{}. {}: {why} (`{place}`).", index + 1, is.text())?;
    }
    Ok(())
}
