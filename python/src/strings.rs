//! Short strings that come again and again, as one Python object each: member names, methods, ids of sessions. A Python
//! string that is used as a key a second time has its hash already.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Text that is handed to Python as one of these strings.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Frequent<T>(pub(crate) T);

/// A method, or another word of the protocol's.
pub(crate) type Name = Frequent<Cow<'static, str>>;
/// The id of a session, which its events share.
pub(crate) type SessionId = Frequent<Arc<str>>;

impl<T: AsRef<str>> Deref for Frequent<T> {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_ref()
    }
}

impl From<&'static str> for Name {
    fn from(text: &'static str) -> Self {
        Frequent(text.into())
    }
}

impl<'a, 'py, T: From<String>> FromPyObject<'a, 'py> for Frequent<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        object.extract::<String>().map(|text| Frequent(text.into()))
    }
}

impl<'py, T: AsRef<str>> IntoPyObject<'py> for &Frequent<T> {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, PyString>, Infallible> {
        Ok(Strings::open().object(py, self))
    }
}

/// Strings at once. A newer one takes the place of an older one.
const SLOTS: Place = 1024;
/// Bytes of a string that is kept. Ids of sessions are often UUIDs with something before them.
const LONGEST: usize = 64;

static STRINGS: Mutex<Vec<Slot>> = Mutex::new(Vec::new());

/// Where a string stands.
pub(crate) type Place = u16;

#[derive(Default)]
struct Slot {
    /// The string as a member's name stands in JSON: in quotes, and with a colon behind it. Without it, each comparison
    /// would encode the Python string: Python 3.9 shows its inside to nobody.
    json: Box<str>,
    object: Option<Py<PyString>>,
    /// The member's name that came after this one the last time.
    next: Place,
    /// The string that was the value of this member the last time.
    value: Place,
    /// What marks the value that asked for this place last, and was told to come again.
    asked: u64,
}

impl Slot {
    /// The string, if it is this one.
    fn kept<'py>(&self, py: Python<'py>, text: &str) -> Option<Bound<'py, PyString>> {
        let this = self.json.len() == text.len() + 3 && self.json[1..].starts_with(text);
        self.object.as_ref().filter(|_| this).map(|object| object.bind(py).clone())
    }

    fn put<'py>(&mut self, py: Python<'py>, text: &str) -> Bound<'py, PyString> {
        let object = PyString::new(py, text);
        // What JSON writes with escapes is not found by comparing.
        if !text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            self.json = ["\"", text, "\":"].concat().into();
            self.object = Some(object.clone().unbind());
        }
        object
    }
}

/// The strings of this process, as long as this thread works with them; none while another one does.
pub(crate) struct Strings<'a>(Option<MutexGuard<'a, Vec<Slot>>>);

impl Strings<'static> {
    pub(crate) fn open() -> Self {
        // Never waited for: a finalizer of the host's may run in between, on this very thread, and want strings too.
        let mut strings = STRINGS.try_lock().ok();
        if let Some(strings) = strings.as_mut().filter(|strings| strings.is_empty()) {
            strings.resize_with(SLOTS.into(), Slot::default);
        }
        Strings(strings)
    }
}

impl Strings<'_> {
    /// A string, which may be the same object as the last time.
    pub(crate) fn object<'py>(&mut self, py: Python<'py>, text: &str) -> Bound<'py, PyString> {
        let Some((slot, ..)) = self.slot(text) else { return PyString::new(py, text) };
        slot.kept(py, text).unwrap_or_else(|| slot.put(py, text))
    }

    /// The name that is expected after another one, if the JSON text begins with it and a colon; its object, its place,
    /// and how much of the text it is. Messages of one kind have the same names in the same order.
    pub(crate) fn next_name<'py>(
        &self,
        py: Python<'py>,
        last: Place,
        json: &str,
    ) -> Option<(Bound<'py, PyString>, Place, usize)> {
        let strings = self.0.as_ref()?;
        let next = strings[usize::from(last)].next;
        let slot = &strings[usize::from(next)];
        let object = slot.object.as_ref().filter(|_| begins(json, &slot.json))?;
        Some((object.bind(py).clone(), next, slot.json.len()))
    }

    /// A name that was not expected after another one, and will be from now on; its object and its place.
    pub(crate) fn name<'py>(&mut self, py: Python<'py>, last: Place, text: &str) -> (Bound<'py, PyString>, Place) {
        let Some((slot, at, _)) = self.slot(text) else { return (PyString::new(py, text), 0) };
        let object = slot.kept(py, text).unwrap_or_else(|| slot.put(py, text));
        if let Some(strings) = &mut self.0 {
            strings[usize::from(last)].next = at;
        }
        (object, at)
    }

    /// The value that is expected for a name, if the JSON text begins with it, and how much of the text it is.
    pub(crate) fn next_value<'py>(
        &self,
        py: Python<'py>,
        name: Place,
        json: &str,
    ) -> Option<(Bound<'py, PyString>, usize)> {
        let strings = self.0.as_ref()?;
        let slot = &strings[usize::from(strings[usize::from(name)].value)];
        let length = slot.json.len().checked_sub(1)?;
        let object = slot.object.as_ref().filter(|_| begins(json, &slot.json[..length]))?;
        Some((object.bind(py).clone(), length))
    }

    /// A value that was not expected for a name. It is kept when it comes a second time: most come only once.
    pub(crate) fn value<'py>(&mut self, py: Python<'py>, name: Place, text: &str) -> Bound<'py, PyString> {
        let Some((slot, at, mark)) = self.slot(text) else { return PyString::new(py, text) };
        let object = match slot.kept(py, text) {
            Some(object) => object,
            None if slot.asked == mark => slot.put(py, text),
            None => {
                slot.asked = mark;
                return PyString::new(py, text);
            }
        };
        if let Some(strings) = &mut self.0 {
            strings[usize::from(name)].value = at;
        }
        object
    }

    /// Where a string would stand, and what marks it; nowhere when it is too long.
    fn slot(&mut self, text: &str) -> Option<(&mut Slot, Place, u64)> {
        let strings = self.0.as_mut().filter(|_| text.len() <= LONGEST)?;
        let mark = mark(text);
        // The upper bits are those that all the others have changed.
        let place = (mark >> 32) as Place % SLOTS;
        Some((&mut strings[usize::from(place)], place, mark))
    }
}

/// `str::starts_with` for what is short: without a call.
fn begins(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    let Some(text) = text.get(..with.len()) else { return false };
    match (text.last_chunk(), with.last_chunk()) {
        (Some(one), Some(other)) => {
            let word = |chunk: &[u8]| chunk.try_into().map_or(0, u64::from_le_bytes);
            let pairs = text.chunks_exact(8).zip(with.chunks_exact(8));
            u64::from_le_bytes(*one) == u64::from_le_bytes(*other)
                && pairs.into_iter().all(|(one, other)| word(one) == word(other))
        }
        _ => text.iter().zip(with).all(|(one, other)| one == other),
    }
}

/// What is likely to be another number for another string.
fn mark(text: &str) -> u64 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |mark: u64, word: u64| (mark.rotate_left(29) ^ word).wrapping_mul(SPREAD);
    let words = text.as_bytes().chunks(8).map(|chunk| match chunk.try_into() {
        Ok(word) => u64::from_le_bytes(word),
        Err(_) => chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    });
    words.fold(text.len() as u64, mix)
}
