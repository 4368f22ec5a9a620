//! Exceptions. Their classes are Python's own (`libacp/_errors.py`), so that they can be subclassed and pickled.

use libacp::connection::MisuseKind;
use libacp::Misuse;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    MODULE.get_or_try_init(py, || py.import("libacp._errors").map(Bound::unbind))?.bind(py).getattr(name)
}

/// An exception, or what went wrong while it was made.
fn raised(made: PyResult<Bound<'_, PyAny>>) -> PyErr {
    made.map_or_else(|error| error, PyErr::from_value)
}

fn class_of(kind: MisuseKind) -> &'static str {
    match kind {
        MisuseKind::Phase => "PhaseMisuse",
        MisuseKind::Method => "MethodMisuse",
        MisuseKind::Capability => "CapabilityMisuse",
        MisuseKind::Params => "ParamsMisuse",
        MisuseKind::Session => "SessionMisuse",
        MisuseKind::Id => "IdMisuse",
        MisuseKind::Limit => "LimitMisuse",
        _ => "Misuse",
    }
}

fn new_misuse<'py>(
    py: Python<'py>,
    kind: MisuseKind,
    rule: &str,
    message: &str,
    pointer: &str,
) -> PyResult<Bound<'py, PyAny>> {
    class(py, class_of(kind))?.call1((rule, message, pointer))
}

/// The core's misuse as an exception that can be handed out or raised.
pub(crate) fn from_core<'py>(py: Python<'py>, misuse: &Misuse) -> PyResult<Bound<'py, PyAny>> {
    new_misuse(py, misuse.kind, misuse.rule.as_str(), &misuse.message, &misuse.pointer)
}

/// The core's misuse, raised.
pub(crate) fn misuse(py: Python<'_>, misuse: &Misuse) -> PyErr {
    raised(from_core(py, misuse))
}

/// A mistake that this border sees before the core does, raised.
pub(crate) fn border(py: Python<'_>, kind: MisuseKind, rule: &str, message: &str, pointer: &str) -> PyErr {
    raised(new_misuse(py, kind, rule, message, pointer))
}

/// An error answer of the peer's.
pub(crate) fn peer_error<'py>(
    py: Python<'py>,
    code: i32,
    message: &str,
    data: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    class(py, "PeerError")?.call1((code, message, data))
}

/// The class of [`peer_error`].
pub(crate) fn peer_error_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    class(py, "PeerError")
}

/// A request that ended without an answer that can be used, raised.
pub(crate) fn no_result(py: Python<'_>, outcome: &str, method: &str) -> PyErr {
    raised(class(py, "NoResult").and_then(|class| class.call1((outcome, method))))
}

/// The error codes of the specification, and those of JSON-RPC.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct ErrorCode;

#[pymethods]
impl ErrorCode {
    /// The text is not valid JSON.
    #[classattr]
    const PARSE_ERROR: i32 = libacp::ErrorCode::PARSE_ERROR.0;
    /// The message is not a valid request, or is not allowed in the current state.
    #[classattr]
    const INVALID_REQUEST: i32 = libacp::ErrorCode::INVALID_REQUEST.0;
    /// The method does not exist or is not supported.
    #[classattr]
    const METHOD_NOT_FOUND: i32 = libacp::ErrorCode::METHOD_NOT_FOUND.0;
    /// The params are invalid.
    #[classattr]
    const INVALID_PARAMS: i32 = libacp::ErrorCode::INVALID_PARAMS.0;
    /// The side that answers has failed.
    #[classattr]
    const INTERNAL_ERROR: i32 = libacp::ErrorCode::INTERNAL_ERROR.0;
    /// The request was cancelled.
    #[classattr]
    const REQUEST_CANCELLED: i32 = libacp::ErrorCode::REQUEST_CANCELLED.0;
    /// A login is required first.
    #[classattr]
    const AUTH_REQUIRED: i32 = libacp::ErrorCode::AUTH_REQUIRED.0;
    /// A resource, such as a session or a file, does not exist.
    #[classattr]
    const RESOURCE_NOT_FOUND: i32 = libacp::ErrorCode::RESOURCE_NOT_FOUND.0;
    /// There is no common protocol version (version 2).
    #[classattr]
    const UNSUPPORTED_PROTOCOL_VERSION: i32 = libacp::ErrorCode::UNSUPPORTED_PROTOCOL_VERSION.0;

    /// Returns the usual short message for an error code.
    #[staticmethod]
    fn message(code: i32) -> &'static str {
        libacp::ErrorCode(code).message()
    }
}
