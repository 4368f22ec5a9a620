//! The scanner: one pass over the text, positions in bytes, no allocation.

use std::borrow::Cow;
use std::ops::Range;

use super::dense;
use super::string_end::find_string_end;
use super::syntax::{SyntaxError, SyntaxKind};

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Boolean => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "a list",
            Kind::Object => "an object",
        }
    }
}

/// The content of a JSON string, as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) raw: &'a str,
    pub(crate) escaped: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn value(self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(super::read::unescape_raw(self.raw))
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// Appends its value.
    pub(crate) fn push_to(self, out: &mut String) {
        super::read::push_unescaped(out, self.raw);
    }

    pub(crate) fn is(self, other: &str) -> bool {
        if self.escaped {
            self.value() == other
        } else {
            self.raw == other
        }
    }
}

/// Which bytes are an escape by themselves behind a backslash. Code has one in every line or two words.
const SIMPLE: [bool; 256] = {
    let (codes, mut simple, mut at) = (br#""\/bfnrt"#, [false; 256], 0);
    while at < codes.len() {
        simple[codes[at] as usize] = true;
        at += 1;
    }
    simple
};

/// A position to return to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoint {
    pos: usize,
    depth: u32,
}

impl Checkpoint {
    pub(crate) const fn offset(self) -> usize {
        self.pos
    }
}

/// Reads values one after the other.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    pos: usize,
    depth: u32,
    max_depth: u32,
    /// The offsets of `\uXXXX` escapes that are lone surrogates, ascending.
    lone: Vec<usize>,
}

type Scan<T> = Result<T, SyntaxError>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, max_depth: u32) -> Self {
        Scanner { text, pos: 0, depth: 0, max_depth, lone: Vec::new() }
    }

    /// A scanner that starts in the middle of a text.
    pub(crate) fn at(text: &'a str, pos: usize, max_depth: u32) -> Self {
        Scanner { pos, ..Scanner::new(text, max_depth) }
    }

    pub(crate) fn checkpoint(&mut self) -> Checkpoint {
        self.space();
        Checkpoint { pos: self.pos, depth: self.depth }
    }

    pub(crate) fn rewind(&mut self, mark: Checkpoint) {
        self.pos = mark.pos;
        self.depth = mark.depth;
    }

    pub(crate) const fn offset(&self) -> usize {
        self.pos
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    /// How many more levels of nesting are allowed here.
    pub(crate) const fn room(&self) -> u32 {
        self.max_depth - self.depth
    }

    /// The lone surrogates found so far.
    pub(crate) fn lone_surrogates(&self) -> &[usize] {
        &self.lone
    }

    fn fail<T>(&self, kind: SyntaxKind) -> Scan<T> {
        let kind = if self.pos >= self.text.len() { SyntaxKind::End } else { kind };
        Err(SyntaxError { offset: self.pos, kind })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.pos += 1;
        }
    }

    /// The type of the next value, from its first byte.
    pub(crate) fn peek(&mut self) -> Scan<Kind> {
        self.space();
        match self.byte() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Boolean),
            Some(b'n') => Ok(Kind::Null),
            _ => self.fail(SyntaxKind::Unexpected),
        }
    }

    /// Checks that the text ends here.
    pub(crate) fn end(&mut self) -> Scan<()> {
        self.space();
        if self.pos == self.text.len() {
            Ok(())
        } else {
            self.fail(SyntaxKind::Trailing)
        }
    }

    /// Enters a list or an object. Returns `false` if it is empty, and then leaves it.
    pub(crate) fn enter(&mut self, kind: Kind) -> Scan<bool> {
        let (open, close) = if kind == Kind::Object { (b'{', b'}') } else { (b'[', b']') };
        self.space();
        if self.byte() != Some(open) {
            return self.fail(SyntaxKind::Unexpected);
        }
        if self.depth >= self.max_depth {
            return Err(SyntaxError { offset: self.pos, kind: SyntaxKind::Depth });
        }
        self.pos += 1;
        self.space();
        if self.byte() == Some(close) {
            self.pos += 1;
            return Ok(false);
        }
        self.depth += 1;
        Ok(true)
    }

    /// After a value in a list or an object: returns whether another one follows, and leaves the container if not.
    pub(crate) fn more(&mut self, kind: Kind) -> Scan<bool> {
        let close = if kind == Kind::Object { b'}' } else { b']' };
        self.space();
        match self.byte() {
            Some(b',') => {
                self.pos += 1;
                self.space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.pos += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => self.fail(SyntaxKind::Unexpected),
        }
    }

    /// Reads the name of a member and the colon after it.
    pub(crate) fn key(&mut self) -> Scan<Text<'a>> {
        let text = self.string()?;
        self.space();
        if self.byte() == Some(b':') {
            self.pos += 1;
            self.space();
            Ok(text)
        } else {
            self.fail(SyntaxKind::Unexpected)
        }
    }

    /// Reads a string.
    pub(crate) fn string(&mut self) -> Scan<Text<'a>> {
        self.space();
        if self.byte() != Some(b'"') {
            return self.fail(SyntaxKind::Unexpected);
        }
        let bytes = self.text.as_bytes();
        let start = self.pos + 1;
        let mut escaped = false;
        self.pos = start;
        loop {
            let stop = find_string_end(bytes, self.pos);
            self.pos = stop;
            match bytes.get(stop) {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(Text { raw: &self.text[start..stop], escaped });
                }
                Some(b'\\') => {
                    match bytes.get(stop + 1) {
                        Some(&code) if SIMPLE[usize::from(code)] => self.pos += 2,
                        _ => self.escape()?,
                    }
                    // A string with two escapes usually has many.
                    if escaped && dense::WORTH_IT {
                        self.pos = dense::skip(bytes, self.pos);
                    }
                    escaped = true;
                }
                _ => return self.fail(SyntaxKind::Control),
            }
        }
    }

    /// Reads a string and, if possible, unescapes it in the same pass; then its value is returned too. Without a value,
    /// it has no escapes, or a lone surrogate, which [`Text::value`] handles.
    pub(crate) fn string_in<'r>(&mut self, room: &'r mut Vec<u8>) -> Scan<(Text<'a>, Option<&'r str>)> {
        self.space();
        let (bytes, start) = (self.text.as_bytes(), self.pos + 1);
        if dense::WORTH_IT && self.byte() == Some(b'"') {
            let stop = find_string_end(bytes, start);
            if bytes.get(stop) == Some(&b'"') {
                self.pos = stop + 1;
                return Ok((Text { raw: &self.text[start..stop], escaped: false }, None));
            }
            if let Some((value, end)) = dense::unescape(bytes, start, room).filter(|(_, end)| *end < bytes.len()) {
                self.pos = end + 1;
                return Ok((Text { raw: &self.text[start..end], escaped: true }, Some(value)));
            }
        }
        self.string().map(|text| (text, None))
    }

    /// An escape of four digits, or none that JSON has.
    fn escape(&mut self) -> Scan<()> {
        let at = self.pos;
        self.pos += 1;
        match self.byte() {
            Some(b'u') => {
                self.pos += 1;
                let unit = self.hex4()?;
                match unit {
                    0xD800..=0xDBFF => {
                        let after = self.pos;
                        let rest = &self.text.as_bytes()[after..];
                        if rest.starts_with(b"\\u") {
                            self.pos += 2;
                            let low = self.hex4()?;
                            if (0xDC00..=0xDFFF).contains(&low) {
                                return Ok(());
                            }
                            self.pos = after;
                        }
                        self.note_lone(at);
                    }
                    0xDC00..=0xDFFF => self.note_lone(at),
                    _ => {}
                }
                Ok(())
            }
            _ => self.fail(SyntaxKind::Escape),
        }
    }

    fn note_lone(&mut self, at: usize) {
        // A look-ahead or a second attempt may read the same text again.
        if self.lone.last().is_none_or(|&last| last < at) {
            self.lone.push(at);
        }
    }

    fn hex4(&mut self) -> Scan<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.byte().and_then(|b| char::from(b).to_digit(16)) else {
                return self.fail(SyntaxKind::Escape);
            };
            unit = unit * 16 + digit;
            self.pos += 1;
        }
        Ok(unit)
    }

    /// A number, as it stands in the text.
    pub(crate) fn number(&mut self) -> Scan<&'a str> {
        self.space();
        let start = self.pos;
        if self.byte() == Some(b'-') {
            self.pos += 1;
        }
        match self.byte() {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.fail(SyntaxKind::Unexpected),
        }
        if self.byte() == Some(b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.pos])
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.byte() {
            self.pos += 1;
        }
        if self.pos == start {
            return self.fail(SyntaxKind::Unexpected);
        }
        Ok(())
    }

    /// `true`, `false` or `null`.
    pub(crate) fn literal(&mut self) -> Scan<&'static str> {
        self.space();
        for word in ["null", "true", "false"] {
            if self.text[self.pos..].starts_with(word) {
                self.pos += word.len();
                return Ok(word);
            }
        }
        self.fail(SyntaxKind::Unexpected)
    }

    /// Skips a value of any type. Returns its position.
    pub(crate) fn skip(&mut self) -> Scan<Range<usize>> {
        self.space();
        let start = self.pos;
        if self.byte() == Some(b'"') {
            self.string()?;
            return Ok(start..self.pos);
        }
        let base = self.depth;
        // One bit per level says whether it is an object or a list, so depth costs no stack.
        let mut open: Vec<Kind> = Vec::new();
        loop {
            let kind = self.peek()?;
            let entered = match kind {
                Kind::String => self.string().map(|_| false)?,
                Kind::Number => self.number().map(|_| false)?,
                Kind::Null | Kind::Boolean => self.literal().map(|_| false)?,
                Kind::Array | Kind::Object => self.enter(kind)?,
            };
            if entered {
                open.push(kind);
            } else {
                loop {
                    let Some(&container) = open.last() else {
                        debug_assert_eq!(self.depth, base);
                        return Ok(start..self.pos);
                    };
                    if self.more(container)? {
                        break;
                    }
                    open.pop();
                }
            }
            if open.last() == Some(&Kind::Object) {
                self.key()?;
            }
        }
    }

    /// Inside an object whose first key comes next: the value of a string member, without moving on. `Ok(None)` when
    /// the member is absent, `Ok(Some(Err(kind)))` when it is not a string.
    pub(crate) fn find_string(&mut self, name: &str) -> Scan<Option<Result<Text<'a>, Kind>>> {
        let mark = self.checkpoint();
        loop {
            let key = self.key()?;
            if key.is(name) {
                let kind = self.peek()?;
                let found = if kind == Kind::String { Ok(self.string()?) } else { Err(kind) };
                self.rewind(mark);
                return Ok(Some(found));
            }
            self.skip()?;
            if !self.more(Kind::Object)? {
                self.rewind(mark);
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Result<(), SyntaxKind> {
        let mut scanner = Scanner::new(text, 8);
        scanner.skip().and_then(|_| scanner.end()).map_err(|error| error.kind)
    }

    #[test]
    fn accepts_what_json_allows() {
        for text in ["{}", "[]", "0", "-0.5e+7", "\"\\u00e9\\n\"", " [1 , {\"a\" : [ null,true ] }] ", "\"\u{2028}\""] {
            assert_eq!(whole(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_what_json_does_not_allow() {
        use SyntaxKind::*;
        let cases = [
            ("", End),
            ("{", End),
            ("[1,]", Unexpected),
            ("{\"a\"}", Unexpected),
            ("{\"a\":1,}", Unexpected),
            ("{a:1}", Unexpected),
            ("01", Trailing),
            ("1.", End),
            ("+1", Unexpected),
            ("NaN", Unexpected),
            ("tru", Unexpected),
            ("\"\\x\"", Escape),
            ("\"\\u12g4\"", Escape),
            ("\"a\nb\"", Control),
            ("{} {}", Trailing),
            ("[[[[[[[[[1]]]]]]]]]", Depth),
        ];
        for (text, kind) in cases {
            assert_eq!(whole(text), Err(kind), "{text}");
        }
    }

    #[test]
    fn notes_half_surrogate_pairs_once() {
        let text = r#"{"a":"\ud83d","b":"\ud83d\ude42","c":"x\udc00\ud800A"}"#;
        let mut scanner = Scanner::new(text, 8);
        assert!(scanner.enter(Kind::Object).unwrap());
        assert!(scanner.find_string("zz").unwrap().is_none());
        assert!(scanner.find_string("c").unwrap().is_some());
        assert_eq!(scanner.lone_surrogates().len(), 3);
    }
}
