//! Python objects to JSON text and back.
//!
//! Towards the peer, [`write`] makes text. From the peer the text has been checked by the core; [`read`] makes objects of
//! it, and the `json` module does what is left.

use std::hash::{Hash, Hasher};

use libacp::connection::MisuseKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::errors;
use crate::read;
use crate::value::{self, type_name, Reduced, Repr};
use crate::write;

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

/// JSON text that is passed in place of an object: `connection.request(method, RawJson(text))`.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct RawJson {
    /// The JSON text.
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
            Ok(text) => Ok(RawJson { text: value::text(text, MisuseKind::Params, "")?.into_owned() }),
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
    match value.cast::<RawJson>() {
        Ok(raw) => Ok(raw.get().text.clone()),
        Err(_) => write::text(value),
    }
}

/// The JSON text of params: `{}` for `None`.
pub(crate) fn params(value: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    value.map_or_else(|| Ok("{}".to_owned()), dumps)
}
