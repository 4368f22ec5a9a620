//! `cargo xtask book [FOLDER]`: builds the book of a folder (`docs`) as HTML that is read without a server.
//!
//! mdBook builds a great deal that readers would stumble over, so this fails where a page is not in the summary, a snippet
//! is not a file or not a part of one, mdBook itself complains, or a link leads nowhere. All of it is listed, one problem
//! a line. Read [`snippets`] next, then [`complaints`], [`references`] and [`links`].

#![forbid(unsafe_code)]

mod complaints;
mod links;
mod references;
mod snippets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use mdbook_driver::book::BookItem;
use mdbook_driver::MDBook;

fn main() -> ExitCode {
    match run() {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            println!("{}\n0 passed, {} failed", problems.join("\n"), problems.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Vec<String>> {
    let complaints = complaints::listen()?;
    let folder = std::env::args().nth(1);
    let is_ours = folder.is_none();
    let book = MDBook::load(folder.unwrap_or_else(|| "docs".to_owned()))?;
    let source = book.source_dir();
    let listed: BTreeSet<PathBuf> = book.iter().filter_map(page).collect();

    let mut problems = Vec::new();
    for page in pages(&source)? {
        if !listed.contains(&page) && page != Path::new("SUMMARY.md") {
            problems.push(format!("{}: not in SUMMARY.md", page.display()));
        }
    }
    let mut taken = 0;
    for page in &listed {
        taken += snippets::check(&source, page, &mut problems)?;
    }
    book.build()?;
    problems.extend(complaints.take());
    let built = book.build_dir_for("html");
    if is_ours {
        references::place(&built, &mut problems)?;
    }
    let followed = links::check(&built, &mut problems)?;
    if problems.is_empty() {
        let begin = built.join("index.html").canonicalize()?;
        println!("{} pages, {taken} snippets, {followed} links in {}", listed.len(), begin.display());
        println!("{} passed, 0 failed", listed.len());
    }
    Ok(problems)
}

/// The file of a chapter, from the source folder.
fn page(item: &BookItem) -> Option<PathBuf> {
    match item {
        BookItem::Chapter(chapter) => chapter.source_path.clone(),
        _ => None,
    }
}

/// All Markdown below a folder, with paths from there.
fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = files(folder)?.into_iter().filter(|file| file.extension().is_some_and(|end| end == "md"));
    files.map(|file| Ok(file.strip_prefix(folder)?.to_owned())).collect()
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
