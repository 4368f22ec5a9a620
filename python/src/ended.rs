//! Events about what is over: [`Response`], [`LateResponse`], [`Closed`].

use libacp::connection::Outcome;
use libacp::Id;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors;
use crate::json::{self, JsonText, RawJson};
use crate::known::TerminalRef;
use crate::strings::{Frequent, Name, SessionId};
use crate::value::{self, IdArgument, PyId, Reduced, Repr};

#[derive(PartialEq, Eq, Hash)]
struct PeerError {
    code: i32,
    message: String,
    data: Option<JsonText>,
}

impl PeerError {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let data = self.data.as_ref().map(|data| data.object(py)).transpose()?;
        errors::peer_error(py, self.code, &self.message, data)
    }

    fn read(error: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !error.is_instance(&errors::peer_error_class(error.py())?)? {
            return Err(PyTypeError::new_err("error: expected a PeerError"));
        }
        let data = error.getattr("data")?;
        let data = if data.is_none() { None } else { Some(JsonText::new(json::dumps(&data)?)) };
        Ok(PeerError { code: error.getattr("code")?.extract()?, message: error.getattr("message")?.extract()?, data })
    }
}

/// A class of answers: both have the same members.
macro_rules! ended {
    ($Name:ident, $(#[doc = $doc:literal])+ $(outcome #[doc = $outcome:literal])+) => {
        $(#[doc = $doc])+
        #[pyclass(frozen, eq, hash, module = "libacp")]
        #[derive(PartialEq, Eq, Hash)]
        pub(crate) struct $Name {
            id: Id,
            $(#[doc = $outcome])+
            #[pyo3(get)]
            outcome: Name,
            /// The method of the request.
            #[pyo3(get)]
            method: Name,
            result: Option<JsonText>,
            error: Option<PeerError>,
            /// The session id in the request, if there is one.
            #[pyo3(get)]
            session: Option<SessionId>,
            /// The serial number of the request on this connection; see `OpenRequest.serial`.
            #[pyo3(get)]
            serial: u64,
        }

        impl From<libacp::connection::Response> for $Name {
            fn from(mut event: libacp::connection::Response) -> Self {
                let outcome = event.outcome.name().into();
                let result = event.outcome.take_result().map(JsonText::new);
                let error = match event.outcome {
                    Outcome::Error(error) => {
                        Some(PeerError { code: error.code.0, message: error.message, data: error.data.map(JsonText::new) })
                    }
                    _ => None,
                };
                let session = event.session.map(Frequent);
                $Name { id: event.id, outcome, method: Frequent(event.method), result, error, session, serial: event.serial }
            }
        }

        #[pymethods]
        impl $Name {
            #[new]
            #[pyo3(signature = (id, outcome, method, result=None, error=None, session=None, serial=0))]
            fn new(
                id: &Bound<'_, PyAny>,
                outcome: Name,
                method: Name,
                result: Option<&Bound<'_, PyAny>>,
                error: Option<&Bound<'_, PyAny>>,
                session: Option<SessionId>,
                serial: u64,
            ) -> PyResult<Self> {
                let result = match (&*outcome, result) {
                    ("result", result) => Some(JsonText::new(result.map_or_else(|| Ok("null".to_owned()), json::dumps)?)),
                    (_, None) => None,
                    _ => return Err(PyTypeError::new_err("result: only the outcome `result` has one")),
                };
                let error = error.map(PeerError::read).transpose()?;
                if error.is_some() != (*outcome == *"error") {
                    return Err(PyTypeError::new_err("error: the outcome `error` has one, the others have none"));
                }
                Ok($Name { id: value::id(id)?, outcome, method, result, error, session, serial })
            }

            #[classattr]
            fn __match_args__() -> (&'static str, &'static str, &'static str) {
                ("id", "outcome", "method")
            }

            /// The id of the request, as `Connection.request` returned it.
            #[getter]
            fn id(&self) -> PyId<'_> {
                PyId(&self.id)
            }

            /// Returns the result.
            ///
            /// Raises:
            ///     PeerError: if the peer answered with an error.
            ///     NoResult: if there is no valid answer: the outcome is `invalid`, `timeout`, `cancelled` or `closed`.
            fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                match (&self.result, &self.error) {
                    (Some(result), _) => result.object(py),
                    (None, Some(error)) => Err(PyErr::from_value(error.object(py)?)),
                    (None, None) => Err(errors::no_result(py, &self.outcome, &self.method)),
                }
            }

            /// The result as JSON text; `None` if there is none.
            #[getter]
            fn result_json(&self) -> Option<&str> {
                self.result.as_ref().map(JsonText::as_str)
            }

            /// The error with which the peer answered; `None` if there is none.
            #[getter]
            fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
                self.error.as_ref().map(|error| error.object(py)).transpose()
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let repr = Repr::new(py, stringify!($Name)).field("id", PyId(&self.id))?.field("outcome", &self.outcome)?;
                let mut repr = repr.field("method", &self.method)?;
                if let Some(result) = &self.result {
                    repr = repr.json("result", result.as_str());
                }
                let repr = repr.some("error", self.error(py)?)?.some("session", self.session.as_ref())?;
                Ok(repr.field("serial", self.serial)?.finish())
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Bound<'py, PyTuple>>> {
                let (py, event) = (slf.py(), slf.get());
                let result = event.result.as_ref().map(RawJson::from_text);
                let args = (
                    PyId(&event.id),
                    &event.outcome,
                    &event.method,
                    result,
                    event.error(py)?,
                    event.session.as_ref(),
                    event.serial,
                );
                Ok((slf.get_type(), args.into_pyobject(py)?))
            }
        }
    };
}

ended! {
    Response,
    /// A request that the host sent has ended. Every request ends with exactly one `Response`.
    outcome /// How the request ended: `result`, `error`, `invalid`, `timeout`, `cancelled` or `closed`.
}

ended! {
    LateResponse,
    /// The peer answered a request that had already ended with the outcome `timeout` or `cancelled`. A session or
    /// terminal that the answer opens is open: close or release it if it is no longer wanted.
    outcome /// What the answer is: `result`, `error` or `invalid`.
}

/// The connection has ended. This is the last event.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Closed {
    /// Why the connection ended: `end_of_stream`, `host` (`close` was called) or `version` (no common protocol
    /// version).
    #[pyo3(get)]
    reason: Name,
    unanswered: Vec<Id>,
    terminals: Vec<TerminalRef>,
}

impl From<libacp::connection::Closed> for Closed {
    fn from(event: libacp::connection::Closed) -> Self {
        let terminals = event.terminals.iter().map(Into::into).collect();
        Closed { reason: event.reason.name().into(), unanswered: event.unanswered, terminals }
    }
}

#[pymethods]
impl Closed {
    #[new]
    #[pyo3(signature = (reason, unanswered=Vec::new(), terminals=Vec::new()))]
    fn new(reason: Name, unanswered: Vec<IdArgument>, terminals: Vec<TerminalRef>) -> Self {
        let unanswered = unanswered.into_iter().map(|id| id.0).collect();
        Closed { reason, unanswered, terminals }
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("reason",)
    }

    /// The ids of the peer's requests that the host never answered, oldest first.
    #[getter]
    fn unanswered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.unanswered.iter().map(PyId))
    }

    /// The terminals that were never released.
    #[getter]
    fn terminals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.terminals.iter().cloned())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Closed").field("reason", &self.reason)?;
        Ok(repr.field("unanswered", self.unanswered(py)?)?.field("terminals", self.terminals(py)?)?.finish())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Bound<'py, PyTuple>>> {
        let (py, event) = (slf.py(), slf.get());
        let args = (&event.reason, event.unanswered(py)?, event.terminals(py)?);
        Ok((slf.get_type(), args.into_pyobject(py)?))
    }
}
