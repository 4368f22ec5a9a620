//! What a client needs that runs commands for an agent.

use libacp::connection::MisuseKind;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::value;

/// Truncates the output of a command to the `outputByteLimit` of `terminal/create` (`TERM-08`).
///
/// The output is cut from the front, never inside of a character. `byte_limit` is in bytes of UTF-8.
///
/// Returns the result for `terminal/output`: a dict with `output` and `truncated`, to which the host adds the exit
/// status.
#[pyfunction]
pub(crate) fn cut_output<'py>(output: &Bound<'py, PyString>, byte_limit: u64) -> PyResult<Bound<'py, PyDict>> {
    let text = value::text(output, MisuseKind::Params, "/output")?;
    let (rest, truncated) = libacp::terminal::cut_output(&text, byte_limit);
    let answer = PyDict::new(output.py());
    answer.set_item("output", rest)?;
    answer.set_item("truncated", truncated)?;
    Ok(answer)
}
