//! What a client needs that runs commands for an agent.

use libacp::connection::MisuseKind;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::value;

/// The end of a command's output that fits the `outputByteLimit` of `terminal/create`, as the answer to
/// `terminal/output`: a dict with `output` and `truncated`, to which the exit status can be added. It is cut from the
/// front, and never inside a character; the limit counts bytes of UTF-8.
#[pyfunction]
pub(crate) fn cut_output<'py>(output: &Bound<'py, PyString>, byte_limit: u64) -> PyResult<Bound<'py, PyDict>> {
    let text = value::text(output, MisuseKind::Params, "/output")?;
    let (rest, truncated) = libacp::terminal::cut_output(&text, byte_limit);
    let answer = PyDict::new(output.py());
    answer.set_item("output", rest)?;
    answer.set_item("truncated", truncated)?;
    Ok(answer)
}
