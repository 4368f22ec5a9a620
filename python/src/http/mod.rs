//! The module `libacp.http`: the state machines of the remote transports as Python classes.
//!
//! What they say is made of the core's own serialization, so that it has the names of the vectors in `tests/http`: a dict for
//! each event, with the texts of messages as they are. `server` and `client` are the classes.

mod client;
mod server;

use std::borrow::Cow;

pub(crate) use client::Client;
use libacp::connection::MisuseKind;
use libacp::rules::RuleId;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
pub(crate) use server::Server;

use crate::errors;
use crate::value;
use crate::write;

/// A value of the core as Python's own objects.
fn object<'py, T: serde::Serialize + ?Sized>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    pythonize::pythonize(py, value).map_err(PyErr::from)
}

/// Options as JSON: those of `None` are the defaults.
fn options<T: Default>(given: Option<&Bound<'_, PyAny>>, read: impl FnOnce(&str) -> Result<T, String>) -> PyResult<T> {
    match given.filter(|given| !given.is_none()) {
        Some(given) => read(&write::text(given)?).map_err(|why| PyValueError::new_err(format!("options: {why}"))),
        None => Ok(T::default()),
    }
}

/// A header: its name, and its value.
type Pair = (String, Vec<u8>);

/// Headers as pairs of a name and a value, each `str` or `bytes`; a mapping of names to values as well.
fn headers(list: &Bound<'_, PyAny>) -> PyResult<Vec<Pair>> {
    let items = if list.hasattr("items")? { list.call_method0("items")? } else { list.clone() };
    let mut headers = Vec::new();
    for pair in items.try_iter()? {
        let pair = pair?;
        let (name, value) = (pair.get_item(0)?, pair.get_item(1)?);
        headers.push((String::from_utf8_lossy(&piece(&name)?).into_owned(), piece(&value)?.into_owned()));
    }
    Ok(headers)
}

/// As the core reads them.
fn borrowed(list: &[Pair]) -> Vec<libacp::http::Header<'_>> {
    list.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect()
}

/// A name or a value of a header.
fn piece<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(text) = value.cast::<PyString>() {
        // What Latin-1 cannot carry is in no header.
        return Ok(Cow::Owned(text.call_method1("encode", ("latin-1", "replace"))?.extract()?));
    }
    match value.cast::<PyBytes>() {
        Ok(bytes) => Ok(Cow::Borrowed(bytes.as_bytes())),
        Err(_) => {
            Err(PyTypeError::new_err(format!("headers: expected str or bytes, found {}", value::type_name(value))))
        }
    }
}

/// A message: JSON as `str`, or as bytes of UTF-8.
fn message<'a>(json: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = json.cast::<PyString>() {
        return value::text(text, MisuseKind::Params, "");
    }
    let wrong = |_| {
        let message = "expected UTF-8, found other bytes";
        errors::border(json.py(), MisuseKind::Params, "FRAME-01", message, "")
    };
    if let Ok(bytes) = json.cast::<PyBytes>() {
        return std::str::from_utf8(bytes.as_bytes()).map(Cow::Borrowed).map_err(wrong);
    }
    match json.cast::<PyByteArray>() {
        Ok(bytes) => String::from_utf8(bytes.to_vec()).map(Cow::Owned).map_err(|error| wrong(error.utf8_error())),
        Err(_) => {
            Err(PyTypeError::new_err(format!("expected a message as str or bytes, found {}", value::type_name(json))))
        }
    }
}

/// The kinds of mistakes by the rules that forbid them; what is no message is one of the params.
const KINDS: &[(&str, MisuseKind)] = &[
    ("HTTP-03", MisuseKind::Phase),
    ("WS-02", MisuseKind::Phase),
    ("HTTP-11", MisuseKind::Id),
    ("RPC-10", MisuseKind::Id),
    ("HTTP-22", MisuseKind::Session),
    ("HTTP-27", MisuseKind::Limit),
];

fn misuse(py: Python<'_>, rule: RuleId, message: &str) -> PyErr {
    let kind = KINDS.iter().find(|(known, _)| *known == rule.as_str()).map_or(MisuseKind::Params, |(_, kind)| *kind);
    errors::border(py, kind, rule.as_str(), message, "")
}
