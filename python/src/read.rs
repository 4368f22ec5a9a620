//! JSON text to Python objects, in one pass.
//!
//! Gives what `json.loads` gives, or nothing: whatever is rare (half surrogate pairs, numbers of hundreds of digits,
//! text that is not JSON) is left to the `json` module itself, so that there is one place that decides what becomes of
//! it. The caller is [`json::loads`](crate::json::loads).

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use pyo3::IntoPyObjectExt;

use crate::strings::{Place, Strings};

/// Lists and objects inside each other. Each is a call of its own, with some 300 bytes on the stack of whatever thread
/// the host reads in.
const DEPTH: usize = 256;

/// Digits that `int` reads whatever `sys.set_int_max_str_digits` was told.
const LONGEST: usize = 640;

/// The value of a JSON text, or `None` where the `json` module has to be asked.
pub(crate) fn object<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    let mut reader = Reader { py, text, at: 0, strings: Strings::open(), name: 0, room: Vec::new() };
    let value = reader.value(0)?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

/// The high bit of each of eight bytes that is a quote, a backslash or a control character. Above the first there may
/// be wrong ones.
fn stops(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | is(b'"') | is(b'\\')) & (ONES << 7)
}

/// The value of a string whose inside begins at `start`, with escapes; moves behind it.
fn unescaped<'r>(text: &str, start: usize, at: &mut usize, room: &'r mut Vec<u8>) -> Option<&'r str> {
    let (value, end) = libacp::json::unescape_at(text, start, room)?;
    *at = end + 1;
    Some(value)
}

struct Reader<'py, 'a> {
    py: Python<'py>,
    text: &'a str,
    at: usize,
    strings: Strings<'static>,
    /// The name that was read last.
    name: Place,
    /// Room for strings with escapes.
    room: Vec<u8>,
}

impl<'py, 'a> Reader<'py, 'a> {
    fn value(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.space();
        match self.byte()? {
            b'"' => self.string().map(Bound::into_any),
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
        if let Some((name, place, length)) = self.strings.next_name(self.py, self.name, self.rest()?) {
            self.at += length;
            self.name = place;
            return Some(name);
        }
        let start = self.at + 1;
        let text = match self.plain()? {
            Some(text) => text,
            None => unescaped(self.text, start, &mut self.at, &mut self.room)?,
        };
        let (name, place) = self.strings.name(self.py, self.name, text);
        self.name = place;
        self.space();
        self.take(b':').then_some(name)
    }

    fn string(&mut self) -> Option<Bound<'py, PyString>> {
        if let Some((value, length)) = self.strings.next_value(self.py, self.name, self.rest()?) {
            self.at += length;
            return Some(value);
        }
        let start = self.at + 1;
        Some(match self.plain()? {
            Some(text) => self.strings.value(self.py, self.name, text),
            None => PyString::new(self.py, unescaped(self.text, start, &mut self.at, &mut self.room)?),
        })
    }

    /// The text of a string; nothing, and nothing read to its end, when it has escapes.
    #[allow(clippy::option_option, reason = "no string, one with escapes, and one without")]
    fn plain(&mut self) -> Option<Option<&'a str>> {
        if !self.take(b'"') {
            return None;
        }
        let text = self.run()?;
        Some(self.take(b'"').then_some(text))
    }

    /// What stands before the next quote or backslash.
    fn run(&mut self) -> Option<&'a str> {
        let rest = self.rest()?;
        let mut chunks = rest.as_bytes().chunks_exact(8);
        let whole = chunks.by_ref().map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes)).map(stops);
        let end = if let Some((index, stops)) = whole.enumerate().find(|(_, stops)| *stops != 0) {
            index * 8 + stops.trailing_zeros() as usize / 8
        } else {
            let tail = rest.len() - rest.len() % 8;
            tail + rest.as_bytes()[tail..].iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\')?
        };
        self.at += end;
        (rest.as_bytes()[end] >= b' ').then(|| &rest[..end])
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
            Err(_) if digits.len() > LONGEST => None,
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

    /// What has not been read.
    fn rest(&self) -> Option<&'a str> {
        self.text.get(self.at..)
    }
}
