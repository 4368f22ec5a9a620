//! Where facts come from that no schema has yet: `sources.json`, and the marks that name its entries.
//!
//! `cargo xtask import` keeps what is marked, and says what a schema makes of it.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::Value;

use super::node::Node;
use super::{Body, Fields, Flat, Model, Open, Origin, Shape, Union, Version};

/// The file of the sources, below the model's root.
const FILE: &str = "sources.json";

/// A page that facts are taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// Announcement or proposal.
    pub(crate) kind: Origin,
    /// Page of the specification's site.
    pub(crate) page: String,
    /// Its day as YYYY-MM-DD; a proposal may have none.
    pub(crate) date: Option<String>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.page)?;
        self.date.as_ref().map_or(Ok(()), |date| write!(f, " of {date}"))
    }
}

/// Reads the sources below `root`; there are none without the file.
pub(super) fn load(root: &Path) -> Result<IndexMap<String, Source>> {
    let path = root.join(FILE);
    if !path.exists() {
        return Ok(IndexMap::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text)
}

/// Reads the sources from the text of their file.
pub(super) fn parse(text: &str) -> Result<IndexMap<String, Source>> {
    let value: Value = serde_json::from_str(text).context(FILE)?;
    let node = Node { at: FILE.to_owned(), value: &value };
    let source = |(name, node): (&str, Node<'_>)| Ok((name.to_owned(), source(&node)?));
    node.entries()?.into_iter().map(source).collect()
}

fn source(node: &Node<'_>) -> Result<Source> {
    node.only(&["kind", "page", "date"])?;
    let kind = node.need("kind")?.named(Origin::NAMES, Origin::parse)?;
    let date = node.text("date")?;
    ensure!(date.is_some() || kind == Origin::Proposal, "{}: expected the date of the announcement", node.at);
    ensure!(date.as_deref().is_none_or(is_date), "{} › date: expected YYYY-MM-DD", node.at);
    Ok(Source { kind, page: node.need("page")?.str()?.to_owned(), date })
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(i, byte)| if i == 4 || i == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}

/// Fails at the first mark that names no source, and at a source that no mark names.
pub(super) fn check(model: &Model) -> Result<()> {
    let mut named = BTreeSet::new();
    for version in &model.versions {
        let mut wrong = None;
        each_mark(&mut version.clone(), &mut |path, mark| {
            let Some(name) = mark else { return };
            if !model.sources.contains_key(name) {
                let at = path[1..].join(" › ");
                wrong.get_or_insert(format!("{} › {at}: there is no source {name}", version.folder()));
            }
            named.insert(name.clone());
        });
        if let Some(wrong) = wrong {
            bail!(wrong);
        }
    }
    match model.sources.keys().find(|name| !named.contains(*name)) {
        Some(name) => bail!("{FILE} › {name}: no fact names this source"),
        None => Ok(()),
    }
}

/// Called with the path of something that can carry a mark, and with its mark.
type Visit<'v> = dyn FnMut(&[String], &mut Option<String>) + 'v;

/// Visits everything that can carry a mark. Paths are those of [`super::write::value`].
pub(crate) fn each_mark(version: &mut Version, visit: &mut Visit<'_>) {
    for (name, def) in &mut version.types {
        let at = &["types".to_owned(), name.clone()];
        visit(at, &mut def.source);
        shape(at, &mut def.shape, visit);
    }
    for (name, method) in &mut version.methods {
        let at = &["methods".to_owned(), name.clone()];
        visit(at, &mut method.source);
        if let Some(gate) = &mut method.gate {
            visit(&below(at, &["gate"]), &mut gate.source);
        }
    }
}

fn shape(at: &[String], shape: &mut Shape, visit: &mut Visit<'_>) {
    match shape {
        Shape::Object { fields: own, flat } => {
            fields(&below(at, &["object"]), own, visit);
            if let Some(Flat::Union(own)) = flat {
                union(at, own, visit);
            }
        }
        Shape::Union(own) => union(at, own, visit),
        Shape::Enum { values, .. } => {
            values.iter_mut().for_each(|(value, word)| visit(&below(at, &["enum", value]), &mut word.source));
        }
        Shape::Codes(codes) => {
            codes.iter_mut().for_each(|(number, code)| visit(&below(at, &["codes", number]), &mut code.source));
        }
        Shape::String { .. } | Shape::Integer(_) | Shape::AnyOf { .. } | Shape::Alias(_) => {}
    }
}

fn union(at: &[String], union: &mut Union, visit: &mut Visit<'_>) {
    let at = below(at, &["union"]);
    for (tag, variant) in &mut union.variants {
        let at = below(&at, &["variants", tag]);
        visit(&at, &mut variant.source);
        body(&at, &mut variant.body, visit);
    }
    if let Open::With(own) = &mut union.open {
        fields(&below(&at, &["open"]), own, visit);
    }
    if let Some(own) = &mut union.untagged {
        body(&below(&at, &["untagged"]), own, visit);
    }
}

fn body(at: &[String], body: &mut Body, visit: &mut Visit<'_>) {
    if let Body::Fields(own) = body {
        fields(&below(at, &["object"]), own, visit);
    }
}

fn fields(at: &[String], fields: &mut Fields, visit: &mut Visit<'_>) {
    fields.iter_mut().for_each(|(name, field)| visit(&below(at, &[name]), &mut field.source));
}

fn below(at: &[String], names: &[&str]) -> Vec<String> {
    at.iter().cloned().chain(names.iter().map(|&name| name.to_owned())).collect()
}
