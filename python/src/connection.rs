//! The class `Connection`: the core's connection behind a lock that is tried and never waited for. What can be asked of it
//! stands in `getters`.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, TryLockError};

use libacp::connection::{CallOptions, MisuseKind, RequestKey, Timeout};
use libacp::{Connection as Core, Id};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::config::{self, Limits};
use crate::errors;
use crate::events::{self, Cancel, Request};
use crate::json;
use crate::known::OpenRequest;
use crate::value::{self, IdChoice, PyId, TimeoutChoice};

/// Work on more bytes than this is done without the GIL.
const LONG: usize = 64 * 1024;

/// One peer, seen from one side.
///
/// The drain order after anything went in (bytes, end of stream, time, a call of the host's): `next_event` until it
/// returns `None`, then write what `data_to_send` returns, then ask `poll_timeout` when to come back.
///
/// One thread at a time: a call while another thread is inside one raises `RuntimeError` and changes nothing.
#[pyclass(frozen, module = "libacp")]
pub(crate) struct Connection {
    core: Mutex<Core>,
}

impl Connection {
    /// The core, unless another thread is inside of it.
    pub(crate) fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        locked(&self.core, "Connection")
    }

    /// Does something with the core; without the GIL when it is long.
    fn with<T: Send>(&self, py: Python<'_>, bytes: usize, work: impl FnOnce(&mut Core) -> T + Send) -> PyResult<T> {
        Ok(long(py, bytes, &mut *self.core()?, work))
    }

    /// The same for a call that can be refused.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut Core) -> Result<T, libacp::Misuse> + Send,
    ) -> PyResult<T> {
        self.with(py, bytes, work)?.map_err(|misuse| errors::misuse(py, &misuse))
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
        drafts=None, timeout=None, cancel_grace=10000, reminder=None, prompt_queueing=false, foreign_methods=None))]
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
    ) -> PyResult<Self> {
        let limits = limits.map(Bound::get);
        let mut config = config::read(role, framing, policy, policies, limits, versions, drafts, foreign_methods)?;
        (config.timeout, config.cancel_grace, config.reminder) = (timeout, cancel_grace, reminder);
        config.prompt_queueing = prompt_queueing;
        Ok(Connection { core: Mutex::new(Core::new(config)) })
    }

    /// Takes bytes from the peer, in any split (with the framing `messages`: one message a call). Never fails for what
    /// is in them; what is wrong becomes events.
    #[pyo3(signature = (data, /))]
    fn receive_data(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = bytes_of(data)?;
        self.with(data.py(), bytes.len(), |core| core.receive(&bytes))
    }

    /// The peer has closed its side: what was received is still read, then everything open ends.
    fn receive_eof(&self) -> PyResult<()> {
        self.core()?.receive_eof();
        Ok(())
    }

    /// The next thing that the host must know, or `None`.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let mut core = self.core()?;
        let buffered = core.buffered();
        // A frame that comes in many small pieces is not worth a release of the GIL for each.
        if buffered > LONG && core.is_starved() {
            return Ok(None);
        }
        let event = long(py, buffered, &mut *core, Core::poll_event);
        drop(core);
        event.map(|event| events::from_core(py, event)).transpose()
    }

    /// The events that are there now, until there are none.
    fn events(slf: Bound<'_, Self>) -> Events {
        Events { connection: slf.unbind() }
    }

    /// All bytes for the peer, which count as written from now on. With the framing `messages`: one message; call
    /// until it returns nothing.
    fn data_to_send<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut core = self.core()?;
        let bytes = PyBytes::new(py, core.transmit());
        core.consume(bytes.as_bytes().len());
        Ok(bytes)
    }

    /// Bytes for the peer, at most `limit` of them, which go on waiting until they are consumed.
    #[pyo3(signature = (limit=None))]
    fn transmit<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let core = self.core()?;
        let bytes = core.transmit();
        Ok(PyBytes::new(py, &bytes[..limit.unwrap_or(bytes.len()).min(bytes.len())]))
    }

    /// Takes `count` bytes of `transmit` as written; partial writes are normal.
    fn consume(&self, count: usize) -> PyResult<()> {
        self.core()?.consume(count);
        Ok(())
    }

    /// Sends a request and returns its id; the answer comes as one `Response`.
    ///
    /// For `initialize`, `protocolVersion` is filled in when it is left out. `timeout` is in milliseconds from the time
    /// that was last told; `None` waits for ever, also where the connection has a time-out. Raises `Misuse` when the call
    /// is not allowed now; nothing is sent then.
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
        let id = self.call(py, params.len(), |core| core.request_with(&method, &params, options))?;
        PyId(&id).into_pyobject(py)
    }

    /// Sends a notification. `session/cancel` also answers the session's open permission requests with `cancelled`.
    ///
    /// Raises `Misuse` when it is not allowed now; nothing is sent then.
    #[pyo3(signature = (method, params=None))]
    fn notify(&self, py: Python<'_>, method: &Bound<'_, PyString>, params: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let (method, params) = (method_name(method)?, json::params(params)?);
        self.call(py, params.len(), |core| core.notify(&method, &params))
    }

    /// Answers a request of the peer's, named by its event or its id. For `initialize`, `protocolVersion` is filled in
    /// when it is left out.
    ///
    /// Raises `Misuse` when no such request is open or the result does not fit; nothing is sent then.
    fn respond(&self, py: Python<'_>, request: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let result = json::dumps(result)?;
        let request = named(request)?;
        self.call(py, result.len(), |core| core.respond(key(&request), &result))
    }

    /// Answers a request of the peer's with an error. The error of a prompt that the client has cancelled is sent as
    /// the stop reason `cancelled`.
    ///
    /// Raises `Misuse` when no such request is open; nothing is sent then.
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
        self.call(py, bytes, |core| {
            core.respond_error(key(&request), libacp::ErrorCode(code), &message, data.as_deref())
        })
    }

    /// Asks the peer to cancel a request of the host's own (`$/cancel_request`). Its answer still comes, whatever it
    /// is. Asking twice sends nothing more.
    fn cancel(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = value::id(id)?;
        self.call(py, 0, |core| core.cancel(&id))
    }

    /// Ends the connection from this side: permission requests that are open are answered `cancelled`, own requests
    /// end as `closed`, and what waits can still be sent.
    fn close(&self) -> PyResult<()> {
        self.core()?.close();
        Ok(())
    }

    /// Tells the time, in milliseconds on a clock of the host's own that does not run backwards. Requests whose time
    /// is up end as `timeout`, and of the peer's that wait too long the host is reminded by an `Advice`.
    fn handle_timeout(&self, now: u64) -> PyResult<()> {
        self.core()?.handle_timeout(now);
        Ok(())
    }

    /// When `handle_timeout` is wanted, on the host's clock.
    fn poll_timeout(&self) -> PyResult<Option<u64>> {
        Ok(self.core()?.poll_timeout())
    }

    /// Whether a method could be sent now as far as version, side, phase and capabilities go.
    fn can(&self, method: &Bound<'_, PyString>) -> PyResult<bool> {
        let method = method_name(method)?;
        Ok(self.core()?.can(&method))
    }

    /// Why a method could not be sent now, as the `Misuse` that the call would raise; `None` when it could.
    fn why_not<'py>(&self, py: Python<'py>, method: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let method = method_name(method)?;
        let misuse = self.core()?.why_not(&method);
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

/// The iterator of `Connection.events`.
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
