//! `cargo xtask import`: refreshes the structure in `core/protocol/` from the official schemas, and lists what lacks
//! words. Read [`schema`] for how a schema is read, [`merge`] for what stays as people wrote it, and [`facts`] for what
//! the model has from elsewhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::Value;

use crate::model::{self, Kind, Method, Model, Phase, Scope, Sender, Version};
use facts::{Fact, Found};
use schema::{Schema, Types};

mod compare;
mod facts;
mod keywords;
mod merge;
mod schema;
#[cfg(test)]
mod tests;
mod words;

/// What the schemas call themselves. The Rust crate that carries the same counts differently.
const RELEASE: &str = "schema-v1.29.1, crate 1.15.1";
/// The package that carries the schemas.
const PACKAGE: &str = "@agentclientprotocol/sdk@2.4.0";
/// What `npm` must find its contents to be.
const INTEGRITY: &str =
    "sha512-7qJ8nnyj7WesC5ve185ioTpB2/svQoeGV4HA4nLEhgDUrcmBe54/08VcXc/oL4p14tDbxxECZzdYmUYQ+4l+Wg==";

/// Runs the command. With `check` it writes nothing, and fails if it would change the model or if words are missing.
pub(crate) fn run(check: bool) -> Result<()> {
    import(Path::new(model::FOLDER), &fetch(Path::new("target/import"))?, check)
}

/// The model below `root` with the structure of the schemas in the folder `schemas`.
fn import(root: &Path, schemas: &Path, check: bool) -> Result<()> {
    let model = model::load::model(root)?;
    let news = News::read(&model, schemas)?;
    print!("{}", news.about_facts(&model, check));
    let lacking = words::lacking(&news.model);
    let lines = |lines: &[String]| lines.iter().flat_map(|line| ["\n  ", line]).collect::<String>();
    if !check {
        model::write::model(&news.model, root)?;
        println!("{} things lack words{}", lacking.len(), lines(&lacking));
        return Ok(());
    }
    let wrong = [
        ("the schemas differ from the model, which `cargo xtask import` would change", news.changes),
        (
            "the schemas have these, which are marked as taken from elsewhere: remove the mark or correct the entry",
            news.settled,
        ),
        ("these lack words", lacking),
    ];
    let wrong = wrong.iter().filter(|(_, of)| !of.is_empty()).map(|(what, of)| format!("{what}:{}", lines(of)));
    let wrong: Vec<String> = wrong.collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("the model is what the schemas say ({RELEASE})");
    Ok(())
}

/// What the schemas say that the model does not.
struct News {
    /// The model with their structure.
    model: Model,
    /// How that differs from the model.
    changes: Vec<String>,
    /// What they make of facts from elsewhere.
    facts: Vec<Fact>,
    /// The facts that they confirm or change.
    settled: Vec<String>,
}

impl News {
    fn read(model: &Model, schemas: &Path) -> Result<Self> {
        let mut news = News {
            model: Model { versions: Vec::new(), sources: model.sources.clone() },
            changes: Vec::new(),
            facts: Vec::new(),
            settled: Vec::new(),
        };
        for old in &model.versions {
            let file = |name| {
                let path = schemas.join(old.folder()).join(name);
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                serde_json::from_str::<Value>(&text).with_context(|| path.display().to_string())
            };
            let (stable, unstable) = (file("schema.json")?, file("schema.unstable.json")?);
            let new = refresh(old, &stable, &unstable).with_context(|| old.folder())?;
            news.changes.extend(compare::versions(old, &new));
            news.facts.extend(facts::judge(old, |bare| refresh(bare, &stable, &unstable))?);
            news.model.versions.push(new);
        }
        let settled = news.facts.iter().filter(|fact| matches!(fact.found, Found::Confirmed | Found::Changed(_)));
        news.settled = settled.map(|fact| format!("{}: {}", fact.at, fact.found)).collect();
        Ok(news)
    }

    /// For each source, how many of its facts the schemas confirm, change or lack, and unless `short` is set, which.
    fn about_facts(&self, model: &Model, short: bool) -> String {
        let mut out = String::new();
        for (name, source) in &model.sources {
            let facts: Vec<&Fact> = self.facts.iter().filter(|fact| fact.source == *name).collect();
            let count = |is: fn(&Found) -> bool| facts.iter().filter(|fact| is(&fact.found)).count();
            let _ = writeln!(
                out,
                "{name} ({source}): {} facts lacking in the schemas, {} there as drafts, {} confirmed, {} changed",
                count(|found| matches!(found, Found::Lacking)),
                count(|found| matches!(found, Found::Draft)),
                count(|found| matches!(found, Found::Confirmed)),
                count(|found| matches!(found, Found::Changed(_))),
            );
            for fact in facts.iter().filter(|_| !short) {
                let _ = writeln!(out, "  {}: {}", fact.at, fact.found);
            }
        }
        out
    }
}

/// Fetches and unpacks the package; the answer is the folder of its schemas.
fn fetch(folder: &Path) -> Result<std::path::PathBuf> {
    fs::create_dir_all(folder)?;
    let npm = Command::new("npm").args(["pack", "--json", PACKAGE]).current_dir(folder).output();
    let npm = npm.context("cannot run npm")?;
    ensure!(npm.status.success(), "npm pack {PACKAGE} failed: {}", String::from_utf8_lossy(&npm.stderr));
    let report: Value = serde_json::from_slice(&npm.stdout).context("npm pack --json")?;
    let integrity = &report[0]["integrity"];
    ensure!(integrity == INTEGRITY, "{PACKAGE} has the contents {integrity}, expected {INTEGRITY}");
    let archive = report[0]["filename"].as_str().context("npm names no file")?;
    let tar = Command::new("tar").args(["-xzf", archive]).current_dir(folder).status().context("cannot run tar")?;
    ensure!(tar.success(), "cannot unpack {archive}");
    Ok(folder.join("package/schema"))
}

/// One version with its structure from these schema files.
fn refresh(old: &Version, stable: &Value, unstable: &Value) -> Result<Version> {
    let (stable, unstable) = (Schema::new(stable)?, Schema::new(unstable)?);
    let types = merge::drafts(&stable.types()?, unstable.types()?)?;
    let methods = methods(&unstable.calls(), &types);
    Ok(merge::version(old, types, methods))
}

/// Methods as the schema tells them: by the types that say which method they are for.
fn methods(calls: &[(&str, &str, &str)], types: &Types) -> IndexMap<String, Method> {
    let mut methods = IndexMap::<String, Method>::new();
    for &(name, method, side) in calls {
        let draft = types.get(name).and_then(|def| def.draft.clone());
        let method = methods.entry(method.to_owned()).or_insert_with(|| Method {
            doc: None,
            page: None,
            draft,
            source: None,
            from: match side {
                "agent" => Sender::Client,
                "client" => Sender::Agent,
                _ => Sender::Both,
            },
            kind: Kind::Request,
            params: String::new(),
            notification_params: None,
            result: None,
            scope: Scope::Connection,
            phase: Phase::Ready,
            effect: None,
            retry: None,
            gate: None,
            gate_rule: None,
        });
        if name.ends_with("Response") {
            method.result = Some(name.to_owned());
        } else if name.ends_with("Notification") {
            method.notification_params = Some(name.to_owned());
        } else {
            name.clone_into(&mut method.params);
        }
    }
    for method in methods.values_mut() {
        if method.params.is_empty() {
            method.kind = Kind::Notification;
            method.params = method.notification_params.take().unwrap_or_default();
        } else if method.notification_params.is_some() {
            method.kind = Kind::Both;
        }
        let session = types.get(&method.params).and_then(merge::object).and_then(|fields| fields.get("sessionId"));
        if session.is_some_and(|field| field.required) {
            method.scope = Scope::Session;
        }
    }
    methods
}
