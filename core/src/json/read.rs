//! Look-ups by JSON pointer, and strings without their escapes.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::string::FromUtf8Error;

use super::dense;
use super::scan::{Kind, Scanner};
use super::string_end::find_string_end;

/// The deepest nesting that any function of this module reads.
pub const MAX_DEPTH: u32 = 1024;

/// Shorter strings are examined byte by byte.
const SHORT: usize = 64;

/// From this length on, preparing a search for the whole name pays off.
const LONG_TEXT: usize = 1024;

/// The lengths at which the faster UTF-8 check saves more than the copy that it needs costs.
const COPIED: RangeInclusive<usize> = 1024..=256 * 1024;

/// Whether a quoted name occurs anywhere in a text. The search is for its first letter, which is rarer than a quote.
pub(crate) fn mentions(text: &[u8], name: &[u8]) -> bool {
    if dense::WORTH_IT && text.len() >= LONG_TEXT {
        return memchr::memmem::find(text, name).is_some();
    }
    let (Some(&letter), Some(inside)) = (name.get(1), text.get(1..)) else { return false };
    memchr::memchr_iter(letter, inside).any(|at| text[at..].starts_with(name))
}

/// The value that a JSON pointer (RFC 6901) names in a JSON text, as it stands there. `None` if the pointer names
/// nothing or the text up to there is not JSON.
///
/// ```
/// let json = r#"{"update":{"sessionUpdate":"plan","entries":[{"content":"read"}]}}"#;
/// assert_eq!(libacp::json::pointer(json, "/update/entries/0/content"), Some("\"read\""));
/// ```
pub fn pointer<'a>(json: &'a str, pointer: &str) -> Option<&'a str> {
    #[cfg(test)]
    super::watch::look_up(json, pointer);
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    let mut rest = pointer;
    while let Some(path) = rest.strip_prefix('/') {
        let end = path.find('/').unwrap_or(path.len());
        let segment = segment(&path[..end]);
        rest = &path[end..];
        match scanner.peek().ok()? {
            Kind::Object => {
                if !scanner.enter(Kind::Object).ok()? {
                    return None;
                }
                while !scanner.key().ok()?.is(&segment) {
                    scanner.skip().ok()?;
                    if !scanner.more(Kind::Object).ok()? {
                        return None;
                    }
                }
            }
            Kind::Array => {
                let wanted: usize = segment.parse().ok()?;
                if !scanner.enter(Kind::Array).ok()? {
                    return None;
                }
                for _ in 0..wanted {
                    scanner.skip().ok()?;
                    if !scanner.more(Kind::Array).ok()? {
                        return None;
                    }
                }
            }
            _ => return None,
        }
    }
    if !rest.is_empty() {
        return None;
    }
    let range = scanner.skip().ok()?;
    Some(scanner.slice(range))
}

/// The first member of this name of an object.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    let mut more = scanner.enter(Kind::Object).ok()?;
    while more {
        let found = scanner.key().ok()?.is(name);
        let place = scanner.skip().ok()?;
        if found {
            return Some(scanner.slice(place));
        }
        more = scanner.more(Kind::Object).ok()?;
    }
    None
}

/// The members of an object, in order; none for any other text.
pub(crate) fn members(json: &str) -> Vec<(Cow<'_, str>, &str)> {
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    let mut list = Vec::new();
    let mut more = scanner.enter(Kind::Object).unwrap_or(false);
    while more {
        let (Ok(key), Ok(place)) = (scanner.key(), scanner.skip()) else { break };
        list.push((key.value(), scanner.slice(place)));
        more = scanner.more(Kind::Object).unwrap_or(false);
    }
    list
}

/// The value that a pointer names, through objects alone that the model does not describe. `None` if a name on the way
/// occurs twice with different values, because readers differ in which of them they use.
pub(crate) fn agreed<'a>(json: &'a str, pointer: &str) -> Option<&'a str> {
    pointer.split('/').skip(1).try_fold(json, |value, step| {
        let name = segment(step);
        let mut found = members(value).into_iter().filter(|(known, _)| *known == name).map(|(_, value)| value);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    })
}

/// The items of a list, in order; none for any other text.
pub(crate) fn items(json: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    let mut list = Vec::new();
    let mut more = scanner.enter(Kind::Array).unwrap_or(false);
    while more {
        let Ok(place) = scanner.skip() else { break };
        list.push(scanner.slice(place));
        more = scanner.more(Kind::Array).unwrap_or(false);
    }
    list
}

/// Bytes as text. `simdutf8` checks text that is not ASCII several times as fast as the standard library, but only the
/// standard library turns bytes into a string without a copy.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    if dense::WORTH_IT && COPIED.contains(&bytes.len()) {
        if let Ok(text) = simdutf8::basic::from_utf8(&bytes) {
            return Ok(text.to_owned());
        }
    }
    String::from_utf8(bytes)
}

/// Some members of each object in a list, in one pass; none for any other text.
pub(crate) fn columns<'a, const N: usize>(json: &'a str, names: [&str; N]) -> Vec<[Option<&'a str>; N]> {
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    let mut list = Vec::new();
    let mut more = scanner.enter(Kind::Array).unwrap_or(false);
    while more {
        let mut row = [None; N];
        let Some(()) = read_row(&mut scanner, &names, &mut row) else { break };
        list.push(row);
        more = scanner.more(Kind::Array).unwrap_or(false);
    }
    list
}

fn read_row<'a>(scanner: &mut Scanner<'a>, names: &[&str], row: &mut [Option<&'a str>]) -> Option<()> {
    if scanner.peek().ok()? != Kind::Object {
        return scanner.skip().ok().map(drop);
    }
    let mut more = scanner.enter(Kind::Object).ok()?;
    while more {
        let key = scanner.key().ok()?;
        let place = scanner.skip().ok()?;
        if let Some(at) = names.iter().position(|name| key.is(name)) {
            row[at] = row[at].or(Some(scanner.slice(place)));
        }
        more = scanner.more(Kind::Object).ok()?;
    }
    Some(())
}

fn segment(raw: &str) -> Cow<'_, str> {
    if raw.contains('~') {
        let mut steps = raw.split('~');
        let mut text = steps.next().unwrap_or_default().to_owned();
        for step in steps {
            let (sign, rest) = match step.as_bytes().first() {
                Some(b'0') => ("~", &step[1..]),
                Some(b'1') => ("/", &step[1..]),
                _ => ("~", step),
            };
            text.push_str(sign);
            text.push_str(rest);
        }
        Cow::Owned(text)
    } else {
        Cow::Borrowed(raw)
    }
}

/// The value of a JSON string (with its quotes); `None` if the text is not a JSON string. Lone surrogates become
/// U+FFFD.
pub fn unescape(json: &str) -> Option<Cow<'_, str>> {
    // A fast path for names and ids, which are short and have no escapes.
    let inside = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inside| inside.len() <= SHORT);
    if let Some(inside) = inside.filter(|inside| find_string_end(inside.as_bytes(), 0) == inside.len()) {
        return Some(Cow::Borrowed(inside));
    }
    let mut scanner = Scanner::new(json, MAX_DEPTH);
    if dense::WORTH_IT {
        let mut room = Vec::new();
        let (text, value) = scanner.string_in(&mut room).ok()?;
        scanner.end().ok()?;
        return Some(value.map_or_else(|| text.value(), |value| Cow::Owned(value.to_owned())));
    }
    let text = scanner.string().ok()?;
    scanner.end().ok()?;
    Some(text.value())
}

/// The value of the string whose content begins at byte `at` of a JSON text, and the position of its closing quote.
/// `None` if there is no such string, or it has a lone surrogate.
///
/// This is for hosts that parse JSON themselves: it takes a single pass, and `room` is a buffer that can be reused.
///
/// ```
/// let (json, mut room) = (r#"["a\tb","c"]"#, Vec::new());
/// assert_eq!(libacp::json::unescape_at(json, 2, &mut room), Some(("a\tb", 6)));
/// assert_eq!(libacp::json::unescape_at(json, 9, &mut room), Some(("c", 10)));
/// ```
pub fn unescape_at<'r>(json: &str, at: usize, room: &'r mut Vec<u8>) -> Option<(&'r str, usize)> {
    dense::unescape(json.as_bytes(), at, room).filter(|(_, end)| *end < json.len())
}

/// The value of the content of a JSON string that the scanner has accepted.
pub(super) fn unescape_raw(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    push_unescaped(&mut out, raw);
    out
}

/// Strings from so many bytes on are unescaped in blocks, for which room has to be made.
const MADE_ROOM: usize = 4 * dense::LONG;

/// Appends the value of the content of a string in JSON. Whether it is the content of one: otherwise something in it ends
/// the string, and nothing is appended.
pub(crate) fn push_unescaped(out: &mut String, raw: &str) -> bool {
    if is_plain(raw.as_bytes()) {
        out.push_str(raw);
        return true;
    }
    if dense::WORTH_IT && raw.len() >= MADE_ROOM {
        return match dense::unescape(raw.as_bytes(), 0, &mut Vec::new()) {
            Some((value, end)) if end == raw.len() => {
                out.push_str(value);
                true
            }
            _ => push_pieces(out, raw),
        };
    }
    push_pieces(out, raw)
}

/// Whether what a scanner has accepted has neither quotes nor escapes. No byte decides about the next ones, so that a block
/// of them is looked at at once.
#[inline]
fn is_plain(raw: &[u8]) -> bool {
    let special = |byte: u8| byte == b'"' || byte == b'\\';
    let any = |block: &[u8; 16]| u128::from_ne_bytes(block.map(|byte| u8::from(special(byte)))) != 0;
    let Some(last) = raw.last_chunk() else { return !raw.iter().copied().any(special) };
    let mut rest = raw;
    while let Some((block, behind)) = rest.split_first_chunk() {
        if any(block) {
            return false;
        }
        rest = behind;
    }
    !any(last)
}

fn push_pieces(out: &mut String, raw: &str) -> bool {
    let (mut rest, start) = (raw, out.len());
    loop {
        let at = find_string_end(rest.as_bytes(), 0);
        out.push_str(&rest[..at]);
        match rest.as_bytes().get(at) {
            Some(b'\\') => {}
            None => return true,
            Some(_) => {
                out.truncate(start);
                return false;
            }
        }
        let Some(&code) = rest.as_bytes().get(at + 1) else { return true };
        rest = &rest[at + 2..];
        out.push(match code {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (unit, after) = hex(rest);
                rest = after;
                char::from_u32(unit).unwrap_or_else(|| {
                    let low = rest.strip_prefix("\\u").map(hex);
                    match low {
                        Some((low @ 0xDC00..=0xDFFF, after)) if unit < 0xDC00 => {
                            rest = after;
                            char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
                                .unwrap_or(char::REPLACEMENT_CHARACTER)
                        }
                        _ => char::REPLACEMENT_CHARACTER,
                    }
                })
            }
            other => char::from(other),
        });
    }
}

fn hex(text: &str) -> (u32, &str) {
    match text.get(..4) {
        Some(digits) => (u32::from_str_radix(digits, 16).unwrap_or(0xFFFD), &text[4..]),
        None => (0xFFFD, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_find_values() {
        let json = r#" {"a/b": [10, {"~": "x"}], "": 1, "n": null} "#;
        assert_eq!(pointer(json, "/a~1b/0"), Some("10"));
        assert_eq!(pointer(json, "/a~1b/1/~0"), Some("\"x\""));
        assert_eq!(pointer(json, "/"), Some("1"));
        assert_eq!(pointer(json, "/n"), Some("null"));
        assert_eq!(pointer(json, ""), Some(json.trim()));
        for nothing in ["/a", "/a~1b/2", "/a~1b/x", "/n/x", "n"] {
            assert_eq!(pointer(json, nothing), None, "{nothing}");
        }
    }

    #[test]
    fn readers_agree_on_what_stands_once() {
        let json = r#"{"a":{"b":1,"c":2,"\u0063":2},"d":{"e":1},"d":{"e":2},"f/":{"b":3,"b":4}}"#;
        assert_eq!(agreed(json, "/a/b"), Some("1"));
        assert_eq!(agreed(json, "/a/c"), Some("2"));
        assert_eq!(agreed(json, ""), Some(json));
        for nothing in ["/d", "/d/e", "/f~1/b", "/x", "/a/b/c"] {
            assert_eq!(agreed(json, nothing), None, "{nothing}");
        }
    }

    #[test]
    fn columns_are_read_in_one_pass() {
        let json = r#"[{"a":1,"x":[{"a":2}],"b":"c"}, 7, {}, {"\u0062": null, "b": 3}]"#;
        let none = [None, None];
        assert_eq!(columns(json, ["a", "b"]), [[Some("1"), Some("\"c\"")], none, none, [None, Some("null")]]);
        assert!(columns("{}", ["a"]).is_empty());
    }

    #[test]
    fn escapes_are_read() {
        let json = r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude42\ud83d!""#;
        assert_eq!(unescape(json).unwrap(), "\"\\/\u{8}\u{c}\n\r\té🙂\u{fffd}!");
        assert_eq!(unescape("\"plain\"").unwrap(), "plain");
        assert!(unescape("\"open").is_none());
        assert!(unescape("7").is_none());
    }
}
