//! A hash over files and folders: equal when nothing has changed.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;

use anyhow::{Context, Result};

/// Folders that are made from others.
const MADE: &[&str] = &["target", "node_modules", "dist", "__pycache__"];

/// The hash over inputs and over what else matters.
pub(super) fn of(inputs: &[&str], others: &[String]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    others.hash(&mut hasher);
    for input in inputs {
        add(Path::new(input), &mut hasher)?;
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let what = || format!("{} is needed and cannot be read", path.display());
    if !path.is_dir() {
        path.hash(hasher);
        fs::read(path).with_context(what)?.hash(hasher);
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(what)?.collect::<Result<Vec<_>, _>>().with_context(what)?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.') && !MADE.contains(&name.as_str()));
    names.sort();
    names.iter().try_for_each(|name| add(&path.join(name), hasher))
}
