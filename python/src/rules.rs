//! Rules: the catalogue's [`Rule`], and the events about one that was broken, [`Violation`] by the peer and [`Advice`]
//! by the host.

use std::borrow::Cow;

use libacp::connection::Consequence;
use libacp::Id;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::value::{self, PyId, Reduced, Repr};

type Name = Cow<'static, str>;

/// The rule with this id, as events and exceptions carry it; `None` when there is none.
#[pyfunction]
pub(crate) fn rule(id: &str) -> Option<Rule> {
    libacp::rules::rule(id).map(Rule)
}

/// One rule of the catalogue.
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

    /// Its id.
    #[getter]
    fn id(&self) -> &'static str {
        self.0.id
    }

    /// How binding the specification makes it: `MUST`, `MUST NOT`, `SHOULD`, `SHOULD NOT` or `MAY`.
    #[getter]
    fn level(&self) -> &'static str {
        self.0.level.name()
    }

    /// How bad it is when a peer breaks it: `note`, `warning` or `error`.
    #[getter]
    fn severity(&self) -> &'static str {
        self.0.severity.name()
    }

    /// Whether the host's calls are held to it.
    #[getter]
    fn send(&self) -> bool {
        self.0.send
    }

    /// Whether the peer's messages are held to it.
    #[getter]
    fn receive(&self) -> bool {
        self.0.receive
    }

    /// Whether the connection follows or does what it says.
    #[getter]
    fn track(&self) -> bool {
        self.0.track
    }

    /// What it says, in one sentence.
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
    /// The rule, as listed in the rule catalogue.
    #[pyo3(get)]
    rule: Name,
    /// What is wrong, in one sentence.
    #[pyo3(get)]
    message: String,
    /// JSON pointer into the params or result; empty when it is about the message as a whole.
    #[pyo3(get)]
    pointer: String,
    /// The method, where one could be read.
    #[pyo3(get)]
    method: Option<Name>,
    id: Option<Id>,
    /// The session it is about, where one could be read before what is wrong.
    #[pyo3(get)]
    session: Option<String>,
    /// The number of the frame on this connection, from 1.
    #[pyo3(get)]
    frame: u64,
    /// Its first bytes, at most 256, with U+FFFD for what is not UTF-8.
    #[pyo3(get)]
    excerpt: String,
    /// What became of the message: `delivered`, `dropped` or `refused`.
    #[pyo3(get)]
    consequence: Name,
    /// The code of the error that it was answered with, if it was.
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

    /// The id, where one could be read.
    #[getter]
    fn id(&self) -> Option<PyId<'_>> {
        self.id.as_ref().map(PyId)
    }

    /// Whether an id could be read: tells an id that is `None` from no id.
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

/// The host's own message went out, but a rule that does not bind says that it should not look like this. Or it has not
/// gone out at all: a request of the peer's has waited for its answer as long as `reminder` says (`RPC-15`).
#[pyclass(frozen, eq, hash, module = "libacp")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Advice {
    /// The rule, as listed in the rule catalogue.
    #[pyo3(get)]
    rule: Name,
    /// What is odd, in one sentence.
    #[pyo3(get)]
    message: String,
    /// JSON pointer into the params or result.
    #[pyo3(get)]
    pointer: String,
    /// The method; of an answer, the method that was called.
    #[pyo3(get)]
    method: String,
    id: Option<Id>,
    /// The session it is about.
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

    /// The id of the peer's request that it is about: of an answer, and of a reminder that there is none yet.
    #[getter]
    fn id(&self) -> Option<PyId<'_>> {
        self.id.as_ref().map(PyId)
    }

    /// Whether it is about a request of the peer's: tells an id that is `None` from no id.
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
