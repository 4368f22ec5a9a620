//! The references of the packages, which other tools write: they become folders of the book, and are left as they are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Where `cargo xtask book` has put them.
const FROM: &str = "target/references";
/// Where they are in the book.
pub(crate) const FOLDER: &str = "api";
/// Each with a page that it has.
const ALL: &[(&str, &str)] = &[("python", "libacp/aio.html"), ("javascript", "modules/client.html")];

/// Puts them into the built book.
pub(crate) fn place(built: &Path, problems: &mut Vec<String>) -> Result<()> {
    for (name, page) in ALL {
        let from = PathBuf::from(FROM).join(name);
        if !from.join(page).is_file() {
            problems.push(format!("{} has no {page}; `cargo xtask book` writes it", from.display()));
            continue;
        }
        for file in crate::files(&from)? {
            let to = built.join(FOLDER).join(name).join(file.strip_prefix(&from)?);
            fs::create_dir_all(to.parent().unwrap_or(built))?;
            fs::copy(&file, &to).with_context(|| to.display().to_string())?;
        }
    }
    Ok(())
}
