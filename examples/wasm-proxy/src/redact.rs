//! Takes secrets out of text, also where they arrive in pieces.
//!
//! A secret is a prefix and the letters, digits, `-` and `_` that follow it.

/// What stands in a secret's place.
const INSTEAD: &str = "[redacted]";

/// Text without its secrets, and how many bytes at its end may be the beginning of one.
pub(crate) fn redact(text: &str, prefix: &str) -> (String, usize) {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(prefix).filter(|_| !prefix.is_empty()) {
        clean.push_str(&rest[..at]);
        let secret = &rest[at + prefix.len()..];
        let end = secret.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        let Some(end) = end else {
            return (clean, rest.len() - at);
        };
        clean.push_str(INSTEAD);
        rest = &secret[end..];
    }
    // A prefix may have begun at the end.
    let begun =
        (1..prefix.len()).rev().find(|&count| prefix.is_char_boundary(count) && rest.ends_with(&prefix[..count]));
    let held = begun.unwrap_or(0);
    clean.push_str(&rest[..rest.len() - held]);
    (clean, held)
}

/// Text that nothing follows.
pub(crate) fn redact_all(text: &str, prefix: &str) -> String {
    let (mut clean, held) = redact(text, prefix);
    let end = &text[text.len() - held..];
    clean.push_str(if !prefix.is_empty() && end.starts_with(prefix) { INSTEAD } else { end });
    clean
}

#[cfg(test)]
mod tests {
    use super::{redact, redact_all};

    #[test]
    fn whole_secrets() {
        assert_eq!(redact_all("key sk-abc_1, and sk-2", "sk-"), "key [redacted], and [redacted]");
        assert_eq!(redact_all("ask s sk", "sk-"), "ask s sk");
        assert_eq!(redact_all("anything", ""), "anything");
    }

    #[test]
    fn pieces() {
        let text = "äs sk-abc s sk-d! sk";
        for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            let (first, held) = redact(&text[..cut], "sk-");
            let rest = format!("{}{}", &text[cut - held..cut], &text[cut..]);
            assert_eq!(first + &redact_all(&rest, "sk-"), "äs [redacted] s [redacted]! sk", "cut at {cut}");
        }
    }
}
