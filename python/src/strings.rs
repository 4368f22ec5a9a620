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
const SLOTS: usize = 1024;
/// Bytes of a string that is kept. Ids of sessions are often UUIDs with something before them.
const LONGEST: usize = 64;

static STRINGS: Mutex<Vec<Option<Entry>>> = Mutex::new(Vec::new());

struct Entry {
    // Without it, each comparison would encode the Python string: Python 3.9 shows its inside to nobody.
    text: Box<str>,
    object: Py<PyString>,
}

/// The strings of this process, as long as this thread works with them; none while another one does.
pub(crate) struct Strings<'a>(Option<MutexGuard<'a, Vec<Option<Entry>>>>);

impl Strings<'static> {
    pub(crate) fn open() -> Self {
        // Never waited for: a finalizer of the host's may run in between, on this very thread, and want strings too.
        let mut strings = STRINGS.try_lock().ok();
        if let Some(strings) = strings.as_mut().filter(|strings| strings.is_empty()) {
            strings.resize_with(SLOTS, || None);
        }
        Strings(strings)
    }
}

impl Strings<'_> {
    /// A string, which may be the same object as the last time.
    pub(crate) fn object<'py>(&mut self, py: Python<'py>, text: &str) -> Bound<'py, PyString> {
        let Some(strings) = self.0.as_mut().filter(|_| text.len() <= LONGEST) else {
            return PyString::new(py, text);
        };
        let slot = &mut strings[slot(text)];
        if let Some(entry) = slot.as_ref().filter(|entry| *entry.text == *text) {
            return entry.object.bind(py).clone();
        }
        let object = PyString::new(py, text);
        *slot = Some(Entry { text: text.into(), object: object.clone().unbind() });
        object
    }
}

/// Where a string stands: by its length and both its ends. Fast before fair, as two that meet in one slot are only made
/// anew each time.
fn slot(text: &str) -> usize {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let bytes = text.as_bytes();
    let fold = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let first = bytes.first_chunk().map_or_else(|| fold(bytes), |&chunk| u64::from_le_bytes(chunk));
    let last = bytes.last_chunk().map_or(0, |&chunk| u64::from_le_bytes(chunk));
    let mixed = (first ^ bytes.len() as u64).wrapping_mul(SPREAD).rotate_left(32) ^ last;
    // The upper bits are those that all the others have changed.
    (mixed.wrapping_mul(SPREAD) >> 32) as usize % SLOTS
}
