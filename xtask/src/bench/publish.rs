//! Puts what was measured into the documents that show it, so that nobody copies figures by hand.

use std::fs;

use anyhow::{Context, Result};

/// Replaces the tables in the README and in `docs/performance.md`.
pub(super) fn write(about: &str, everything: &str, goals: &str, summary: &str) -> Result<()> {
    let documents: [(&str, &[(&str, String)]); 2] = [
        ("README.md", &[("summary", format!("{summary}\n\n{about}"))]),
        ("docs/performance.md", &[("goals", format!("{about}\n\n{goals}")), ("everything", everything.to_owned())]),
    ];
    for (file, parts) in documents {
        let mut text = fs::read_to_string(file).with_context(|| file.to_owned())?;
        for (name, part) in parts {
            text = replaced(&text, name, part).with_context(|| format!("{file} has no place for {name}"))?;
        }
        fs::write(file, text)?;
        println!("\nwritten: {file}");
    }
    Ok(())
}

/// The text with something else between the marks of this name.
fn replaced(text: &str, name: &str, part: &str) -> Option<String> {
    let begin = format!("<!-- {name}: written by cargo xtask bench --write -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{part}\n\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let text = "a\n<!-- x: written by cargo xtask bench --write -->\nold\n<!-- end of x -->\nz\n";
        let new = replaced(text, "x", "new").unwrap();
        assert_eq!(new, "a\n<!-- x: written by cargo xtask bench --write -->\n\nnew\n\n<!-- end of x -->\nz\n");
        assert_eq!(replaced(&new, "x", "new"), Some(new.clone()), "twice is as once");
        assert_eq!(replaced(text, "y", "new"), None);
    }

    #[test]
    fn the_documents_have_the_places() {
        for (file, names) in [("README.md", &["summary"][..]), ("docs/performance.md", &["goals", "everything"])] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
            let text = fs::read_to_string(path).unwrap();
            for name in names {
                assert!(replaced(&text, name, "").is_some(), "{file} has no place for {name}");
            }
        }
    }
}
