//! Rules: the catalogue's [`Rule`], and the events about one that was broken, [`Violation`] by the peer and [`Advice`]
//! by the host.

use std::borrow::Cow;

use libacp::connection::Consequence;
use libacp::Id;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::value::{self, PyId, Reduced, Repr};

type Name = Cow<'static, str>;

/// Returns the rule with this id, such as `PERM-02`, as events and exceptions have it; `None` for an unknown id.
#[pyfunction]
pub(crate) fn rule(id: &str) -> Option<Rule> {
    libacp::rules::rule(id).map(Rule)
}

/// One rule of the rule catalogue.
#[pyclass(frozen, eq, hash, module = "libacp")]
pub(crate) struct Rule(&'static libacp::rules::Rule);

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl std::hash::Hash for Rule {
    // The id stands for the rest of its row.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

#[pymethods]
impl Rule {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("id", "level", "severity")
    }

    /// The id of the rule, such as `PERM-02`.
    #[getter]
    fn id(&self) -> &'static str {
        self.0.id
    }

    /// The level of the requirement: `MUST`, `MUST NOT`, `SHOULD`, `SHOULD NOT` or `MAY`.
    #[getter]
    fn level(&self) -> &'static str {
        self.0.level.name()
    }

    /// How serious it is when a peer breaks the rule: `note`, `warning` or `error`.
    #[getter]
    fn severity(&self) -> &'static str {
        self.0.severity.name()
    }

    /// Whether the rule is checked in the host's calls.
    #[getter]
    fn send(&self) -> bool {
        self.0.send
    }

    /// Whether the rule is checked in the peer's messages.
    #[getter]
    fn receive(&self) -> bool {
        self.0.receive
    }

    /// Whether the connection keeps the state that the rule describes, or acts as it says.
    #[getter]
    fn track(&self) -> bool {
        self.0.track
    }

    /// What the rule says.
    #[getter]
    fn text(&self) -> &'static str {
        self.0.text
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Rule").field("id", self.id())?.field("level", self.level())?;
        let repr = repr.field("severity", self.severity())?.field("send", self.send())?;
        let repr = repr.field("receive", self.receive())?.field("track", self.track())?;
        Ok(repr.field("text", self.text())?.finish())
    }
}

/// The id of an event that may have none, from Python, where `None` is the id `null` too.
fn read_id(id: Option<&Bound<'_, PyAny>>, has_id: Option<bool>) -> PyResult<Option<Id>> {
    match id {
        Some(id) => value::id(id).map(Some),
        None => Ok((has_id == Some(true)).then_some(Id::Null)),
    }
}

/// The peer broke a rule.
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Violation {
    /// The id of the rule; `libacp.rule` has more about it.
    #[pyo3(get)]
    rule: Name,
    /// What is wrong, in one sentence.
    #[pyo3(get)]
    message: String,
    /// JSON pointer to the problem in the params or the result; empty if it concerns the whole message.
    #[pyo3(get)]
    pointer: String,
    /// The method of the message; `None` if it could not be read.
    #[pyo3(get)]
    method: Option<Name>,
    id: Option<Id>,
    /// The session id in the message; `None` if none could be read.
    #[pyo3(get)]
    session: Option<String>,
    /// The number of the frame among those that were received on this connection, from 1.
    #[pyo3(get)]
    frame: u64,
    /// The first bytes of the frame, at most 256, with U+FFFD for invalid UTF-8; empty if it may contain secrets
    /// (`AUTH-27`).
    #[pyo3(get)]
    excerpt: String,
    /// What happened to the message: it was `delivered`, `dropped`, or `refused` by an error answer.
    #[pyo3(get)]
    consequence: Name,
    /// The error code with which the message was refused; `None` if it was not refused.
    #[pyo3(get)]
    code: Option<i32>,
}

impl From<libacp::connection::Violation> for Violation {
    fn from(event: libacp::connection::Violation) -> Self {
        Violation {
            rule: event.rule.as_str().into(),
            message: event.message,
            pointer: event.pointer,
            method: event.method,
            id: event.id,
            session: event.session.as_deref().map(str::to_owned),
            frame: event.frame,
            excerpt: event.excerpt,
            consequence: event.consequence.name().into(),
            code: match event.consequence {
                Consequence::Refused(code) => Some(code.0),
                _ => None,
            },
        }
    }
}

#[pymethods]
impl Violation {
    #[new]
    #[pyo3(signature = (rule, message, pointer="", method=None, id=None, has_id=None, frame=0,
        excerpt="", consequence="dropped", code=None, session=None))]
    #[allow(clippy::too_many_arguments)] // As many as a violation has members.
    fn new(
        rule: String,
        message: String,
        pointer: &str,
        method: Option<String>,
        id: Option<&Bound<'_, PyAny>>,
        has_id: Option<bool>,
        frame: u64,
        excerpt: &str,
        consequence: &str,
        code: Option<i32>,
        session: Option<String>,
    ) -> PyResult<Self> {
        let id = read_id(id, has_id)?;
        let (pointer, excerpt) = (pointer.to_owned(), excerpt.to_owned());
        let (rule, method, consequence) = (rule.into(), method.map(Cow::Owned), consequence.to_owned().into());
        Ok(Violation { rule, message, pointer, method, id, session, frame, excerpt, consequence, code })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("rule", "message")
    }

    /// The id of the message; `None` if it could not be read or is null, see `has_id`.
    #[getter]
    fn id(&self) -> Option<PyId<'_>> {
        self.id.as_ref().map(PyId)
    }

    /// Whether an id could be read; it distinguishes a null id from no id.
    #[getter]
    fn has_id(&self) -> bool {
        self.id.is_some()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Violation").field("rule", &self.rule)?.field("message", &self.message)?;
        let repr = repr.field("pointer", &self.pointer)?.some("method", self.method.as_ref())?;
        let repr = repr.some("id", self.id())?.some("session", self.session.as_ref())?;
        let repr = repr.field("frame", self.frame)?.field("excerpt", &self.excerpt)?;
        Ok(repr.field("consequence", &self.consequence)?.some("code", self.code)?.finish())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Bound<'py, PyTuple>>> {
        let event = slf.get();
        let args = (
            &event.rule,
            &event.message,
            &event.pointer,
            &event.method,
            event.id(),
            event.has_id(),
            event.frame,
            &event.excerpt,
            &event.consequence,
            event.code,
            &event.session,
        );
        Ok((slf.get_type(), args.into_pyobject(slf.py())?))
    }
}

/// A recommendation about the host's own behavior: a message that was sent should have been different, or a request of
/// the peer has waited for its answer as long as `reminder` allows (`RPC-15`).
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Advice {
    /// The id of the rule; `libacp.rule` has more about it.
    #[pyo3(get)]
    rule: Name,
    /// What should be different, in one sentence.
    #[pyo3(get)]
    message: String,
    /// JSON pointer to the place in the params or the result; empty if it concerns the whole message.
    #[pyo3(get)]
    pointer: String,
    /// The method of the message; for an answer, the method of its request.
    #[pyo3(get)]
    method: String,
    id: Option<Id>,
    /// The session id in the message; `None` if there is none.
    #[pyo3(get)]
    session: Option<String>,
}

impl From<libacp::connection::Advice> for Advice {
    fn from(event: libacp::connection::Advice) -> Self {
        let libacp::connection::Advice { rule, message, pointer, method, id, session, .. } = event;
        let session = session.as_deref().map(str::to_owned);
        Advice { rule: rule.as_str().into(), message, pointer, method, id, session }
    }
}

#[pymethods]
impl Advice {
    #[new]
    #[pyo3(signature = (rule, message, pointer="", method="", id=None, has_id=None, session=None))]
    fn new(
        rule: String,
        message: String,
        pointer: &str,
        method: &str,
        id: Option<&Bound<'_, PyAny>>,
        has_id: Option<bool>,
        session: Option<String>,
    ) -> PyResult<Self> {
        let (pointer, method, id) = (pointer.to_owned(), method.to_owned(), read_id(id, has_id)?);
        Ok(Advice { rule: rule.into(), message, pointer, method, id, session })
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("rule", "message")
    }

    /// The id of the peer's request, if this is about an answer or a missing answer.
    #[getter]
    fn id(&self) -> Option<PyId<'_>> {
        self.id.as_ref().map(PyId)
    }

    /// Whether this is about a request of the peer; it distinguishes a null id from no id.
    #[getter]
    fn has_id(&self) -> bool {
        self.id.is_some()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Advice").field("rule", &self.rule)?.field("message", &self.message)?;
        let repr = repr.field("pointer", &self.pointer)?.field("method", &self.method)?;
        Ok(repr.some("id", self.id())?.some("session", self.session.as_ref())?.finish())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Bound<'py, PyTuple>>> {
        let event = slf.get();
        let args =
            (&event.rule, &event.message, &event.pointer, &event.method, event.id(), event.has_id(), &event.session);
        Ok((slf.get_type(), args.into_pyobject(slf.py())?))
    }
}
