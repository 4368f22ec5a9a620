//! Events about a call of the peer's: [`Request`], [`Notification`], [`Cancel`], [`Answered`]. The others are in
//! [`ended`](crate::ended) and [`rules`](crate::rules).
//!
//! All event classes are immutable, compare by value, can be pickled, and can be made by hand for a host's own tests.

use libacp::{Event, Id};
use pyo3::prelude::*;

use crate::ended::{Closed, LateResponse, Response};
use crate::json::{self, JsonText, RawJson};
use crate::rules::{Advice, Violation};
use crate::strings::{Frequent, Name, SessionId};
use crate::value::{self, PyId, Reduced, Repr};

/// An event of the core's as its Python class; an update with the serial number of the call that it belongs to.
pub(crate) fn from_core(py: Python<'_>, event: Event, exchange: Option<u64>) -> PyResult<Py<PyAny>> {
    Ok(match event {
        Event::Request(event) => Py::new(py, Request::from(event))?.into_any(),
        Event::Notification(event) => Py::new(py, Notification::from_core(event, exchange))?.into_any(),
        Event::Response(event) => Py::new(py, Response::from(event))?.into_any(),
        Event::LateResponse(event) => Py::new(py, LateResponse::from(event))?.into_any(),
        Event::Cancel(event) => Py::new(py, Cancel::from(event))?.into_any(),
        Event::Answered(event) => Py::new(py, Answered::from(event))?.into_any(),
        Event::Violation(event) => Py::new(py, Violation::from(event))?.into_any(),
        Event::Advice(event) => Py::new(py, Advice::from(event))?.into_any(),
        Event::Closed(event) => Py::new(py, Closed::from(event))?.into_any(),
        other => {
            let message = format!("an event of a kind that this module does not know: {}", other.name());
            return Err(pyo3::exceptions::PyRuntimeError::new_err(message));
        }
    })
}

/// The peer sent a request. Answer it with `Connection.respond` or `Connection.respond_error`.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Request {
    /// The method that the peer called.
    #[pyo3(get)]
    method: Name,
    params: JsonText,
    pub(crate) id: Id,
    /// The session id in the params; `None` if there is none.
    #[pyo3(get)]
    session: Option<SessionId>,
    /// The serial number of the request, unique on this connection: an integer that the host can use in place of the
    /// id.
    #[pyo3(get)]
    pub(crate) serial: u64,
}

impl From<libacp::connection::Request> for Request {
    fn from(mut event: libacp::connection::Request) -> Self {
        Request {
            params: JsonText::new(event.take_params()),
            method: Frequent(event.method),
            id: event.id,
            session: event.session.map(Frequent),
            serial: event.serial,
        }
    }
}

#[pymethods]
impl Request {
    #[new]
    #[pyo3(signature = (method, params=None, id=None, session=None, serial=0))]
    fn new(
        method: Name,
        params: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyAny>>,
        session: Option<SessionId>,
        serial: u64,
    ) -> PyResult<Self> {
        let params = JsonText::new(json::params(params)?);
        let id = id.map(value::id).transpose()?.unwrap_or(Id::Null);
        Ok(Request { method, params, id, session, serial })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("method", "params", "id")
    }

    /// The id of the request, exactly as sent.
    #[getter]
    fn id(&self) -> PyId<'_> {
        PyId(&self.id)
    }

    /// The params, parsed on first access; `{}` if there are none. They match the schema, except for extension methods.
    #[getter]
    fn params(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.params.object(py)
    }

    /// The params as JSON text.
    #[getter]
    fn params_json(&self) -> &str {
        self.params.as_str()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Request").field("method", &self.method)?.json("params", self.params.as_str());
        let repr = repr.field("id", PyId(&self.id))?.some("session", self.session.as_ref())?;
        Ok(repr.field("serial", self.serial)?.finish())
    }

    #[allow(clippy::type_complexity)] // The arguments of `new`, once more.
    fn __reduce__<'py>(
        slf: &'py Bound<'py, Self>,
    ) -> Reduced<'py, (&'py str, RawJson, PyId<'py>, Option<&'py str>, u64)> {
        let event = slf.get();
        let params = RawJson::from_text(&event.params);
        (slf.get_type(), (&event.method, params, PyId(&event.id), event.session.as_deref(), event.serial))
    }
}

/// The peer sent a notification.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Notification {
    /// The method that the peer called.
    #[pyo3(get)]
    method: Name,
    params: JsonText,
    /// The session id in the params; `None` if there is none.
    #[pyo3(get)]
    session: Option<SessionId>,
    /// The type of a `session/update`; `None` for other methods and for types that the library does not know.
    #[pyo3(get)]
    update: Option<Name>,
    /// When in its session it was sent: during a `turn`, in a `replay` of the history, while `idle`, or `none` without
    /// a session.
    #[pyo3(get)]
    timing: Name,
    /// The serial number of the host's open call that it belongs to, the prompt whose work it reports or the call whose
    /// replay it is; see `OpenRequest.serial`. `None` for others, and on a connection without `handlers`.
    #[pyo3(get)]
    exchange: Option<u64>,
}

impl Notification {
    fn from_core(mut event: libacp::connection::Notification, exchange: Option<u64>) -> Self {
        Notification {
            params: JsonText::new(event.take_params()),
            method: Frequent(event.method),
            session: event.session.map(Frequent),
            update: event.update.map(Name::from),
            timing: event.timing.name().into(),
            exchange,
        }
    }
}

impl Notification {
    /// Bytes of its params.
    pub(crate) fn size(&self) -> usize {
        self.params.as_str().len()
    }
}

#[pymethods]
impl Notification {
    #[new]
    #[pyo3(signature = (method, params=None, session=None, update=None, timing="none", exchange=None))]
    fn new(
        method: Name,
        params: Option<&Bound<'_, PyAny>>,
        session: Option<SessionId>,
        update: Option<Name>,
        timing: &str,
        exchange: Option<u64>,
    ) -> PyResult<Self> {
        let params = JsonText::new(json::params(params)?);
        let timing = Frequent(timing.to_owned().into());
        Ok(Notification { method, params, session, update, timing, exchange })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("method", "params")
    }

    /// The params, parsed on first access; `{}` if there are none. They match the schema, except for extension methods.
    #[getter]
    fn params(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.params.object(py)
    }

    /// The params as JSON text.
    #[getter]
    fn params_json(&self) -> &str {
        self.params.as_str()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Notification").field("method", &self.method)?.json("params", self.params.as_str());
        let repr = repr.some("session", self.session.as_ref())?.some("update", self.update.as_ref())?;
        Ok(repr.field("timing", &self.timing)?.some("exchange", self.exchange)?.finish())
    }

    #[allow(clippy::type_complexity)] // The arguments of `new`, once more.
    fn __reduce__<'py>(
        slf: &'py Bound<'py, Self>,
    ) -> Reduced<'py, (&'py str, RawJson, Option<&'py str>, Option<&'py str>, &'py str, Option<u64>)> {
        let event = slf.get();
        let params = RawJson::from_text(&event.params);
        let (session, update) = (event.session.as_deref(), event.update.as_deref());
        (slf.get_type(), (&event.method, params, session, update, &event.timing, event.exchange))
    }
}

/// The peer asked to cancel one of its requests (`$/cancel_request`). The request must still be answered.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Cancel {
    pub(crate) id: Id,
    /// The method of the request.
    #[pyo3(get)]
    method: Name,
    /// The session id in the params; `None` if there is none.
    #[pyo3(get)]
    session: Option<SessionId>,
    /// The serial number of the request; see `Request.serial`.
    #[pyo3(get)]
    pub(crate) serial: u64,
}

impl From<libacp::connection::Cancel> for Cancel {
    fn from(event: libacp::connection::Cancel) -> Self {
        let session = event.session.map(Frequent);
        Cancel { id: event.id, method: Frequent(event.method), session, serial: event.serial }
    }
}

#[pymethods]
impl Cancel {
    #[new]
    #[pyo3(signature = (id, method, session=None, serial=0))]
    fn new(id: &Bound<'_, PyAny>, method: Name, session: Option<SessionId>, serial: u64) -> PyResult<Self> {
        Ok(Cancel { id: value::id(id)?, method, session, serial })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("id", "method")
    }

    /// The id of the peer's request.
    #[getter]
    fn id(&self) -> PyId<'_> {
        PyId(&self.id)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Cancel").field("id", PyId(&self.id))?.field("method", &self.method)?;
        Ok(repr.some("session", self.session.as_ref())?.field("serial", self.serial)?.finish())
    }

    fn __reduce__<'py>(slf: &'py Bound<'py, Self>) -> Reduced<'py, (PyId<'py>, &'py str, Option<&'py str>, u64)> {
        let event = slf.get();
        (slf.get_type(), (PyId(&event.id), &event.method, event.session.as_deref(), event.serial))
    }
}

/// The connection has answered a request of the peer on behalf of the host. The host must not answer it as well, and
/// should close a dialog that it shows for the request.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Answered {
    id: Id,
    /// The method of the request.
    #[pyo3(get)]
    method: Name,
    /// The id of the rule that requires this answer.
    #[pyo3(get)]
    rule: Name,
    /// The session id in the params; `None` if there is none.
    #[pyo3(get)]
    session: Option<SessionId>,
    /// The serial number of the request; see `Request.serial`.
    #[pyo3(get)]
    serial: u64,
}

impl From<libacp::connection::Answered> for Answered {
    fn from(event: libacp::connection::Answered) -> Self {
        let session = event.session.map(Frequent);
        Answered {
            id: event.id,
            method: Frequent(event.method),
            rule: event.rule.as_str().into(),
            session,
            serial: event.serial,
        }
    }
}

#[pymethods]
impl Answered {
    #[new]
    #[pyo3(signature = (id, method, rule, session=None, serial=0))]
    fn new(id: &Bound<'_, PyAny>, method: Name, rule: Name, session: Option<SessionId>, serial: u64) -> PyResult<Self> {
        Ok(Answered { id: value::id(id)?, method, rule, session, serial })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("id", "method", "rule")
    }

    /// The id of the peer's request.
    #[getter]
    fn id(&self) -> PyId<'_> {
        PyId(&self.id)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Answered").field("id", PyId(&self.id))?.field("method", &self.method)?;
        let repr = repr.field("rule", &self.rule)?.some("session", self.session.as_ref())?;
        Ok(repr.field("serial", self.serial)?.finish())
    }

    #[allow(clippy::type_complexity)] // The arguments of `new`, once more.
    fn __reduce__<'py>(
        slf: &'py Bound<'py, Self>,
    ) -> Reduced<'py, (PyId<'py>, &'py str, &'py str, Option<&'py str>, u64)> {
        let event = slf.get();
        (slf.get_type(), (PyId(&event.id), &event.method, &event.rule, event.session.as_deref(), event.serial))
    }
}
