//! The class `Observer`: the core's observer behind a lock that is tried and never waited for, as `Connection` is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use libacp::connection::{Observer as Core, Versions};
use pyo3::prelude::*;

use crate::config::{self, Limits};
use crate::connection::{bytes_of, locked, long};
use crate::events;
use crate::json;
use crate::known::{OpenRequest, Session};

/// Looks on while a client and an agent talk, and reports what either of them does wrong. It sends nothing.
///
/// The bytes of each side go in with `receive_data`, in the order in which they were sent. After each call take
/// `next_event` until it returns `None`: what was received is read then. Each event comes with the side that sent it, so a
/// `Violation` with the side that broke the rule; its consequence is what a receiver is to do about the message, and what
/// the real one did is in what follows.
///
/// Without `versions`, all versions of the protocol are followed. One thread at a time, as with a `Connection`.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Observer {
    core: Mutex<Core>,
}

impl Observer {
    fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        locked(&self.core, "Observer")
    }
}

#[pymethods]
impl Observer {
    #[new]
    #[pyo3(signature = (*, framing="lines", policy="tolerant", policies=None, limits=None, versions=None, drafts=None,
        prompt_queueing=false, foreign_methods=None))]
    #[allow(clippy::too_many_arguments)] // As many as a configuration has members that matter here.
    fn new(
        framing: &str,
        policy: &str,
        policies: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, Limits>>,
        versions: Option<&Bound<'_, PyAny>>,
        drafts: Option<&Bound<'_, PyAny>>,
        prompt_queueing: bool,
        foreign_methods: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let limits = limits.map(Bound::get);
        let mut config = config::read("client", framing, policy, policies, limits, versions, drafts, foreign_methods)?;
        if versions.is_none() {
            config.versions = Versions::ALL;
        }
        config.prompt_queueing = prompt_queueing;
        Ok(Observer { core: Mutex::new(Core::new(config)) })
    }

    /// Takes bytes that one side (`client` or `agent`) has sent, in any split (with the framing `messages`: one message a
    /// call). Never fails for what is in them; what is wrong becomes events. Bytes of the two sides go in in the order in
    /// which they were sent: an answer before its request is an answer to nothing.
    #[pyo3(signature = (side, data, /))]
    fn receive_data(&self, side: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let (side, bytes) = (config::role("side", side)?, bytes_of(data)?);
        long(data.py(), bytes.len(), &mut *self.core()?, |core| core.receive(side, &bytes));
        Ok(())
    }

    /// One side (`client` or `agent`) has closed its stream. Once both have, requests that were never answered end as
    /// `closed`, and the last event is a `Closed`.
    #[pyo3(signature = (side, /))]
    fn receive_eof(&self, side: &str) -> PyResult<()> {
        let side = config::role("side", side)?;
        self.core()?.receive_eof(side);
        Ok(())
    }

    /// What was seen next, and the side that sent it; `None` when there is nothing more now. A `Response` for want of an
    /// answer comes with the side that had asked.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<(&'static str, Py<PyAny>)>> {
        let mut core = self.core()?;
        let buffered = core.buffered();
        let seen = long(py, buffered, &mut *core, Core::poll_event);
        drop(core);
        seen.map(|(side, event)| Ok((side.name(), events::from_core(py, event)?))).transpose()
    }

    /// What was seen, each event with the side that sent it, until there is nothing more now.
    fn events(slf: Bound<'_, Self>) -> ObserverEvents {
        ObserverEvents { observer: slf.unbind() }
    }

    /// How much was received and has not been read yet, of both sides. In bytes.
    #[getter]
    fn buffered(&self) -> PyResult<usize> {
        Ok(self.core()?.buffered())
    }

    /// The version that both sides have agreed on; before the agent has answered, what it is expected to answer. `None`
    /// before `initialize`.
    #[getter]
    fn version(&self) -> PyResult<Option<u16>> {
        Ok(self.core()?.version())
    }

    /// How far the conversation is: `start`, `initializing`, `ready` or `closed`.
    #[getter]
    fn phase(&self) -> PyResult<&'static str> {
        Ok(self.core()?.phase().name())
    }

    /// What one side (`client` or `agent`) can do: its capabilities object, `{}` before `initialize`. A new object each
    /// time.
    fn capabilities(&self, py: Python<'_>, side: &str) -> PyResult<Py<PyAny>> {
        let side = config::role("side", side)?;
        let text = self.core()?.capabilities(side).to_owned();
        json::loads(py, &text)
    }

    /// The sessions that are known now, by id.
    #[getter]
    fn sessions(&self) -> PyResult<BTreeMap<String, Session>> {
        Ok(self.core()?.sessions().map(|(id, session)| (id.to_string(), Session::from(session))).collect())
    }

    /// What is known of one session at a glance. `None` when the session is not known.
    fn session(&self, id: &str) -> PyResult<Option<Session>> {
        Ok(self.core()?.session(id).map(Session::from))
    }

    /// The requests that one side (`client` or `agent`) has sent and that have no answer yet, oldest first.
    fn open_requests(&self, side: &str) -> PyResult<Vec<OpenRequest>> {
        let side = config::role("side", side)?;
        Ok(self.core()?.open_requests(side).map(OpenRequest::from).collect())
    }

    /// All that is known of the conversation as a whole, as `Connection.snapshot` has it.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let text = self.core()?.snapshot();
        json::loads(py, &text)
    }

    /// All that is known of a session, as `Connection.session_snapshot` has it. `None` when the session is not known.
    fn session_snapshot(&self, py: Python<'_>, id: &str) -> PyResult<Option<Py<PyAny>>> {
        let text = self.core()?.session(id).map(libacp::connection::Session::snapshot);
        text.map(|text| json::loads(py, &text)).transpose()
    }

    fn __repr__(&self) -> PyResult<String> {
        let core = self.core()?;
        let version = core.version().map_or_else(String::new, |version| format!(" version={version}"));
        Ok(format!("<libacp.Observer {}{version} sessions={}>", core.phase().name(), core.sessions().count()))
    }
}

/// The iterator of `Observer.events`.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct ObserverEvents {
    observer: Py<Observer>,
}

#[pymethods]
impl ObserverEvents {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<(&'static str, Py<PyAny>)>> {
        self.observer.get().next_event(py)
    }
}
