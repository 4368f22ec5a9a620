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

/// Observes the conversation of a client and an agent, and reports the violations of both. It sends nothing.
///
/// Pass in the bytes of each side with `receive_data`, in the order in which they were sent, and after each call take
/// events with `next_event` until it returns `None`. Every event comes with the side that sent the message: for a
/// `Violation`, the side that broke the rule. The consequence of a violation is what a receiver should do with the
/// message; the messages that follow show what the real receiver did.
///
/// The arguments are those of `Connection`, except that without `versions` all versions are supported. A call while
/// another thread is inside of one raises `RuntimeError` and changes nothing.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Observer {
    core: Mutex<Core>,
    keeps_views: bool,
}

impl Observer {
    pub(crate) fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        locked(&self.core, "Observer")
    }
}

#[pymethods]
impl Observer {
    #[new]
    #[pyo3(signature = (*, framing="lines", policy="tolerant", policies=None, limits=None, versions=None, drafts=None,
        prompt_queueing=false, foreign_methods=None, view=false))]
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
        view: bool,
    ) -> PyResult<Self> {
        let limits = limits.map(Bound::get);
        let mut config = config::read("client", framing, policy, policies, limits, versions, drafts, foreign_methods)?;
        if versions.is_none() {
            config.versions = Versions::ALL;
        }
        (config.prompt_queueing, config.view) = (prompt_queueing, view);
        Ok(Observer { core: Mutex::new(Core::new(config)), keeps_views: view })
    }

    /// Takes bytes that one side (`client` or `agent`) has sent, split in any way; with the framing `messages`, exactly
    /// one message per call.
    ///
    /// Pass in the bytes of both sides in the order in which they were sent; an answer that comes before its request
    /// matches no request. Invalid content never raises: it is reported by `Violation` events.
    #[pyo3(signature = (side, data, /))]
    fn receive_data(&self, side: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let (side, bytes) = (config::role("side", side)?, bytes_of(data)?);
        long(data.py(), bytes.len(), &mut *self.core()?, |core| core.receive(side, &bytes));
        Ok(())
    }

    /// Tells the observer that one side (`client` or `agent`) has closed its stream. Once both have, unanswered
    /// requests end with the outcome `closed`, and the last event is `Closed`.
    #[pyo3(signature = (side, /))]
    fn receive_eof(&self, side: &str) -> PyResult<()> {
        let side = config::role("side", side)?;
        self.core()?.receive_eof(side);
        Ok(())
    }

    /// Returns the side that sent a message, and the event about it; `None` if there is none until the next input. A
    /// `Response` for a request that was never answered comes with the side that sent the request.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<(&'static str, Py<PyAny>)>> {
        let mut core = self.core()?;
        let buffered = core.buffered();
        let seen = long(py, buffered, &mut *core, Core::poll_event);
        drop(core);
        seen.map(|(side, event)| Ok((side.name(), events::from_core(py, event, None)?))).transpose()
    }

    /// Returns an iterator over the events that are available now; it calls `next_event`.
    fn events(slf: Bound<'_, Self>) -> ObserverEvents {
        ObserverEvents { observer: slf.unbind() }
    }

    /// The number of bytes that were received from both sides and not processed yet.
    #[getter]
    fn buffered(&self) -> PyResult<usize> {
        Ok(self.core()?.buffered())
    }

    /// The agreed protocol version; before the agent has answered, the version that it is expected to answer. `None`
    /// before `initialize`.
    #[getter]
    fn version(&self) -> PyResult<Option<u16>> {
        Ok(self.core()?.version())
    }

    /// For `View`, which has nothing to show otherwise.
    #[getter(_keeps_views)]
    fn keeps_views(&self) -> bool {
        self.keeps_views
    }

    /// The phase of the conversation: `start`, `initializing`, `ready` or `closed`.
    #[getter]
    fn phase(&self) -> PyResult<&'static str> {
        Ok(self.core()?.phase().name())
    }

    /// The capabilities object of one side (`client` or `agent`); `{}` before `initialize`. Each call returns a new
    /// object.
    fn capabilities(&self, py: Python<'_>, side: &str) -> PyResult<Py<PyAny>> {
        let side = config::role("side", side)?;
        let text = self.core()?.capabilities(side).to_owned();
        json::loads(py, &text)
    }

    /// The known sessions by id.
    #[getter]
    fn sessions(&self) -> PyResult<BTreeMap<String, Session>> {
        Ok(self.core()?.sessions().map(|(id, session)| (id.to_string(), Session::from(session))).collect())
    }

    /// The state of one session; `None` if the session is unknown.
    fn session(&self, id: &str) -> PyResult<Option<Session>> {
        Ok(self.core()?.session(id).map(Session::from))
    }

    /// The unanswered requests that one side (`client` or `agent`) has sent, oldest first.
    fn open_requests(&self, side: &str) -> PyResult<Vec<OpenRequest>> {
        let side = config::role("side", side)?;
        Ok(self.core()?.open_requests(side).map(OpenRequest::from).collect())
    }

    /// The state of the whole conversation, in the form of `Connection.snapshot`.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let text = self.core()?.snapshot();
        json::loads(py, &text)
    }

    /// The full state of one session, in the form of `Connection.session_snapshot`; `None` if the session is unknown.
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

/// The iterator that `Observer.events` returns.
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
