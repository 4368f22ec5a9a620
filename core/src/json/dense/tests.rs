//! What is read and written by blocks is what one byte after the other gives, and what `serde_json` gives.

use super::*;
use crate::json::{self, Kind, Scanner, SyntaxError, SyntaxKind};

/// The inside of a string up to what ends it, and where half surrogate pairs stand.
type Walked = Result<(usize, Vec<usize>), SyntaxError>;

/// The grammar, byte by byte.
fn walk(bytes: &[u8], start: usize) -> Walked {
    let (mut at, mut lone) = (start, Vec::new());
    let byte = |at: usize| bytes.get(at).copied();
    let fail = |offset: usize, kind| {
        Err(SyntaxError { offset, kind: if offset < bytes.len() { kind } else { SyntaxKind::End } })
    };
    let unit = |from: usize| {
        (from..from + 4).try_fold(0, |unit, at| {
            let digit = byte(at).and_then(|byte| char::from(byte).to_digit(16));
            digit.map(|digit| unit << 4 | digit).ok_or(at)
        })
    };
    loop {
        match byte(at) {
            Some(b'"') => return Ok((at, lone)),
            Some(b'\\') => match byte(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u') => {
                    let mut behind = at + 6;
                    match unit(at + 2) {
                        Err(wrong) => return fail(wrong, SyntaxKind::Escape),
                        Ok(0xD800..=0xDBFF) if bytes[behind..].starts_with(b"\\u") => match unit(behind + 2) {
                            Err(wrong) => return fail(wrong, SyntaxKind::Escape),
                            Ok(0xDC00..=0xDFFF) => behind += 6,
                            Ok(_) => lone.push(at),
                        },
                        Ok(0xD800..=0xDFFF) => lone.push(at),
                        Ok(_) => {}
                    }
                    at = behind;
                }
                _ => return fail(at + 1, SyntaxKind::Escape),
            },
            Some(byte) if byte >= b' ' => at += 1,
            _ => return fail(at, SyntaxKind::Control),
        }
    }
}

/// Compares every way to read the string that a text begins with.
fn compare(text: &str) {
    let bytes = text.as_bytes();
    let walked = walk(bytes, 1);
    let mut scanner = Scanner::new(text, 8);
    let read = scanner.string().map(|read| (read.raw.len() + 1, scanner.lone_surrogates().to_vec()));
    assert_eq!(read, walked, "{text:?}");

    let mut room = vec![b'?'; 3];
    let mut scanner = Scanner::new(text, 8);
    let once = scanner.string_in(&mut room);
    let value = match &walked {
        Ok((end, lone)) if lone.is_empty() => {
            let value: String = serde_json::from_str(&text[..=*end]).expect("a string");
            let (read, unescaped) = once.expect("a string");
            assert_eq!((read.raw, scanner.offset()), (&text[1..*end], end + 1), "{text:?}");
            assert_eq!(unescaped.map_or_else(|| read.value(), Into::into), value, "{text:?}");
            assert_eq!(unescaped.is_some(), read.escaped && WORTH_IT, "{text:?}");
            assert_eq!(json::unescape(&text[..=*end]).as_deref(), Some(&*value), "{text:?}");
            Some((value, *end))
        }
        Ok((end, lone)) => {
            assert_eq!(once.map(|(read, value)| (read.raw.len() + 1, value)), Ok((*end, None)), "{text:?}");
            assert_eq!(scanner.lone_surrogates(), lone, "{text:?}");
            assert!(json::unescape(&text[..=*end]).is_some_and(|value| value.contains('\u{fffd}')), "{text:?}");
            None
        }
        Err(error) => {
            assert_eq!(once.map(drop), Err(*error), "{text:?}");
            None
        }
    };
    let found = json::unescape_at(text, 1, &mut room).map(|(value, end)| (value.to_owned(), end));
    assert_eq!(found, value, "{text:?}");
    // A second string in the same memory.
    assert_eq!(json::unescape_at("\"\\n\"", 1, &mut room), Some(("\n", 3)));

    let stop = skip(bytes, 1);
    let expected = match &walked {
        Ok((end, lone)) => lone.first().map_or(*end, |lone| *lone),
        Err(_) => stop,
    };
    assert_eq!(stop, expected, "{text:?}");
}

const PIECES: &[&str] = &[
    "x",
    "é",
    "中",
    "🙂",
    "\u{7f}",
    "eight by",
    "sixteen bytes, o",
    "\\n",
    "\\t",
    "\\\\",
    "\\\"",
    "\\/",
    "\\b\\f\\r",
    "\\u0000",
    "\\u00e9",
    "\\u4E2d",
    "\\ud83d\\ude42",
];
const ODD: &[&str] =
    &["\\ud83d", "\\ude42", "\\ud83dx", "\\ud83d\\n", "\\ud83d\\u0041", "\\ud83d\\ud83d\\ude42", "\\ud83d\\u12"];
const WRONG: &[&str] = &["\\x", "\\", "\\u", "\\u12", "\\u12g4", "\\ud83d\\u12g4", "\n", "\u{1f}", "\0"];

#[test]
fn what_stands_at_any_place_of_a_block_is_read_as_anywhere_else() {
    for before in 0..2 * BLOCK + 2 {
        let plain = "x".repeat(before);
        for piece in PIECES.iter().chain(ODD).chain(WRONG) {
            // Twice, as the scanner takes to blocks at the second escape.
            for first in ["", "\\n"] {
                for behind in ["", "\"", "\"}", "y\"", "\\n\"", "\\"] {
                    compare(&format!("\"{first}{plain}{piece}{behind}"));
                }
            }
        }
    }
}

#[test]
fn what_stands_behind_a_string_changes_nothing() {
    for inside in 0..BLOCK + 2 {
        for behind in 0..WINDOW + 2 {
            compare(&format!("\"\\n{}\\\"\"{}", "x".repeat(inside), "\\\"".repeat(behind)));
        }
    }
}

fn generator() -> impl FnMut(usize) -> usize {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    }
}

#[test]
fn any_mixture_is_read_as_serde_json_reads_it() {
    let mut random = generator();
    for _ in 0..3_000 {
        let mut text = String::from('"');
        for _ in 0..random(120) {
            let pieces = match random(400) {
                0 => WRONG,
                1 => ODD,
                _ => PIECES,
            };
            text.push_str(pieces[random(pieces.len())]);
        }
        text.push_str(["\"", "\"", "\"", "\"]}", ""][random(5)]);
        compare(&text);
        if random(8) == 0 {
            compare(&text.repeat(40));
        }
    }
}

#[test]
fn rooms_grow_with_what_is_put_into_them() {
    let long = "größer \\n".repeat(10 * ROOM);
    compare(&format!("\"{long}\""));
    assert_eq!(Scanner::new(&format!(" \"{long}\""), 8).peek(), Ok(Kind::String));
}

#[test]
fn any_text_is_written_as_serde_json_writes_it() {
    let written = |text: &str| {
        let mut out = String::from("before");
        json::quote(&mut out, text);
        let rest = out.strip_prefix("before").expect("what was there");
        // Both are right; this crate has one way for what is rare.
        let other = serde_json::to_string(text).expect("a string").replace("\\\\", "\\-");
        assert_eq!(rest.replace("\\\\", "\\-"), other.replace("\\b", "\\u0008").replace("\\f", "\\u000c"), "{text:?}");
        compare(rest);
        let mut out = String::new();
        quote(&mut out, text);
        assert_eq!(format!("\"{out}\""), rest);
    };
    for before in 0..2 * BLOCK + 2 {
        for character in ('\0'..' ').chain("\"\\/é中🙂\u{7f}\u{2028}".chars()) {
            for behind in ["", "y", "\n", "🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂"]
            {
                written(&format!("{}{character}{behind}", "x".repeat(before)));
            }
        }
    }
    let mut random = generator();
    for _ in 0..3_000 {
        let characters = ["x", "é", "中", "🙂", "\n", "\"", "\\", "\t", "\0", "\u{1f}", "some words "];
        let text: String = (0..random(300)).map(|_| characters[random(characters.len())]).collect();
        written(&text);
    }
    written(&"\u{1}".repeat(5_000));
}
