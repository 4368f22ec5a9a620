//! Ids in both directions, text that must be UTF-8, and the `repr` of the value classes.

use std::borrow::Cow;

use libacp::connection::{MisuseKind, Timeout};
use libacp::Id;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyString};
use pyo3::IntoPyObjectExt;

use crate::errors;

/// A Python string as UTF-8; half a surrogate pair is a mistake that names the place.
pub(crate) fn text<'a>(value: &'a Bound<'_, PyString>, kind: MisuseKind, pointer: &str) -> PyResult<Cow<'a, str>> {
    value.to_cow().map_err(|_| {
        let message = "expected text that UTF-8 can carry, found half of a surrogate pair";
        errors::border(value.py(), kind, "FRAME-01", message, pointer)
    })
}

/// An id from Python: `int`, `str` or `None`, exactly.
pub(crate) fn id(value: &Bound<'_, PyAny>) -> PyResult<Id> {
    let py = value.py();
    if value.is_none() {
        return Ok(Id::Null);
    }
    if let Ok(string) = value.cast::<PyString>() {
        return Ok(Id::String(text(string, MisuseKind::Id, "")?.as_ref().into()));
    }
    if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
        let outside = |_| {
            errors::border(py, MisuseKind::Id, "RPC-06", "expected an id of at most 64 bits, found a larger one", "")
        };
        return value.extract().map(Id::Number).map_err(outside);
    }
    if value.is_instance_of::<PyFloat>() {
        return Err(errors::border(
            py,
            MisuseKind::Id,
            "RPC-08",
            "expected an id that is int, str or None, found float",
            "",
        ));
    }
    Err(PyTypeError::new_err(format!("expected an id (int, str or None), found {}", type_name(value))))
}

/// An id as an item of an argument.
pub(crate) struct IdArgument(pub(crate) Id);

impl<'a, 'py> FromPyObject<'a, 'py> for IdArgument {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        id(&object).map(IdArgument)
    }
}

/// The id of a request of the host's own.
pub(crate) enum IdChoice {
    /// The next free number; `...` in Python, where `None` is an id of its own.
    Next,
    Given(Id),
}

impl<'a, 'py> FromPyObject<'a, 'py> for IdChoice {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is(PyEllipsis::get(object.py())) {
            return Ok(IdChoice::Next);
        }
        id(&object).map(IdChoice::Given)
    }
}

/// The time-out of a call: `...` in Python for the configuration's, `None` for none, as in a configuration.
#[derive(Clone, Copy)]
pub(crate) struct TimeoutChoice(pub(crate) Timeout);

impl<'a, 'py> FromPyObject<'a, 'py> for TimeoutChoice {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(TimeoutChoice(if object.is(PyEllipsis::get(object.py())) {
            Timeout::Configured
        } else {
            object.extract::<Option<u64>>()?.map_or(Timeout::Never, Timeout::After)
        }))
    }
}

/// An id for Python.
pub(crate) struct PyId<'a>(pub(crate) &'a Id);

impl<'py> IntoPyObject<'py> for PyId<'_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.0 {
            Id::Null => py.None().into_bound(py),
            Id::Number(number) => number.into_pyobject(py)?.into_any(),
            Id::String(text) => PyString::new(py, text).into_any(),
        })
    }
}

/// The name of a value's class, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().qualname().map_or_else(|_| "another object".to_owned(), |name| name.to_string())
}

/// Puts a `repr` together: `Request(method='session/new', id=1)`.
pub(crate) struct Repr<'py> {
    py: Python<'py>,
    out: String,
    empty: bool,
}

impl<'py> Repr<'py> {
    pub(crate) fn new(py: Python<'py>, class: &str) -> Self {
        Repr { py, out: format!("{class}("), empty: true }
    }

    /// One attribute, as Python writes it.
    pub(crate) fn field<T: IntoPyObject<'py>>(mut self, name: &str, value: T) -> PyResult<Self> {
        let shown = value.into_bound_py_any(self.py)?.repr()?;
        self.raw(name, &shown.to_string_lossy());
        Ok(self)
    }

    /// The same when there is a value.
    pub(crate) fn some<T: IntoPyObject<'py>>(self, name: &str, value: Option<T>) -> PyResult<Self> {
        match value {
            Some(value) => self.field(name, value),
            None => Ok(self),
        }
    }

    /// JSON text, cut short.
    pub(crate) fn json(mut self, name: &str, text: &str) -> Self {
        const SHOWN: usize = 120;
        let mut end = SHOWN.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let more = if end < text.len() { "..." } else { "" };
        self.raw(name, &format!("{}{more}", &text[..end]));
        self
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push(')');
        self.out
    }

    fn raw(&mut self, name: &str, value: &str) {
        let comma = if std::mem::take(&mut self.empty) { "" } else { ", " };
        self.out.extend([comma, name, "=", value]);
    }
}

/// The part of `__reduce__` that all value classes share: the class, called with these.
pub(crate) type Reduced<'py, A> = (Bound<'py, pyo3::types::PyType>, A);
