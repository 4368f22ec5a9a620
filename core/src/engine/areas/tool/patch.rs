//! Patches in git's text format, checked as TOOL-28 requires: sections of `diff --git` and nothing else, with absolute
//! paths. The line counts of hunks are not checked.

use std::borrow::Cow;

use crate::validation::is_absolute;

/// The contents of a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// The paths of its files, possibly repeated.
    pub(super) paths: Vec<String>,
}

/// What is wrong with a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) why: &'static str,
}

const SECTION: &str = "diff --git ";
/// Lines of a section's header that end in a path.
const NAMING: &[&str] = &["rename from ", "rename to ", "copy from ", "copy to "];
/// Lines of a section's header that are not checked.
const PLAIN: &[&str] = &[
    "old mode ",
    "new mode ",
    "deleted file mode ",
    "new file mode ",
    "similarity index ",
    "dissimilarity index ",
    "index ",
    "Binary files ",
];
/// The first characters of the lines of a hunk.
const HUNK: &[char] = &['@', ' ', '+', '-', '\\'];
/// The path in place of a file that does not exist on one side.
const NOTHING: &str = "/dev/null";

const RELATIVE: &str = "a path that is not absolute; write the full path, without a prefix such as a/";
const STRANGE: &str = "not part of a section that begins with diff --git; leave mail and commit headers out";

/// The part of a section that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    Head,
    Hunks,
    /// Bytes in base85, up to the next section.
    Bytes,
}

pub(super) fn read(text: &str) -> Result<Patch, Wrong> {
    let mut paths = Vec::new();
    let mut within = Within::Nothing;
    for (at, line) in text.lines().enumerate() {
        let wrong = |why| Wrong { line: at + 1, why };
        if let Some(names) = line.strip_prefix(SECTION) {
            let both = both(names).map_err(wrong)?;
            paths.extend(both.map(Cow::into_owned));
            within = Within::Head;
            continue;
        }
        match within {
            Within::Bytes => {}
            Within::Hunks if line.is_empty() || line.starts_with(HUNK) => {}
            Within::Head if line.starts_with("@@ ") => within = Within::Hunks,
            Within::Head if line == "GIT binary patch" => within = Within::Bytes,
            Within::Head if line.is_empty() || PLAIN.iter().any(|head| line.starts_with(head)) => {}
            Within::Head => {
                let side = ["--- ", "+++ "].iter().find_map(|head| line.strip_prefix(head));
                // A time may follow after a tab.
                let side = side.map(|side| side.split('\t').next().unwrap_or(side));
                let named = NAMING.iter().find_map(|head| line.strip_prefix(head));
                let path = unquoted(side.or(named).ok_or_else(|| wrong(STRANGE))?);
                if side.is_some() && path == NOTHING {
                    continue;
                }
                if !is_absolute(&path) {
                    return Err(wrong(RELATIVE));
                }
                paths.push(path.into_owned());
            }
            Within::Nothing | Within::Hunks => return Err(wrong(STRANGE)),
        }
    }
    if within == Within::Nothing {
        return Err(Wrong { line: 1, why: STRANGE });
    }
    Ok(Patch { paths })
}

/// The path in a section's first line if both are the same. If they differ, the first one may end at any space, and
/// other lines name them.
fn both(names: &str) -> Result<Option<Cow<'_, str>>, &'static str> {
    if let (Some(middle), true) = (names.len().checked_sub(1), names.len() % 2 == 1) {
        let halves = names.is_char_boundary(middle / 2).then(|| names.split_at(middle / 2));
        if let Some((one, _)) = halves.filter(|(one, other)| other.strip_prefix(' ') == Some(*one)) {
            let path = unquoted(one);
            return if is_absolute(&path) { Ok(Some(path)) } else { Err(RELATIVE) };
        }
    }
    let begins = |text: &str| is_absolute(&unquoted(text)) || text.strip_prefix('"').is_some_and(begins_absolute);
    let second = names.match_indices(' ').any(|(at, _)| begins(&names[at + 1..]));
    if begins(names) && second {
        Ok(None)
    } else {
        Err(RELATIVE)
    }
}

/// Whether the text after a quotation mark begins like an absolute path.
fn begins_absolute(quoted: &str) -> bool {
    // Quoting doubles the backslashes of a drive's root or a share.
    let (mut text, mut rest) = (String::new(), quoted.chars());
    while let Some(character) = rest.next() {
        text.push(character);
        if character == '\\' && rest.as_str().starts_with('\\') {
            rest.next();
        }
    }
    is_absolute(&text)
}

/// Decodes a path as git writes it: with unusual characters, in quotation marks and with escapes as in C.
fn unquoted(text: &str) -> Cow<'_, str> {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return text.into() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(digit @ b'0'..=b'3') => {
                let mut octal = || rest.next().map_or(0, |digit| digit.wrapping_sub(b'0') & 7);
                let (middle, last) = (octal(), octal());
                ((digit - b'0') << 6) | (middle << 3) | last
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let mut paths = read(text).unwrap_or_else(|wrong| panic!("{wrong:?}: {text}")).paths;
        paths.sort();
        paths.dedup();
        paths
    }

    #[test]
    fn sections_name_their_files() {
        let modified = "diff --git /w/a b.rs /w/a b.rs\nindex 1..2 100644\n--- /w/a b.rs\t\n+++ /w/a b.rs\t\n@@ -1 +1 @@\n-x\n+y\n";
        assert_eq!(paths(modified), ["/w/a b.rs"]);
        let added = "diff --git /w/n /w/n\nnew file mode 100644\n--- /dev/null\n+++ /w/n\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n";
        assert_eq!(paths(added), ["/w/n"]);
        let moved = "diff --git /w/a /w/bc\nsimilarity index 100%\nrename from /w/a\nrename to /w/bc\n";
        assert_eq!(paths(moved), ["/w/a", "/w/bc"]);
        let copied = "diff --git /w/a /w/bc\nsimilarity index 100%\ncopy from /w/a\ncopy to /w/bc\n";
        assert_eq!(paths(&format!("{copied}{added}")), ["/w/a", "/w/bc", "/w/n"]);
        let quoted = "diff --git \"/w/\\303\\251\\n\" \"/w/\\303\\251\\n\"\nold mode 100644\nnew mode 100755\n";
        assert_eq!(paths(quoted), ["/w/é\n"]);
        let drive =
            "diff --git \"C:\\\\w\\\\a\" \"C:\\\\w\\\\b\"\nrename from \"C:\\\\w\\\\a\"\nrename to \"C:\\\\w\\\\b\"\n";
        assert_eq!(paths(drive), ["C:\\w\\a", "C:\\w\\b"]);
        let bytes =
            "diff --git /w/i /w/i\nindex 1..2\nGIT binary patch\nliteral 2\nJc$_0\n\nliteral 0\nHcmV?d00001\n\n";
        assert_eq!(paths(bytes), ["/w/i"]);
        // A removed line that looks like the head of a file.
        assert_eq!(paths("diff --git /w/q /w/q\n--- /w/q\n+++ /w/q\n@@ -1,2 +0,0 @@\n--- a/x\n-\n\n"), ["/w/q"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, why) in [
            ("", 1, STRANGE),
            ("From 1234 Mon Sep 17\nSubject: x\n\ndiff --git /a /a\n", 1, STRANGE),
            ("--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n", 1, STRANGE),
            ("diff --git a/w/a b/w/a\n", 1, RELATIVE),
            ("diff --git a b\n", 1, RELATIVE),
            ("diff --git /w/a b/w/a\n", 1, RELATIVE),
            ("diff --git /w/a /w/a\n--- a/w/a\n", 2, RELATIVE),
            ("diff --git /w/a /w/b\nrename from a\n", 2, RELATIVE),
            ("diff --git /w/a /w/b\nrename from /dev/null\nrename to b\n", 3, RELATIVE),
            ("diff --git /w/a /w/a\nAuthor: x\n", 2, STRANGE),
            ("diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n-- \n2.43.0\n", 8, STRANGE),
            ("diff --git \n", 1, RELATIVE),
        ] {
            assert_eq!(read(text), Err(Wrong { line, why }), "{text:?}");
        }
    }
}
