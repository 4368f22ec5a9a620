//! `cargo xtask import`: refreshes the structure in `core/protocol/` from the official schemas, and lists what lacks
//! words. Read [`schema`] for how a schema is read and [`merge`] for what stays as people wrote it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::Value;

use crate::model::{self, Kind, Method, Model, Phase, Scope, Sender, Version};
use schema::{Schema, Types};

mod keywords;
mod merge;
mod schema;
#[cfg(test)]
mod tests;
mod words;

/// The package that carries the schemas.
const PACKAGE: &str = "@agentclientprotocol/sdk@2.4.0";
/// What `npm` must find its contents to be.
const INTEGRITY: &str =
    "sha512-7qJ8nnyj7WesC5ve185ioTpB2/svQoeGV4HA4nLEhgDUrcmBe54/08VcXc/oL4p14tDbxxECZzdYmUYQ+4l+Wg==";

/// Runs the command. With `check`, words that lack are an error.
pub(crate) fn run(check: bool) -> Result<()> {
    let schemas = fetch(Path::new("target/import"))?;
    let root = Path::new(model::FOLDER);
    let old = model::load::model(root)?;
    let versions = old.versions.iter().map(|version| {
        let file = |name| {
            let path = schemas.join(version.folder()).join(name);
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_str::<Value>(&text).with_context(|| path.display().to_string())
        };
        refresh(version, &file("schema.json")?, &file("schema.unstable.json")?).with_context(|| version.folder())
    });
    let new = Model { versions: versions.collect::<Result<_>>()? };
    model::write::model(&new, root)?;
    let lacking = words::lacking(&new);
    for line in &lacking {
        println!("{line}");
    }
    println!("{} things lack words", lacking.len());
    ensure!(!check || lacking.is_empty(), "the model is not complete");
    Ok(())
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
            rfd: false,
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
