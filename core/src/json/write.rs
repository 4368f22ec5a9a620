//! Writing JSON text, for hosts without a JSON library.

use super::dense;
use super::string_end::find_string_end;
use crate::room;

/// Appends a string as JSON, with quotes.
pub fn quote(out: &mut String, value: &str) {
    let bytes = value.as_bytes();
    room::make(out, bytes.len() + bytes.len() / 8 + 2);
    out.push('"');
    let mut done = 0;
    loop {
        let at = find_string_end(bytes, done);
        out.push_str(&value[done..at]);
        if dense::WORTH_IT && bytes.len() - at >= dense::LONG {
            dense::quote(out, &value[at..]);
            break;
        }
        match bytes.get(at) {
            None => break,
            Some(b'"') => out.push_str("\\\""),
            Some(b'\\') => out.push_str("\\\\"),
            Some(b'\n') => out.push_str("\\n"),
            Some(b'\r') => out.push_str("\\r"),
            Some(b'\t') => out.push_str("\\t"),
            Some(control) => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(control >> 4)]));
                out.push(char::from(HEX[usize::from(control & 15)]));
            }
        }
        done = at + 1;
    }
    out.push('"');
}

/// A list as JSON text. `write` writes the value of each item. The result is empty if what it writes is not JSON.
pub fn list<T>(items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Writer, T)) -> String {
    let mut out = Writer::new();
    out.begin_array();
    for item in items {
        write(&mut out, item);
    }
    out.end_array();
    out.finish().unwrap_or_default()
}

/// Writes one JSON value piece by piece, and adds commas and colons.
///
/// A call that does not fit (a value where a key is due, an end without a beginning) makes [`finish`](Writer::finish)
/// fail. Nothing panics.
///
/// ```
/// use libacp::json::Writer;
/// let mut writer = Writer::new();
/// writer.begin_object();
/// writer.key("sessionId").string("s-1");
/// writer.key("prompt").begin_array();
/// writer.begin_object().key("type").string("text").key("text").string("Hi").end_object();
/// writer.end_array().end_object();
/// let json = writer.finish().unwrap();
/// assert_eq!(json, r#"{"sessionId":"s-1","prompt":[{"type":"text","text":"Hi"}]}"#);
/// ```
#[derive(Debug, Default, Clone)]
pub struct Writer {
    out: String,
    open: Vec<Open>,
    wrong: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Array { empty: bool },
    Object { empty: bool, key: bool },
}

impl Writer {
    /// An empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins an object.
    pub fn begin_object(&mut self) -> &mut Self {
        self.before_value();
        self.out.push('{');
        self.open.push(Open::Object { empty: true, key: false });
        self
    }

    /// Ends the innermost object.
    pub fn end_object(&mut self) -> &mut Self {
        match self.open.pop() {
            Some(Open::Object { key: false, .. }) => self.out.push('}'),
            _ => self.wrong = true,
        }
        self
    }

    /// Begins a list.
    pub fn begin_array(&mut self) -> &mut Self {
        self.before_value();
        self.out.push('[');
        self.open.push(Open::Array { empty: true });
        self
    }

    /// Ends the innermost list.
    pub fn end_array(&mut self) -> &mut Self {
        match self.open.pop() {
            Some(Open::Array { .. }) => self.out.push(']'),
            _ => self.wrong = true,
        }
        self
    }

    /// Writes the name of a member. Its value comes next.
    pub fn key(&mut self, name: &str) -> &mut Self {
        match self.open.last_mut() {
            Some(Open::Object { empty, key: key @ false }) => {
                if !std::mem::replace(empty, false) {
                    self.out.push(',');
                }
                *key = true;
                quote(&mut self.out, name);
                self.out.push(':');
            }
            _ => self.wrong = true,
        }
        self
    }

    /// Writes a string.
    pub fn string(&mut self, value: &str) -> &mut Self {
        self.before_value();
        quote(&mut self.out, value);
        self
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) -> &mut Self {
        self.text(&value.to_string())
    }

    /// Writes an unsigned integer.
    pub fn unsigned(&mut self, value: u64) -> &mut Self {
        self.text(&value.to_string())
    }

    /// Writes a number. NaN and infinities, which JSON does not have, make [`finish`](Writer::finish) fail.
    pub fn number(&mut self, value: f64) -> &mut Self {
        if value.is_finite() {
            self.text(&format!("{value:?}"))
        } else {
            self.wrong = true;
            self
        }
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.text(if value { "true" } else { "false" })
    }

    /// Writes `null`.
    pub fn null(&mut self) -> &mut Self {
        self.text("null")
    }

    /// Writes a value that is JSON text already. Text that is not JSON makes [`finish`](Writer::finish) fail.
    pub fn json(&mut self, text: &str) -> &mut Self {
        if super::pointer(text, "").map(str::len) == Some(text.trim().len()) {
            self.text(text)
        } else {
            self.wrong = true;
            self
        }
    }

    /// The text.
    ///
    /// # Errors
    /// [`Unfinished`] if a container is still open, nothing was written, or a call did not fit.
    pub fn finish(self) -> Result<String, Unfinished> {
        if self.wrong || !self.open.is_empty() || self.out.is_empty() {
            Err(Unfinished)
        } else {
            Ok(self.out)
        }
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.before_value();
        self.out.push_str(text);
        self
    }

    fn before_value(&mut self) {
        match self.open.last_mut() {
            None if self.out.is_empty() => {}
            Some(Open::Array { empty }) => {
                if !std::mem::replace(empty, false) {
                    self.out.push(',');
                }
            }
            Some(Open::Object { key: key @ true, .. }) => *key = false,
            _ => self.wrong = true,
        }
    }
}

/// The calls to a [`Writer`] did not produce one JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the calls to the writer did not make one whole JSON value")]
pub struct Unfinished;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_is_undone_by_reading() {
        let value = "a\"b\\c\n\r\t\u{1}\u{1f}é🙂\u{2028}";
        let mut out = String::new();
        quote(&mut out, value);
        assert_eq!(crate::json::unescape(&out).unwrap(), value);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), value);
    }

    #[test]
    fn calls_that_do_not_fit_are_refused_at_the_end() {
        let wrong: [fn(&mut Writer); 7] = [
            |_| {},
            |w| {
                w.begin_object();
            },
            |w| {
                w.begin_object().string("x").end_object();
            },
            |w| {
                w.begin_array().key("k").end_array();
            },
            |w| {
                w.integer(1).integer(2);
            },
            |w| {
                w.number(f64::NAN);
            },
            |w| {
                w.json("{");
            },
        ];
        for (index, calls) in wrong.into_iter().enumerate() {
            let mut writer = Writer::new();
            calls(&mut writer);
            assert_eq!(writer.finish(), Err(Unfinished), "{index}");
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        let mut writer = Writer::new();
        writer
            .begin_array()
            .integer(i64::MIN)
            .unsigned(u64::MAX)
            .number(0.1)
            .number(2.0)
            .null()
            .boolean(true)
            .end_array();
        assert_eq!(writer.finish().unwrap(), "[-9223372036854775808,18446744073709551615,0.1,2.0,null,true]");
    }
}
