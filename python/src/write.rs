//! Python objects to JSON text.
//!
//! The `json` module turns keys that are no strings into strings without a word, lets half surrogate pairs through, and
//! cannot say where a bad value stands. The callers are [`json::dumps`](crate::json::dumps) and
//! [`json::params`](crate::json::params).

use std::fmt::Write;

use libacp::connection::MisuseKind;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::PyTypeInfo;

use crate::errors;
use crate::value::type_name;

/// Lists and dicts inside each other; what refers to itself ends here too.
const DEPTH: usize = 512;

/// The JSON text of a Python value.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut out = String::new();
    match write(&mut out, value, 0) {
        Ok(()) => Ok(out),
        Err(wrong) => Err(wrong.raised(value.py())),
    }
}

/// A value that cannot be sent. It learns its place on the way out: writing what can be sent keeps no record.
struct Wrong {
    kind: MisuseKind,
    rule: &'static str,
    message: String,
    /// From the inside to the outside.
    path: Vec<String>,
}

type Written = Result<(), Wrong>;

impl Wrong {
    fn new(kind: MisuseKind, rule: &'static str, message: String) -> Self {
        Wrong { kind, rule, message, path: Vec::new() }
    }

    fn value(message: String) -> Self {
        Wrong::new(MisuseKind::Params, "RPC-21", message)
    }

    fn within(mut self, segment: impl FnOnce() -> String) -> Self {
        self.path.push(segment());
        self
    }

    fn raised(&self, py: Python<'_>) -> PyErr {
        // Of what goes too deep, the place is as long as it is useless.
        let shown = if self.kind == MisuseKind::Limit { &[] } else { &self.path[..] };
        let pointer: String = shown.iter().rev().flat_map(|segment| ["/", segment]).collect();
        errors::border(py, self.kind, self.rule, &self.message, &pointer)
    }
}

fn write(out: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> Written {
    // What is exactly of a type is known without a call.
    if let Some(text) = exactly::<PyString>(value) {
        string(out, text)
    } else if let Some(dict) = exactly::<PyDict>(value) {
        members(out, dict, depth)
    } else if let Some(list) = exactly::<PyList>(value) {
        items(out, list.iter(), depth)
    } else {
        rare(out, value, depth)
    }
}

fn exactly<'a, 'py, T: PyTypeInfo>(value: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, T>> {
    // A cast that fails says with what, and that takes longer than the look.
    value.is_exact_instance_of::<T>().then(|| value.cast().ok()).flatten()
}

fn rare(out: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> Written {
    if value.is_none() {
        out.push_str("null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.push_str(if flag.is_true() { "true" } else { "false" });
    } else if let Ok(number) = value.cast::<PyInt>() {
        integer(out, number)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        float(out, number)?;
    } else if let Ok(text) = value.cast::<PyString>() {
        string(out, text)?;
    } else if let Ok(dict) = value.cast::<PyDict>() {
        members(out, dict, depth)?;
    } else if let Ok(list) = value.cast::<PyList>() {
        items(out, list.iter(), depth)?;
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        items(out, tuple.iter(), depth)?;
    } else {
        let found = type_name(value);
        return Err(Wrong::value(format!("expected dict, list, tuple, str, int, float, bool or None, found {found}")));
    }
    Ok(())
}

fn string(out: &mut String, text: &Bound<'_, PyString>) -> Written {
    let Ok(text) = text.to_cow() else {
        let message = "expected text that UTF-8 can carry, found half of a surrogate pair";
        return Err(Wrong::new(MisuseKind::Params, "FRAME-01", message.into()));
    };
    libacp::json::quote(out, &text);
    Ok(())
}

fn integer(out: &mut String, number: &Bound<'_, PyInt>) -> Written {
    if let Ok(small) = number.extract::<i64>() {
        let _ = write!(out, "{small}");
        return Ok(());
    }
    // `int`'s own way of writing: a subclass may have another. It refuses numbers of thousands of digits.
    let py = number.py();
    let longer = |_| py.import("libacp._json").and_then(|json| json.call_method1("digits", (number,)));
    let unwritten = |_| Wrong::value("expected a number that can be written".into());
    let text = py.get_type::<PyInt>().call_method1("__repr__", (number,)).or_else(longer).map_err(unwritten)?;
    out.push_str(&text.to_string());
    Ok(())
}

fn float(out: &mut String, number: &Bound<'_, PyFloat>) -> Written {
    let value = number.value();
    if !value.is_finite() {
        return Err(Wrong::value(format!("expected a finite number, found {value}")));
    }
    // Shortest and exact, with an exponent where it is shorter.
    let _ = write!(out, "{value:?}");
    Ok(())
}

fn members(out: &mut String, dict: &Bound<'_, PyDict>, depth: usize) -> Written {
    nested(depth)?;
    let mut before = '{';
    // A list of its own, as another thread may change the dict meanwhile.
    for key in dict.keys() {
        let Ok(name) = key.cast::<PyString>() else {
            return Err(Wrong::value(format!("expected a key of type str, found {}", type_name(&key))));
        };
        let found = dict.get_item(name).map_err(|_| Wrong::value("expected a key that can be looked up".into()))?;
        let Some(value) = found else { continue };
        out.push(before);
        before = ',';
        string(out, name)?;
        out.push(':');
        write(out, &value, depth + 1)
            .map_err(|wrong| wrong.within(|| name.to_string_lossy().replace('~', "~0").replace('/', "~1")))?;
    }
    if before == '{' {
        out.push('{');
    }
    out.push('}');
    Ok(())
}

fn items<'py>(out: &mut String, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> Written {
    nested(depth)?;
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, &item, depth + 1).map_err(|wrong| wrong.within(|| index.to_string()))?;
    }
    out.push(']');
    Ok(())
}

fn nested(depth: usize) -> Written {
    if depth < DEPTH {
        return Ok(());
    }
    let message = format!("expected at most {DEPTH} dicts and lists inside each other");
    Err(Wrong::new(MisuseKind::Limit, "LIMIT-02", message))
}
