//! Messages made worse: each mutation changes bytes or tokens of a message that was fine, or nearly.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use crate::rng::Rng;

// All of one shape, so that they fit in one table.
type Mutation = fn(&mut Rng, &mut Vec<u8>);

/// Changes that leave JSON behind, mostly.
const MUTATIONS: &[Mutation] = &[
    replace_token,
    replace_token,
    replace_token,
    shuffle_keys,
    shuffle_keys,
    nest,
    surrogate,
    member_twice,
    swap_tokens,
];
/// Changes that do not.
const BREAKAGES: &[Mutation] = &[flip, no_token, truncate, repeat, drop_piece, splice_noise];

/// Values that parsers and tables have trouble with.
const TOKENS: &[&str] = &[
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "0",
    "-1",
    "-0",
    "1.5",
    "1e400",
    "1e-400",
    "9007199254740993",
    "18446744073709551616",
    "123456789012345678901234567890",
    "\"\\ud83d\"",
    "\"\\u0000\"",
    "[[[]]]",
    "{\"a\":{}}",
    "\"2.0\"",
    "\"/x\"",
    "\"s-1\"",
    "1",
    "2",
    "3",
    "\"1\"",
    "[null]",
    "[1,\"a\",{}]",
    "\"_x\"",
    "\"initialize\"",
    "{\"\":0}",
    "{\"type\":\"text\",\"text\":\"\"}",
];

/// One to three changes.
pub(crate) fn mutate(rng: &mut Rng, message: &mut Vec<u8>) {
    for _ in 0..=rng.below(3) {
        let breaks = rng.one_in(12);
        let mutation = *rng.pick(if breaks { BREAKAGES } else { MUTATIONS });
        mutation(rng, message);
    }
}

/// Lets a message of another conversation be about this one: its session, and an id out of a few.
pub(crate) fn aim(rng: &mut Rng, text: &mut Vec<u8>) {
    if !rng.one_in(8) {
        replace_value(text, b"\"sessionId\":", b"\"s-1\"");
    }
    if !rng.one_in(8) {
        let id = rng.below(200).to_string();
        replace_value(text, b"\"id\":", id.as_bytes());
        let id = rng.below(200).to_string();
        replace_value(text, b"\"requestId\":", id.as_bytes());
    }
}

fn replace_value(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let Some(at) = text.windows(name.len()).position(|window| window == name) else { return };
    let start = at + name.len();
    if let Some(token) = tokens(text).into_iter().find(|token| token.start == start) {
        text.splice(token, value.iter().copied());
    }
}

/// Bytes with no thought behind them, or with the alphabet of JSON.
pub(crate) fn noise(rng: &mut Rng, length: usize) -> Vec<u8> {
    const JSON: &[u8] = b"{}[]\",:\\/ue0123456789.-+ntrfals \r\t";
    let json = rng.one_in(2);
    (0..length).map(|_| if json { *rng.pick(JSON) } else { rng.next().to_le_bytes()[3] }).collect()
}

/// Puts a text into one of the message's strings.
pub(crate) fn plant(rng: &mut Rng, message: &mut Vec<u8>, canary: &str) {
    let inside = strings(message);
    if !inside.is_empty() {
        let at = *rng.pick(&inside);
        message.splice(at..at, canary.bytes());
    }
}

/// Where strings begin, behind the quote.
fn strings(text: &[u8]) -> Vec<usize> {
    tokens(text).into_iter().map(|token| token.start).filter(|&at| text[at] == b'"').map(|at| at + 1).collect()
}

/// Where strings, numbers and words stand.
fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let start = at;
        at += 1;
        match text[start] {
            b'"' => {
                while at < text.len() && text[at] != b'"' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at = (at + 1).min(text.len());
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                while at < text.len() && (text[at].is_ascii_alphanumeric() || b"+-.".contains(&text[at])) {
                    at += 1;
                }
            }
            _ => continue,
        }
        all.push(start..at);
    }
    all
}

/// Tokens that are values; names are left out, a message without its names is only noise.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    let is_name =
        |token: &Range<usize>| text[token.end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
    tokens(text).into_iter().filter(|token| !is_name(token)).collect()
}

fn flip(rng: &mut Rng, text: &mut Vec<u8>) {
    if let Some(byte) = text.len().checked_sub(1).and_then(|last| text.get_mut(rng.below(last + 1))) {
        *byte ^= 1 << rng.below(8);
    }
    // A byte more or less now and then.
    if rng.one_in(4) {
        text.pop();
    }
}

fn truncate(rng: &mut Rng, text: &mut Vec<u8>) {
    text.truncate(rng.below(text.len() + 1));
}

fn piece(rng: &mut Rng, text: &[u8]) -> Range<usize> {
    let start = rng.below(text.len());
    start..(start + 1 + rng.below(40)).min(text.len())
}

fn repeat(rng: &mut Rng, text: &mut Vec<u8>) {
    if text.is_empty() || text.len() > 20_000 {
        return;
    }
    let piece = piece(rng, text);
    let again = text[piece.clone()].repeat(1 + rng.below(20));
    text.splice(piece.end..piece.end, again);
}

/// What some parsers take for values, and JSON does not.
fn no_token(rng: &mut Rng, text: &mut Vec<u8>) {
    let all = values(text);
    if !all.is_empty() {
        let token = rng.pick(&all).clone();
        text.splice(token, rng.pick(&["nul", "'x'", "+1", "01", "1.", "NaN", "\"\\x\"", "\"tab\there\"", ""]).bytes());
    }
}

fn drop_piece(rng: &mut Rng, text: &mut Vec<u8>) {
    if !text.is_empty() {
        let piece = piece(rng, text);
        text.drain(piece);
    }
}

fn swap_tokens(rng: &mut Rng, text: &mut Vec<u8>) {
    let all = values(text);
    if all.len() < 2 {
        return;
    }
    let (one, other) = (rng.pick(&all).clone(), rng.pick(&all).clone());
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end <= second.start {
        let (a, b) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
        text.splice(second, a);
        text.splice(first, b);
    }
}

fn replace_token(rng: &mut Rng, text: &mut Vec<u8>) {
    let all = values(text);
    if !all.is_empty() {
        let token = rng.pick(&all).clone();
        text.splice(token, rng.pick(TOKENS).bytes());
    }
}

fn shuffle_keys(rng: &mut Rng, text: &mut Vec<u8>) {
    if let Ok(value) = serde_json::from_slice(text) {
        let mut out = String::new();
        write(rng, &value, &mut out);
        *text = out.into_bytes();
    }
}

fn write(rng: &mut Rng, value: &Value, out: &mut String) {
    let space = ["", "", "", " ", "\t"];
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for at in (1..members.len()).rev() {
                members.swap(at, rng.below(at + 1));
            }
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                let _ = write!(out, "{comma}{}{}{}:", rng.pick(&space), Value::from(name.as_str()), rng.pick(&space));
                write(rng, value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(rng, item, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn nest(rng: &mut Rng, text: &mut Vec<u8>) {
    let all = values(text);
    if all.is_empty() {
        return;
    }
    let token = rng.pick(&all).clone();
    let depth = *rng.pick(&[1, 3, 60, 126, 127, 128, 129, 2_000]);
    let (open, close) = *rng.pick(&[("[", "]"), ("{\"a\":", "}")]);
    text.splice(token.end..token.end, close.repeat(depth).into_bytes());
    text.splice(token.start..token.start, open.repeat(depth).into_bytes());
}

fn surrogate(rng: &mut Rng, text: &mut Vec<u8>) {
    let inside = strings(text);
    if !inside.is_empty() {
        let at = *rng.pick(&inside);
        text.splice(
            at..at,
            rng.pick(&["\\ud83d", "\\uDE42", "\\ud83d\\ude42", "\\ude42\\ud83d", "\\ud83d\\n"]).bytes(),
        );
    }
}

fn member_twice(rng: &mut Rng, text: &mut Vec<u8>) {
    if let Some(start) = text.iter().position(|&byte| byte == b'{') {
        let name = *rng.pick(&["id", "method", "params", "result", "error", "jsonrpc", "sessionId", "_meta"]);
        let member = format!("\"{name}\":{},", rng.pick(TOKENS));
        text.splice(start + 1..=start, member.into_bytes());
    }
}

fn splice_noise(rng: &mut Rng, text: &mut Vec<u8>) {
    let at = rng.below(text.len() + 1);
    let length = rng.below(12);
    let noise = noise(rng, length);
    text.splice(at..at, noise);
}
