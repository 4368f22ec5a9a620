//! The class `Connection`: the core's connection, as a host sees it, behind a lock that is tried and never waited for.
//! What can be asked of it stands in `getters`.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};

use libacp::connection::{CallOptions, MisuseKind, RequestKey, Timeout};
use libacp::host::Host;
use libacp::{Connection as Core, Id};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::config::{self, Limits};
use crate::errors;
use crate::events::{self, Cancel, Notification, Request};
use crate::json;
use crate::known::OpenRequest;
use crate::value::{self, IdChoice, PyId, TimeoutChoice};

/// Work on more bytes than this is done without the GIL.
const LONG: usize = 64 * 1024;

/// One side of a connection to one peer. It does no I/O: the host passes in bytes and the time, and takes out events
/// and bytes.
///
/// After each input (bytes, end of stream, time, or a call of the host) take events with `next_event` until it returns
/// `None`, write what `data_to_send` returns, then ask `poll_timeout` when to call `handle_timeout`.
///
/// A call while another thread is inside of one raises `RuntimeError` and changes nothing.
///
/// Arguments:
///     `role`: the side of the host, `client` or `agent`.
///     `framing`: how messages are separated: `lines` (stdio), `content-length`, or `messages` (one per
///         call).
///     `policy`: how messages of the peer that break a rule are handled: `tolerant`, `strict` or `off`.
///     `policies`: a policy for the rules of one severity (`note`, `warning` or `error`) in place of
///         `policy`.
///     `limits`: limits on what the peer can make the connection use; by default `Limits()`.
///     `versions`: the protocol versions that may be agreed on; by default version 1 only.
///     `drafts`: the drafts to enable, from `DRAFTS`.
///     `timeout`: milliseconds after which a request that the host sends fails; `None` for no timeout.
///     `cancel_grace`: milliseconds that the peer has to answer a cancelled request; `None` for no limit.
///     `reminder`: milliseconds after which an `Advice` reminds the host of an unanswered request; `None` for
///         never.
///     `prompt_queueing`: whether a session may have several open prompts (`TURN-03`).
///     `foreign_methods`: methods to send and deliver although they are neither specified nor begin with `_`.
///     `view`: whether to keep a view of each session, the conversation as a client shows it.
///     `handlers`: the methods that the host serves, under their names of version 1, as `libacp.aio` gives them. The
///         connection then speaks the methods and shapes of version 1 in both versions; only the updates that a client
///         receives stay as they are on the wire. By default every message is that of the agreed version.
///
/// Raises:
///     ValueError: for a name or a version that does not exist.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Connection {
    host: Mutex<Host>,
}

/// The core's connection while the lock is held.
pub(crate) struct Held<'a>(MutexGuard<'a, Host>);

impl Held<'_> {
    /// Whether polling would find no event, of the host's either.
    pub(crate) fn is_starved(&mut self) -> bool {
        self.0.is_starved()
    }
}

impl Deref for Held<'_> {
    type Target = Core;

    fn deref(&self) -> &Core {
        self.0.connection()
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Core {
        self.0.connection_mut()
    }
}

impl Connection {
    /// The host, unless another thread is inside of it.
    pub(crate) fn host(&self) -> PyResult<MutexGuard<'_, Host>> {
        locked(&self.host, "Connection")
    }

    /// The core, unless another thread is inside of it.
    pub(crate) fn core(&self) -> PyResult<Held<'_>> {
        Ok(Held(self.host()?))
    }

    /// Does something that can be refused; without the GIL when it is long.
    pub(crate) fn call<T: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut Host) -> Result<T, libacp::Misuse> + Send,
    ) -> PyResult<T> {
        long(py, bytes, &mut *self.host()?, work).map_err(|misuse| errors::misuse(py, &misuse))
    }
}

/// The request of the peer's that a host names by its id or by an object about it. An object names that one request, also
/// where a later one has the same id.
fn named(request: &Bound<'_, PyAny>) -> PyResult<(Id, Option<u64>)> {
    Ok(if let Ok(request) = request.cast::<Request>() {
        (request.get().id.clone(), Some(request.get().serial))
    } else if let Ok(cancel) = request.cast::<Cancel>() {
        (cancel.get().id.clone(), Some(cancel.get().serial))
    } else if let Ok(open) = request.cast::<OpenRequest>() {
        (open.get().id.clone(), Some(open.get().serial))
    } else {
        (value::id(request)?, None)
    })
}

/// How the core is told of it.
fn key((id, serial): &(Id, Option<u64>)) -> RequestKey<'_> {
    serial.map_or_else(|| id.into(), |serial| (id, serial).into())
}

/// What an object of this class is about, unless another thread is inside of it.
pub(crate) fn locked<'a, T>(core: &'a Mutex<T>, class: &str) -> PyResult<MutexGuard<'a, T>> {
    match core.try_lock() {
        Ok(core) => Ok(core),
        Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(format!(
            "this {class} is in use by another thread; give each thread its own, or put a lock around it"
        ))),
        // Only a panic in the core leaves this behind; what it left cannot be trusted.
        Err(TryLockError::Poisoned(_)) => {
            Err(PyRuntimeError::new_err(format!("this {class} was broken by an earlier failure and cannot be used")))
        }
    }
}

/// The bytes that a host passes.
pub(crate) fn bytes_of<'a>(data: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(array) = data.cast::<PyByteArray>() {
        return Ok(Cow::Owned(array.to_vec()));
    }
    if data.is_instance_of::<PyMemoryView>() {
        return Ok(Cow::Owned(data.call_method0("tobytes")?.extract()?));
    }
    let found = value::type_name(data);
    Err(PyTypeError::new_err(format!("expected bytes, bytearray or memoryview, found {found}")))
}

/// Works on so many bytes; without the GIL when they are many.
pub(crate) fn long<C: Send, T: Send>(
    py: Python<'_>,
    bytes: usize,
    core: &mut C,
    work: impl FnOnce(&mut C) -> T + Send,
) -> T {
    if bytes > LONG {
        py.detach(|| work(core))
    } else {
        work(core)
    }
}

fn method_name<'a>(method: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    value::text(method, MisuseKind::Method, "")
}

#[pymethods]
impl Connection {
    #[new]
    #[pyo3(signature = (role, *, framing="lines", policy="tolerant", policies=None, limits=None, versions=None,
        drafts=None, timeout=None, cancel_grace=10000, reminder=None, prompt_queueing=false, foreign_methods=None,
        view=false, handlers=None))]
    #[allow(clippy::too_many_arguments)] // As many as a configuration has members.
    fn new(
        role: &str,
        framing: &str,
        policy: &str,
        policies: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, Limits>>,
        versions: Option<&Bound<'_, PyAny>>,
        drafts: Option<&Bound<'_, PyAny>>,
        timeout: Option<u64>,
        cancel_grace: Option<u64>,
        reminder: Option<u64>,
        prompt_queueing: bool,
        foreign_methods: Option<&Bound<'_, PyAny>>,
        view: bool,
        handlers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let limits = limits.map(Bound::get);
        let mut config = config::read(role, framing, policy, policies, limits, versions, drafts, foreign_methods)?;
        (config.timeout, config.cancel_grace, config.reminder) = (timeout, cancel_grace, reminder);
        (config.prompt_queueing, config.view) = (prompt_queueing, view);
        let host = match handlers {
            Some(_) => Host::new(config, config::names("handlers", handlers)?),
            None => Host::plain(config),
        };
        Ok(Connection { host: Mutex::new(host) })
    }

    /// Takes bytes from the peer, split in any way; with the framing `messages`, exactly one message per call.
    ///
    /// Invalid content never raises: it is reported by `Violation` events.
    #[pyo3(signature = (data, /))]
    fn receive_data(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = bytes_of(data)?;
        long(data.py(), bytes.len(), &mut *self.core()?, |core| core.receive(&bytes));
        Ok(())
    }

    /// Tells the connection that the peer has closed its stream. What was received before is still processed; then all
    /// open requests end and `Closed` is the last event.
    fn receive_eof(&self) -> PyResult<()> {
        self.core()?.receive_eof();
        Ok(())
    }

    /// Returns the next event, or `None` if there is none until the next input.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut host = self.host()?;
        let mut bytes = host.connection().buffered();
        // A frame that comes in many small pieces is not worth a release of the GIL for each.
        if bytes > LONG && host.is_starved() {
            bytes = 0;
        }
        let event = long(py, bytes, &mut *host, Host::poll_event);
        let exchange = host.exchange();
        drop(host);
        event.map(|event| events::from_core(py, event, exchange)).transpose()
    }

    /// Returns an iterator over the events that are available now; it calls `next_event`.
    fn events(slf: Bound<'_, Self>) -> Events {
        Events { connection: slf.unbind() }
    }

    /// Removes and returns all bytes to write to the peer. With the framing `messages` it returns one message per call,
    /// and `b""` after the last.
    fn data_to_send<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut core = self.core()?;
        let bytes = PyBytes::new(py, core.transmit());
        core.consume(bytes.as_bytes().len());
        Ok(bytes)
    }

    /// Returns up to `limit` bytes to write to the peer without removing them; call `consume` with the number that was
    /// written. For transports with partial writes, in place of `data_to_send`.
    #[pyo3(signature = (limit=None))]
    fn transmit<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let core = self.core()?;
        let bytes = core.transmit();
        Ok(PyBytes::new(py, &bytes[..limit.unwrap_or(bytes.len()).min(bytes.len())]))
    }

    /// Removes the first `count` bytes that `transmit` returned, because they were written.
    fn consume(&self, count: usize) -> PyResult<()> {
        self.core()?.consume(count);
        Ok(())
    }

    /// Sends a request and returns its id. The request ends with exactly one `Response` event.
    ///
    /// Arguments:
    ///     `method`: the method to call.
    ///     `params`: the params; if absent, an empty object. For `initialize`, a missing `protocolVersion` is
    ///         added.
    ///     `id`: an id to use; by default the connection chooses one.
    ///     `timeout`: milliseconds from the time of the last `handle_timeout` call, in place of the timeout of
    ///         the connection; `None` for no timeout.
    ///
    /// Raises:
    ///     Misuse: if the specification forbids the call now or the params are invalid; nothing is sent.
    #[pyo3(signature = (method, params=None, *, id=IdChoice::Next, timeout=TimeoutChoice(Timeout::Configured)))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        method: &Bound<'py, PyString>,
        params: Option<&Bound<'py, PyAny>>,
        id: IdChoice,
        timeout: TimeoutChoice,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (method, params) = (method_name(method)?, json::params(params)?);
        let id = match id {
            IdChoice::Next => None,
            IdChoice::Given(id) => Some(id),
        };
        let options = CallOptions::default().id(id).timeout(timeout.0);
        let id = self.call(py, params.len(), |host| host.request_with(&method, &params, options))?;
        PyId(&id).into_pyobject(py)
    }

    /// Sends a notification. `session/cancel` also answers the session's open permission requests and elicitations with
    /// `cancelled` or `cancel`.
    ///
    /// Arguments:
    ///     `method`: the method to call.
    ///     `params`: the params; if absent, an empty object.
    ///
    /// Raises:
    ///     Misuse: if the specification forbids the call now or the params are invalid; nothing is sent.
    #[pyo3(signature = (method, params=None))]
    fn notify(&self, py: Python<'_>, method: &Bound<'_, PyString>, params: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (method, params) = (method_name(method)?, json::params(params)?);
        self.call(py, params.len(), |host| host.notify(&method, &params))
    }

    /// Sends a notification about the session that a request of the peer opens: at once if the session may be named
    /// before the answer, as while it is loaded; otherwise right after the answer, with the id that the answer gives
    /// the session, and never if the request fails. On a connection without `handlers` it is sent at once.
    ///
    /// Arguments:
    ///     `request`: the `Request` event.
    ///     `method`: the method to call.
    ///     `params`: the params without `sessionId`; if absent, an empty object.
    ///
    /// Raises:
    ///     Misuse: if it is sent at once, as `notify`.
    #[pyo3(signature = (request, method, params=None))]
    fn notify_opened(
        &self,
        py: Python<'_>,
        request: &Bound<'_, Request>,
        method: &Bound<'_, PyString>,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (method, params) = (method_name(method)?, json::params(params)?);
        let opening = request.get().serial;
        self.call(py, params.len(), |host| host.notify_opened(opening, &method, &params))
    }

    /// Answers a request of the peer with a result.
    ///
    /// Arguments:
    ///     `request`: the `Request` event, a `Cancel` or `OpenRequest` of the same request, or its id.
    ///     `result`: the result. For `initialize`, a missing `protocolVersion` is added.
    ///
    /// Raises:
    ///     Misuse: if the request is not open or the result is invalid; nothing is sent.
    fn respond(&self, py: Python<'_>, request: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let result = json::dumps(result)?;
        let request = named(request)?;
        self.call(py, result.len(), |host| host.respond(key(&request), &result))
    }

    /// Answers a request of the peer with an error. If the request is a prompt of version 1 that the client has
    /// cancelled, the stop reason `cancelled` is sent instead (`TURN-15`).
    ///
    /// Arguments:
    ///     `request`: the `Request` event, a `Cancel` or `OpenRequest` of the same request, or its id.
    ///     `code`: the error code; `ErrorCode` has those of the specification.
    ///     `message`: one short sentence.
    ///     `data`: any JSON value with details; `None` for no data.
    ///
    /// Raises:
    ///     Misuse: if the request is not open or the error is invalid; nothing is sent.
    #[pyo3(signature = (request, code, message, data=None))]
    fn respond_error(
        &self,
        py: Python<'_>,
        request: &Bound<'_, PyAny>,
        code: i32,
        message: &Bound<'_, PyString>,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let message = value::text(message, MisuseKind::Params, "")?;
        let data = data.map(json::dumps).transpose()?;
        let request = named(request)?;
        let bytes = data.as_ref().map_or(0, String::len);
        self.call(py, bytes, |host| {
            host.respond_error(key(&request), libacp::ErrorCode(code), &message, data.as_deref())
        })
    }

    /// Asks the peer to cancel a request that the host has sent (`$/cancel_request`). The request still ends with a
    /// `Response`: the peer's answer, or the outcome `cancelled` once the grace period is over. A second call for the
    /// same request sends nothing.
    ///
    /// Raises:
    ///     Misuse: if no such request of the host is open.
    fn cancel(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = value::id(id)?;
        self.call(py, 0, |host| host.cancel(&id))
    }

    /// Gives up a request that the host has sent, as nobody waits for it any more, in the way of its method: a prompt is
    /// cancelled by `session/cancel`, once; `terminal/release` is left alone; anything else is cancelled as by `cancel`.
    /// The request still ends with a `Response`. If there is no such request, nothing is done.
    fn abandon(&self, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let (id, mut host) = (value::id(id)?, self.host()?);
        match host.connection().pending_by_id(&id).map(|open| open.serial) {
            Some(serial) => host.abandon(serial),
            // A prompt that goes on after its answer, or nothing.
            None => drop(host.cancel(&id)),
        }
        Ok(())
    }

    /// Whether the next prompt of a session has to wait because an earlier one was cancelled and has not ended, which in
    /// version 1 it has to (`TURN-03`).
    fn holds_back(&self, session: &str) -> PyResult<bool> {
        Ok(self.host()?.holds_back(session))
    }

    /// Holds events back from now on while too much of what was taken waits, so that a peer that says more than is handled
    /// is slowed down: 256 notifications or 1 MiB of them that were kept, eight times as much while the peer owes an
    /// answer, 16 MiB of requests to write files, or 1 MiB of the connection's own answers that are not written.
    ///
    /// Arguments:
    ///     `max_requests`: the number of requests that are served at a time, from 1; `None` for no limit. Each of them
    ///         counts until it is `served`.
    ///
    /// Raises:
    ///     ValueError: if `max_requests` is 0.
    #[pyo3(signature = (max_requests=None))]
    fn pace(&self, max_requests: Option<usize>) -> PyResult<()> {
        if max_requests == Some(0) {
            return Err(PyValueError::new_err("max_requests: expected a number from 1"));
        }
        self.host()?.pace().start(max_requests.unwrap_or(usize::MAX));
        Ok(())
    }

    /// Whether chunks of messages and thoughts are merged while they wait to be written, as `libacp.aio` does it: text is
    /// joined, and whatever differs in more than its text is not merged.
    #[pyo3(signature = (merges, /))]
    fn merge_chunks(&self, merges: bool) -> PyResult<()> {
        self.host()?.merge_chunks(merges);
        Ok(())
    }

    /// Whether a message can be sent at once, or has to wait until the transport has taken more.
    #[getter]
    fn has_room(&self) -> PyResult<bool> {
        Ok(self.host()?.has_room())
    }

    /// Whether `next_event` has returned `None` because too much waits.
    #[getter]
    fn paused(&self) -> PyResult<bool> {
        Ok(self.host()?.pace().is_paused())
    }

    /// Counts something that waits for its handler: a notification, or `None` for what has no size. Returns its size, for
    /// `take`.
    #[pyo3(signature = (notification, /))]
    fn keep(&self, notification: Option<&Bound<'_, Notification>>) -> PyResult<usize> {
        let size = notification.map_or(0, |notification| notification.get().size());
        self.host()?.pace().keep(size);
        Ok(size)
    }

    /// What was kept was handed over, and `last` says whether nothing is left where it waited. Returns whether it is time
    /// to take events again.
    #[pyo3(signature = (size, last, /))]
    fn take(&self, size: usize, last: bool) -> PyResult<bool> {
        Ok(self.host()?.pace().take(size, last))
    }

    /// A request of the peer was served, and its answer is written. Returns whether it is time to take events again.
    #[pyo3(signature = (request, /))]
    fn served(&self, request: &Bound<'_, Request>) -> PyResult<bool> {
        Ok(self.host()?.pace().end(request.get().serial))
    }

    /// Closes the connection from this side. Open permission requests and elicitations are answered with `cancelled` or
    /// `cancel`, open requests of the host end with the outcome `closed`, and bytes that are queued can still be sent.
    fn close(&self) -> PyResult<()> {
        self.host()?.close();
        Ok(())
    }

    /// Sets the current time, in milliseconds on a monotonic clock of the host. Requests whose deadline has passed end
    /// with the outcome `timeout`, and due reminders are reported as `Advice`.
    fn handle_timeout(&self, now: u64) -> PyResult<()> {
        self.host()?.handle_timeout(now);
        Ok(())
    }

    /// The time at which to call `handle_timeout` next, on the host's clock in milliseconds; `None` if there is no
    /// deadline.
    fn poll_timeout(&self) -> PyResult<Option<u64>> {
        Ok(self.host()?.poll_timeout())
    }

    /// Whether the version, the role, the phase and the capabilities allow a method to be called now. `method:part`
    /// asks about an optional part of it, such as `session/prompt:image`.
    fn can(&self, method: &Bound<'_, PyString>) -> PyResult<bool> {
        let method = method_name(method)?;
        Ok(self.host()?.can(&method))
    }

    /// The `Misuse` that `can` is about, as the call would raise it; `None` if the method can be called now.
    fn why_not<'py>(&self, py: Python<'py>, method: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let method = method_name(method)?;
        let misuse = self.host()?.why_not(&method);
        misuse.map(|misuse| errors::from_core(py, &misuse)).transpose()
    }

    fn __repr__(&self) -> PyResult<String> {
        let core = self.core()?;
        let version = core.version().map_or_else(String::new, |version| format!(" version={version}"));
        let (role, phase) = (core.role().name(), core.phase().name());
        let (pending, unanswered) = (core.pending().count(), core.unanswered().count());
        Ok(format!("<libacp.Connection {role} {phase}{version} pending={pending} unanswered={unanswered}>"))
    }
}

/// The iterator that `Connection.events` returns.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Events {
    connection: Py<Connection>,
}

#[pymethods]
impl Events {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.connection.get().next_event(py)
    }
}
