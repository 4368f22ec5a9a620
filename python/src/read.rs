//! JSON text to Python objects, in one pass.
//!
//! Gives what `json.loads` gives, or nothing: whatever is rare (half surrogate pairs, numbers of thousands of digits,
//! text that is not JSON) is left to the `json` module itself, so that there is one place that decides what becomes of
//! it. The caller is [`json::loads`](crate::json::loads).

use std::borrow::Cow;

use libacp::json::unescape;
use memchr::memchr2;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use pyo3::IntoPyObjectExt;

use crate::strings::Strings;

/// Lists and objects inside each other. Each is a call of its own, with some 300 bytes on the stack of whatever thread
/// the host reads in.
const DEPTH: usize = 256;

/// The value of a JSON text, or `None` where the `json` module has to be asked.
pub(crate) fn object<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    let mut reader = Reader { py, text, at: 0, strings: Strings::open() };
    let value = reader.value(0)?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'py, 'a> {
    py: Python<'py>,
    text: &'a str,
    at: usize,
    strings: Strings<'static>,
}

impl<'py, 'a> Reader<'py, 'a> {
    fn value(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.space();
        match self.byte()? {
            b'"' => self.string(),
            b'{' if depth < DEPTH => self.dict(depth + 1),
            b'[' if depth < DEPTH => self.list(depth + 1),
            b't' => self.word("true").map(|()| PyBool::new(self.py, true).to_owned().into_any()),
            b'f' => self.word("false").map(|()| PyBool::new(self.py, false).to_owned().into_any()),
            b'n' => self.word("null").map(|()| self.py.None().into_bound(self.py)),
            _ => self.number(),
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        let dict = PyDict::new(self.py);
        let mut more = self.enter(b'}');
        while more {
            let name = self.name()?;
            dict.set_item(name, self.value(depth)?).ok()?;
            more = self.more(b'}')?;
        }
        Some(dict.into_any())
    }

    fn list(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        let list = PyList::empty(self.py);
        let mut more = self.enter(b']');
        while more {
            list.append(self.value(depth)?).ok()?;
            more = self.more(b']')?;
        }
        Some(list.into_any())
    }

    /// A member's name and the colon behind it.
    fn name(&mut self) -> Option<Bound<'py, PyString>> {
        self.space();
        let text = self.text()?;
        let name = self.strings.object(self.py, &text);
        self.space();
        self.take(b':').then_some(name)
    }

    fn string(&mut self) -> Option<Bound<'py, PyAny>> {
        let text = self.text()?;
        Some(PyString::new(self.py, &text).into_any())
    }

    /// The text of a string.
    fn text(&mut self) -> Option<Cow<'a, str>> {
        let quoted = self.at;
        if !self.take(b'"') {
            return None;
        }
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += memchr2(b'"', b'\\', self.text.as_bytes().get(self.at..)?)?;
            if self.byte() == Some(b'"') {
                break;
            }
            escaped = true;
            self.at += 2;
        }
        let inside = &self.text[start..self.at];
        self.at += 1;
        if escaped {
            // The core puts U+FFFD where the `json` module leaves half a surrogate pair.
            return unescape(&self.text[quoted..self.at]).filter(|text| !text.contains(char::REPLACEMENT_CHARACTER));
        }
        // All bytes, without an early end: that way the compiler looks at many of them at a time.
        let least = inside.bytes().fold(u8::MAX, u8::min);
        (least >= b' ').then_some(Cow::Borrowed(inside))
    }

    fn number(&mut self) -> Option<Bound<'py, PyAny>> {
        let start = self.at;
        let _ = self.take(b'-');
        let leading_zero = self.byte() == Some(b'0');
        let whole = self.digits()?;
        if leading_zero && whole > 1 {
            return None;
        }
        let mut float = self.take(b'.');
        if float {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            float = true;
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let digits = &self.text[start..self.at];
        if float {
            return Some(PyFloat::new(self.py, digits.parse().ok()?).into_any());
        }
        match digits.parse::<i64>() {
            Ok(number) => number.into_bound_py_any(self.py).ok(),
            Err(_) => self.py.get_type::<PyInt>().call1((digits,)).ok(),
        }
    }

    /// How many digits there are, one at least.
    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(self.at - start)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(())
    }

    /// Goes into a list or an object; whether there is anything in it.
    fn enter(&mut self, close: u8) -> bool {
        self.at += 1;
        self.space();
        !self.take(close)
    }

    /// Whether another one follows, in a list or an object.
    fn more(&mut self, close: u8) -> Option<bool> {
        self.space();
        let more = self.take(b',');
        (more || self.take(close)).then_some(more)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
