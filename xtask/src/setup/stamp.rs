//! The files of the tree, and a hash over some of them: equal when nothing has changed.

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
        each_file(Path::new(input), &mut |path| {
            path.hash(&mut hasher);
            fs::read(path)?.hash(&mut hasher);
            Ok(())
        })?;
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

/// Visits a file, or all files below a folder in the order of their names, save those that are made from others.
pub(crate) fn each_file(path: &Path, visit: &mut impl FnMut(&Path) -> Result<()>) -> Result<()> {
    let what = || format!("{} is needed and cannot be read", path.display());
    if !path.is_dir() {
        return visit(path).with_context(what);
    }
    let entries = fs::read_dir(path).with_context(what)?.collect::<Result<Vec<_>, _>>().with_context(what)?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.') && !MADE.contains(&name.as_str()));
    names.sort();
    names.iter().try_for_each(|name| each_file(&path.join(name), visit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_made_from_changes_the_stamp() {
        let folder = std::env::temp_dir().join(format!("libacp-stamp-{}", std::process::id()));
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("src/a.rs", "a");
        let inputs = [folder.to_str().unwrap()];
        let stamp = || of(&inputs, &[]).unwrap();
        let first = stamp();
        file("target/made", "x");
        file("src/node_modules/x.js", "x");
        file("src/.hidden", "x");
        assert_eq!(stamp(), first);
        assert_ne!(of(&inputs, &["other".to_owned()]).unwrap(), first);
        file("src/a.rs", "b");
        let changed = stamp();
        assert_ne!(changed, first);
        fs::rename(folder.join("src/a.rs"), folder.join("src/b.rs")).unwrap();
        assert_ne!(stamp(), changed);
        fs::remove_dir_all(&folder).unwrap();
        assert!(of(&inputs, &[]).unwrap_err().to_string().ends_with("is needed and cannot be read"));
    }
}
