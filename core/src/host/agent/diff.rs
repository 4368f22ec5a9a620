//! The diff of version 1, two texts of one file, as changes and a patch in git's format (TOOL-26, TOOL-28).

use std::borrow::Cow;
use std::fmt::Write as _;

use super::object::{quoted, text, Object};
use crate::json;

/// Unchanged lines that are shown around a change.
const AROUND: usize = 3;

/// An item of content with `changes` and `patch` in place of `path`, `oldText` and `newText`. One that has no such texts
/// stays as it is.
pub(super) fn item(item: &str) -> String {
    let (Some(path), Some(new)) = (text(item, "/path"), text(item, "/newText")) else { return item.to_owned() };
    let old = json::pointer(item, "/oldText").and_then(json::unescape);
    let operation = if old.is_some() { "modify" } else { "add" };
    let mut diff = Object::of(item);
    for name in ["path", "oldText", "newText"] {
        diff.take(name);
    }
    let path_text = quoted(&path);
    diff.set("changes", format!(r#"[{{"operation":"{operation}","path":{path_text},"fileType":"text"}}]"#));
    if let Some(patch) = patch(&path, old.as_deref(), &new) {
        diff.set("patch", format!(r#"{{"format":"git_patch","text":{}}}"#, quoted(&patch)));
    }
    diff.write()
}

/// `None` if nothing has changed.
fn patch(path: &str, old: Option<&str>, new: &str) -> Option<String> {
    if old == Some(new) {
        return None;
    }
    let name = name(path);
    // As git does, so that it is clear where the name ends.
    let end = if path.contains(' ') { "\t" } else { "" };
    let mut out = format!("diff --git {name} {name}\n");
    let before = if old.is_some() { Cow::Owned(format!("{name}{end}")) } else { "/dev/null".into() };
    if old.is_none() {
        out.push_str("new file mode 100644\n");
    }
    let (old, new) = (lines(old.unwrap_or_default()), lines(new));
    if old != new {
        // Writing to a string does not fail.
        let _ = write!(out, "--- {before}\n+++ {name}{end}\n");
        hunk(&mut out, &old, &new);
    }
    Some(out)
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// One hunk from the first line that differs to the last one.
fn hunk(patch: &mut String, old: &[&str], new: &[&str]) {
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let (first, last) = (head.saturating_sub(AROUND), tail.saturating_sub(AROUND));
    let place = |lines: &[&str]| {
        let count = lines.len() - last - first;
        // The line before the hunk, where the hunk has none on this side.
        format!("{},{count}", if count == 0 { first } else { first + 1 })
    };
    let _ = writeln!(patch, "@@ -{} +{} @@", place(old), place(new));
    let mut all = |sign: char, lines: &[&str]| {
        for line in lines {
            patch.push(sign);
            patch.push_str(line);
            if !line.ends_with('\n') {
                patch.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    all(' ', &old[first..head]);
    all('-', &old[head..old.len() - tail]);
    all('+', &new[head..new.len() - tail]);
    all(' ', &old[old.len() - tail..old.len() - last]);
}

/// A path as git writes it: in quotation marks if it has characters that are unusual.
fn name(path: &str) -> Cow<'_, str> {
    let usual = |byte: u8| (b' '..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\');
    if path.bytes().all(usual) {
        return path.into();
    }
    let mut out = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            byte if usual(byte) => out.push(char::from(byte)),
            byte => _ = write!(out, "\\{byte:03o}"),
        }
    }
    out.push('"');
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_as_git_writes_it() {
        let (all, without_5) = ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n6\n7\n8\n9\n");
        let cases = [
            ("/a", Some("x\n"), "x\n", None),
            ("/a", None, "", Some("diff --git /a /a\nnew file mode 100644\n")),
            (
                "/a b",
                None,
                "1\n2",
                Some(
                    "diff --git /a b /a b\nnew file mode 100644\n--- /dev/null\n+++ /a b\t\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n",
                ),
            ),
            (
                "/é\"",
                Some("1\n"),
                "2\n",
                Some(
                    "diff --git \"/\\303\\251\\\"\" \"/\\303\\251\\\"\"\n--- \"/\\303\\251\\\"\"\n+++ \"/\\303\\251\\\"\"\n@@ -1,1 +1,1 @@\n-1\n+2\n",
                ),
            ),
            (
                "/a",
                Some(all),
                without_5,
                Some("diff --git /a /a\n--- /a\n+++ /a\n@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"),
            ),
            (
                "/a",
                Some("1\n"),
                "",
                Some("diff --git /a /a\n--- /a\n+++ /a\n@@ -1,1 +0,0 @@\n-1\n"),
            ),
            (
                "/a",
                Some("x\nx\n"),
                "x\nx\nx\n",
                Some("diff --git /a /a\n--- /a\n+++ /a\n@@ -1,2 +1,3 @@\n x\n x\n+x\n"),
            ),
        ];
        for (path, old, new, expected) in cases {
            assert_eq!(patch(path, old, new).as_deref(), expected, "{path} {old:?} {new:?}");
        }
    }

    #[test]
    fn texts_become_changes() {
        let given = r#"{"type":"diff","path":"/a","oldText":null,"newText":"x","_meta":{}}"#;
        let expected = r#"{"type":"diff","_meta":{},"changes":[{"operation":"add","path":"/a","fileType":"text"}],"patch":{"format":"git_patch","text":"diff --git /a /a\nnew file mode 100644\n--- /dev/null\n+++ /a\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"}}"#;
        assert_eq!(item(given), expected);
        assert_eq!(item(r#"{"type":"diff","changes":[]}"#), r#"{"type":"diff","changes":[]}"#);
    }
}
