//! Snippets: code in the book is taken from files that tests run, so a block of code holds one `{{#include …}}` and nothing
//! else. Only blocks of `text` and `json` are written in the page itself.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// What may stand in a page: it is looked at, not run.
const PLAIN: &[&str] = &["text", "json"];

/// Looks at all code of a page; how many snippets it takes.
pub(crate) fn check(source: &Path, page: &Path, problems: &mut Vec<String>) -> Result<usize> {
    let path = source.join(page);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let folder = path.parent().unwrap_or(source);
    let mut taken = 0;
    // The language of the block that is open, and its lines that are no snippet.
    let mut block: Option<(&str, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        let mut say = |what: &str| problems.push(format!("{}:{}: {what}", page.display(), index + 1));
        if let Some(info) = line.strip_prefix("```") {
            block = match block.take() {
                Some((language, written)) => {
                    if written > 0 && !PLAIN.contains(&language) {
                        say(&format!("this {language} is in no file that a test runs"));
                    }
                    None
                }
                None => Some((info.trim(), 0)),
            };
        } else if let Some(what) = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
            taken += 1;
            if let Err(error) = included(folder, what) {
                say(&format!("{what}: {error:#}"));
            }
        } else if let Some((_, written)) = &mut block {
            *written += usize::from(!line.trim().is_empty());
        }
    }
    Ok(taken)
}

/// Fails where a snippet would be empty, or show the marks of others.
fn included(folder: &Path, what: &str) -> Result<()> {
    let (file, anchor) = what.split_once(':').map_or((what, None), |(file, anchor)| (file, Some(anchor)));
    let text = fs::read_to_string(folder.join(file)).context("not there")?;
    let marked = |mark: &str, name: &str| {
        text.lines()
            .any(|line| line.split_once(mark).is_some_and(|(_, rest)| rest.split_whitespace().next() == Some(name)))
    };
    match anchor {
        None => anyhow::ensure!(!text.contains("ANCHOR:"), "has anchors, so take one of them"),
        Some(name) => {
            anyhow::ensure!(
                marked("ANCHOR: ", name) && marked("ANCHOR_END: ", name),
                "no such anchor, or no end of it"
            );
        }
    }
    Ok(())
}
