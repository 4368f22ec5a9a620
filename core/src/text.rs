//! Making text from a peer safe to display.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes text from a peer safe for a terminal or a log: control characters and marks that change the direction of text
/// become visible escapes. Line feeds and tabs stay as they are.
///
/// ```
/// assert_eq!(libacp::printable("\u{1b}[2Jgone\n\u{202e}"), "\\x1b[2Jgone\n\\u202e");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if steers(character) {
            escape(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Whether a character changes how others are displayed.
fn steers(character: char) -> bool {
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (character.is_control() && !matches!(character, '\n' | '\t'))
}

/// Writes a character as an escape of Python and JavaScript.
pub(crate) fn escape(out: &mut String, character: char) {
    let code = u32::from(character);
    // Writing to a String cannot fail.
    let _ = if code < 0x100 { write!(out, "\\x{code:02x}") } else { write!(out, "\\u{code:04x}") };
}

/// Texts with something in between. `join` is made once for each type, many times as large.
pub(crate) fn joined(parts: &[impl AsRef<str>], between: &str) -> String {
    let mut all = String::new();
    for (at, part) in parts.iter().enumerate() {
        all.push_str(if at == 0 { "" } else { between });
        all.push_str(part.as_ref());
    }
    all
}

/// Where a short text stands in another one. What the standard library does is made for long ones.
pub(crate) fn place_of(short: &str, text: &str) -> Option<usize> {
    text.as_bytes().windows(short.len()).position(|window| window == short.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{joined, place_of, printable};

    #[test]
    fn texts_are_found() {
        assert_eq!(["b", "bc", "abc", "cd"].map(|short| place_of(short, "aabc")), [Some(2), Some(2), Some(1), None]);
    }

    #[test]
    fn what_is_joined_has_something_in_between() {
        assert_eq!(joined(&["a", "", "b"], ", "), "a, , b");
        assert_eq!(joined(&[String::from("a")], "/") + &joined(&[""; 0], "/"), "a");
    }

    #[test]
    fn what_steers_is_shown() {
        let evil = "\u{1b}]0;owned\u{7}\r\n\u{202e}text\u{2066}\u{9b}31m";
        assert_eq!(printable(evil), "\\x1b]0;owned\\x07\\x0d\n\\u202etext\\u2066\\x9b31m");
        for text in ["caf\u{e9}\u{a0}!\n\tx", "\u{3000}日本", "👩\u{200d}💻", "مرحبا", ""] {
            assert!(matches!(printable(text), std::borrow::Cow::Borrowed(same) if same == text));
        }
    }
}
