//! What a connection knows: open requests, sessions, terminals. Copies that no longer change.

use std::collections::BTreeMap;

use libacp::Id;
use pyo3::prelude::*;

use crate::value::{PyId, Reduced, Repr};

/// A request that has not been answered.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct OpenRequest {
    pub(crate) id: Id,
    /// The serial number of the request, unique on this connection; see `Request.serial`.
    #[pyo3(get)]
    pub(crate) serial: u64,
    /// The method of the request.
    #[pyo3(get)]
    method: String,
    /// The session id in the params; `None` if there is none.
    #[pyo3(get)]
    session: Option<String>,
    /// Whether its sender has asked to cancel it.
    #[pyo3(get)]
    cancelled: bool,
    /// When a request of the host times out, or when the host is reminded of a request of the peer: milliseconds on the
    /// host's clock, or `None` for never.
    #[pyo3(get)]
    deadline: Option<u64>,
}

impl From<&libacp::connection::OpenRequest> for OpenRequest {
    fn from(open: &libacp::connection::OpenRequest) -> Self {
        OpenRequest {
            id: open.id.clone(),
            serial: open.serial,
            method: open.method.to_string(),
            session: open.session.as_deref().map(str::to_owned),
            cancelled: open.cancelled,
            deadline: open.deadline,
        }
    }
}

#[pymethods]
impl OpenRequest {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("method", "id")
    }

    /// The id of the request.
    #[getter]
    fn id(&self) -> PyId<'_> {
        PyId(&self.id)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "OpenRequest").field("method", &self.method)?.field("id", PyId(&self.id))?;
        let repr = repr.field("serial", self.serial)?.some("session", self.session.as_ref())?;
        Ok(repr.field("cancelled", self.cancelled)?.some("deadline", self.deadline)?.finish())
    }
}

/// The state of one session.
#[pyclass(frozen, eq, module = "libacp")]
#[derive(PartialEq, Eq)]
pub(crate) struct Session {
    /// How far the session is opened: `loading`, `resuming` or `ready`.
    #[pyo3(get)]
    state: &'static str,
    /// Whether the agent is working: `idle`, `running`, `requires_action` or `cancelling`.
    #[pyo3(get)]
    turn: &'static str,
    /// The open terminals by id; the value says whether the command has ended.
    #[pyo3(get)]
    terminals: BTreeMap<String, bool>,
}

impl From<&libacp::connection::Session> for Session {
    fn from(session: &libacp::connection::Session) -> Self {
        Session {
            state: session.state.name(),
            turn: session.turn.name(),
            terminals: session.terminals.iter().map(|(id, ended)| (id.to_string(), *ended)).collect(),
        }
    }
}

#[pymethods]
impl Session {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("state", "turn")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Session").field("state", self.state)?.field("turn", self.turn)?;
        Ok(repr.field("terminals", self.terminals.clone())?.finish())
    }
}

/// The id of a terminal together with its session.
#[pyclass(frozen, eq, ord, hash, module = "libacp")]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TerminalRef {
    /// The id of the session.
    #[pyo3(get)]
    session: String,
    /// The id of the terminal, which is unique in its session.
    #[pyo3(get)]
    terminal: String,
}

impl From<&libacp::connection::TerminalRef> for TerminalRef {
    fn from(terminal: &libacp::connection::TerminalRef) -> Self {
        TerminalRef { session: terminal.session.to_string(), terminal: terminal.terminal.to_string() }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for TerminalRef {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(object.cast::<TerminalRef>()?.get().clone())
    }
}

#[pymethods]
impl TerminalRef {
    #[new]
    fn new(session: String, terminal: String) -> Self {
        TerminalRef { session, terminal }
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("session", "terminal")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "TerminalRef").field("session", &self.session)?;
        Ok(repr.field("terminal", &self.terminal)?.finish())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (String, String)> {
        let terminal = slf.get().clone();
        (slf.get_type(), (terminal.session, terminal.terminal))
    }
}
