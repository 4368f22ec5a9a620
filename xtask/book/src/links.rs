//! Links of the built book: each leads to a file of it, and to a place there. What a page loads by itself comes from the
//! book too, so that it is read without a network.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use html5ever::tendril::SliceExt;
use html5ever::tokenizer::{BufferQueue, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// Attributes that lead somewhere, and whether the browser goes there by itself.
const LEADING: &[(&str, &str, bool)] = &[
    ("a", "href", false),
    ("link", "href", true),
    ("script", "src", true),
    ("img", "src", true),
    ("iframe", "src", true),
    ("use", "href", true),
];

/// What a page has: names to link to, and links with whether they are loaded.
#[derive(Default)]
struct Page {
    names: RefCell<BTreeSet<String>>,
    links: RefCell<Vec<(String, bool)>>,
}

impl TokenSink for Page {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token {
            self.names.borrow_mut().extend(attribute(&tag, "id"));
            for &(name, leading, loaded) in LEADING {
                if &*tag.name == name {
                    self.links.borrow_mut().extend(attribute(&tag, leading).map(|link| (link, loaded)));
                }
            }
        }
        TokenSinkResult::Continue
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// Follows all links of a folder of HTML; how many there are.
pub(crate) fn check(folder: &Path, problems: &mut Vec<String>) -> Result<usize> {
    let files = crate::files(folder)?;
    let mut pages = BTreeMap::new();
    let references = folder.join(crate::references::FOLDER);
    // Where the links of references lead is for who writes them.
    let ours = files.iter().filter(|file| !file.starts_with(&references));
    for file in ours.filter(|file| file.extension().is_some_and(|end| end == "html")) {
        pages.insert(file.clone(), read(file)?);
    }
    let mut followed = 0;
    for (file, page) in &pages {
        for (link, loaded) in page.links.borrow().iter() {
            followed += 1;
            if let Err(error) = follow(file, link, *loaded, &pages) {
                problems.push(format!("{}: {link}: {error:#}", file.strip_prefix(folder)?.display()));
            }
        }
    }
    Ok(followed)
}

fn read(file: &Path) -> Result<Page> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let input = BufferQueue::default();
    input.push_back(text.to_tendril());
    let tokenizer = Tokenizer::new(Page::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    Ok(tokenizer.sink)
}

fn follow(from: &Path, link: &str, loaded: bool, pages: &BTreeMap<PathBuf, Page>) -> Result<()> {
    if link.contains("://") {
        anyhow::ensure!(!loaded, "loaded from elsewhere");
        return Ok(());
    }
    let (path, name) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => from.to_owned(),
        path => normal(&from.parent().unwrap_or(from).join(path)),
    };
    anyhow::ensure!(target.is_file(), "not there");
    let there = pages.get(&target).is_none_or(|page| name.is_empty() || page.names.borrow().contains(name));
    anyhow::ensure!(there, "no such place on that page");
    Ok(())
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == std::path::Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}
