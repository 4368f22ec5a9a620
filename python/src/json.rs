//! Python objects to JSON text and back.
//!
//! Towards the peer the writing is done here and not by the `json` module: that one turns keys that are no strings into
//! strings without a word, lets half surrogate pairs through, and cannot say where a bad value stands. From the peer
//! the text has been checked by the core; [`read`] makes objects of it, and the `json` module does what is left.

use std::hash::{Hash, Hasher};

use libacp::connection::MisuseKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors;
use crate::read;
use crate::value::{self, type_name, Reduced, Repr};

/// Lists and dicts inside each other; what refers to itself ends here too.
const DEPTH: usize = 512;

/// JSON text that is read when it is first asked for.
pub(crate) struct JsonText {
    text: String,
    read: PyOnceLock<Py<PyAny>>,
}

impl JsonText {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        JsonText { text: text.into(), read: PyOnceLock::new() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The value, the same object each time.
    pub(crate) fn object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(object) = self.read.get(py) {
            return Ok(object.clone_ref(py));
        }
        let object = loads(py, &self.text)?;
        // `get_or_try_init` would let another thread have the GIL each time. Here, of two threads that come at once,
        // one has read for nothing.
        let _ = self.read.set(py, object.clone_ref(py));
        Ok(self.read.get(py).unwrap_or(&object).clone_ref(py))
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for JsonText {}

impl Hash for JsonText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// The value of JSON text, as `json.loads` gives it.
pub(crate) fn loads(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Some(object) = read::object(py, text) {
        return Ok(object.unbind());
    }
    LOADS
        .get_or_try_init(py, || py.import("libacp._json")?.getattr("loads").map(Bound::unbind))?
        .call1(py, (PyString::new(py, text),))
}

/// JSON text in place of an object, where a host has it already: `connection.request(method, RawJson(text))`.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct RawJson {
    /// The text.
    #[pyo3(get)]
    text: String,
}

impl RawJson {
    pub(crate) fn from_text(text: &JsonText) -> Self {
        RawJson { text: text.text.clone() }
    }
}

#[pymethods]
impl RawJson {
    #[new]
    #[pyo3(signature = (text, /))]
    fn new(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = text.cast::<PyBytes>() {
            let wrong = |_| {
                let message = "expected UTF-8, found other bytes";
                errors::border(text.py(), MisuseKind::Params, "FRAME-01", message, "")
            };
            return std::str::from_utf8(bytes.as_bytes()).map(|text| RawJson { text: text.to_owned() }).map_err(wrong);
        }
        match text.cast::<PyString>() {
            Ok(text) => Ok(RawJson { text: value::text(text, MisuseKind::Params, "")? }),
            Err(_) => Err(PyTypeError::new_err(format!("expected str or bytes, found {}", type_name(text)))),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        Repr::new(py, "RawJson").json("text", &self.text).finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (String,)> {
        (slf.get_type(), (slf.get().text.clone(),))
    }
}

/// The JSON text of a Python value.
pub(crate) fn dumps(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(raw) = value.cast::<RawJson>() {
        return Ok(raw.get().text.clone());
    }
    let mut encoder = Encoder { out: String::new(), path: Vec::new() };
    encoder.value(value)?;
    Ok(encoder.out)
}

/// The JSON text of params: `{}` for `None`.
pub(crate) fn params(value: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    value.map_or_else(|| Ok("{}".to_owned()), dumps)
}

enum Segment {
    Key(String),
    Index(usize),
}

struct Encoder {
    out: String,
    path: Vec<Segment>,
}

impl Encoder {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            self.string(text)?;
        } else if value.is_none() {
            self.out.push_str("null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.out.push_str(if flag.is_true() { "true" } else { "false" });
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            if !number.is_finite() {
                return Err(self.wrong(value.py(), "RPC-21", &format!("expected a finite number, found {number}")));
            }
            // Shortest and exact, with an exponent where Python has one.
            self.out.push_str(&value.py().get_type::<PyFloat>().call_method1("__repr__", (value,))?.str()?.to_cow()?);
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.dict(dict)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(value.py(), list.iter())?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.list(value.py(), tuple.iter())?;
        } else {
            let found = type_name(value);
            let message = format!("expected dict, list, tuple, str, int, float, bool or None, found {found}");
            return Err(self.wrong(value.py(), "RPC-21", &message));
        }
        Ok(())
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        match text.to_cow() {
            Ok(text) => {
                libacp::json::quote(&mut self.out, &text);
                Ok(())
            }
            Err(_) => value::text(text, MisuseKind::Params, &self.pointer()).map(|_| ()),
        }
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> PyResult<()> {
        let py = number.py();
        if let Ok(small) = number.extract::<i64>() {
            self.out.push_str(&small.to_string());
            return Ok(());
        }
        // `int`'s own way of writing: a subclass may have another. It refuses numbers of thousands of digits.
        match py.get_type::<PyInt>().call_method1("__repr__", (number,)) {
            Ok(text) => self.out.push_str(&text.str()?.to_cow()?),
            Err(_) => {
                return Err(self.wrong(py, "LIMIT-01", "expected a number that Python will write, found a longer one"))
            }
        }
        Ok(())
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        self.nested(dict.py())?;
        self.out.push('{');
        // A copy of the items, as another thread may change the dict meanwhile.
        for (place, item) in dict.items().iter().enumerate() {
            let (key, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Ok(key) = key.cast::<PyString>() else {
                let message = format!("expected a key of type str, found {}", type_name(&key));
                return Err(self.wrong(dict.py(), "RPC-21", &message));
            };
            if place > 0 {
                self.out.push(',');
            }
            self.string(key)?;
            self.out.push(':');
            self.path.push(Segment::Key(key.to_string_lossy().into_owned()));
            self.value(&value)?;
            self.path.pop();
        }
        self.out.push('}');
        Ok(())
    }

    fn list<'py>(&mut self, py: Python<'py>, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        self.nested(py)?;
        self.out.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.path.push(Segment::Index(index));
            self.value(&item)?;
            self.path.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn nested(&self, py: Python<'_>) -> PyResult<()> {
        if self.path.len() < DEPTH {
            return Ok(());
        }
        let message = format!("expected at most {DEPTH} dicts and lists inside each other");
        Err(errors::border(py, MisuseKind::Limit, "LIMIT-02", &message, ""))
    }

    fn wrong(&self, py: Python<'_>, rule: &str, message: &str) -> PyErr {
        errors::border(py, MisuseKind::Params, rule, message, &self.pointer())
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.path {
            pointer.push('/');
            match segment {
                Segment::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Segment::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }
}
