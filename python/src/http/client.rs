//! The class `Client`.

use std::sync::{Mutex, MutexGuard};

use libacp::http::{Client as Core, ClientOptions, ClientSendError, Lost};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::{borrowed, headers, message, misuse, object, options};
use crate::connection::{bytes_of, locked, long};
use crate::value;

/// A client of the remote transports, for one server. It does no I/O: the host makes the requests that `poll_action` asks
/// for, and passes in what comes of them. `libacp.aio.connect` does that with httpx and websockets.
///
/// The host sends messages as to an agent on a pipe, beginning with `initialize`. After each call, take actions with
/// `poll_action` until it returns `None`, then ask `poll_timeout` when to call `handle_timeout`.
///
/// A call while another thread is inside of one raises `RuntimeError` and changes nothing.
///
/// Arguments:
///     `options`: a mapping with any of `target`, `host`, `secure`, `websocket`, `reconnect`, `resumable`, `strict`,
///         `tolerates`, `limits` and `times` (milliseconds); see `libacp.http.ClientOptions`.
///     `seed`: a number that differs between clients; it spreads their attempts to reconnect.
///
/// Raises:
///     ValueError: for an option that does not exist, or has no such value.
#[pyclass(frozen, module = "libacp.http")]
pub(crate) struct Client(Mutex<Core>);

impl Client {
    fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        locked(&self.0, "Client")
    }
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (options=None, *, seed=0))]
    fn new(options: Option<&Bound<'_, PyAny>>, seed: u64) -> PyResult<Self> {
        let options = self::options(options, |json| ClientOptions::from_json(json).map_err(|why| why.to_string()))?;
        Ok(Client(Mutex::new(Core::new(options, seed))))
    }

    /// Sets a header of all requests from now on, such as `authorization`; its former value is replaced.
    ///
    /// Raises:
    ///     ValueError: if the name or the value cannot be those of a header.
    fn set_header(&self, name: &str, value: &str) -> PyResult<()> {
        if self.core()?.set_header(name, value) {
            return Ok(());
        }
        Err(PyValueError::new_err("this cannot be the name, or the value, of a header"))
    }

    /// Returns the next thing to do, or that has happened; `None` if there is none until the next input.
    fn poll_action<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let action = self.core()?.poll_action();
        action.map(|action| object(py, &action)).transpose()
    }

    /// Whether `send` takes more; false while too much waits to be sent.
    fn is_hungry(&self) -> PyResult<bool> {
        Ok(self.core()?.is_hungry())
    }

    /// The value of `Acp-Connection-Id`; `None` while there is no connection.
    #[getter]
    fn connection_id(&self) -> PyResult<Option<String>> {
        Ok(self.core()?.connection_id().map(str::to_owned))
    }

    /// Sends a message.
    ///
    /// Returns `None` if it was taken, `full` if too much waits to be sent (try again when `is_hungry` says so), and
    /// `closed` if the conversation is over.
    ///
    /// Raises:
    ///     Misuse: if it cannot be sent.
    #[pyo3(signature = (json, /))]
    fn send<'py>(&self, py: Python<'py>, json: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
        let json = message(json)?;
        match long(py, json.len(), &mut *self.core()?, |core| core.send(&json)) {
            Ok(()) => Ok(None),
            Err(ClientSendError::Full) => Ok(Some(pyo3::intern!(py, "full").clone())),
            Err(ClientSendError::Misuse { rule, message }) => Err(misuse(py, rule, message)),
            Err(_) => Ok(Some(pyo3::intern!(py, "closed").clone())),
        }
    }

    /// Takes the head of the response to a request, or of the handshake of a WebSocket (status 101).
    ///
    /// Arguments:
    ///     `exchange`: the number of the request.
    ///     `status`: the status.
    ///     `headers`: pairs of a name and a value, each `str` or `bytes`; or a mapping.
    fn response(&self, exchange: u64, status: u16, headers: &Bound<'_, PyAny>) -> PyResult<()> {
        let list = self::headers(headers)?;
        self.core()?.response(exchange, status, &borrowed(&list));
        Ok(())
    }

    /// Takes bytes of the body of a response, split in any way.
    fn data(&self, py: Python<'_>, exchange: u64, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = bytes_of(data)?;
        long(py, bytes.len(), &mut *self.core()?, |core| core.data(exchange, &bytes));
        Ok(())
    }

    /// A response, or a WebSocket, has ended.
    fn end(&self, exchange: u64) -> PyResult<()> {
        self.core()?.end(exchange);
        Ok(())
    }

    /// A request came to nothing: there was no connection, or it broke. `sent` is false if the server cannot have any of
    /// it.
    fn failed(&self, exchange: u64, sent: bool) -> PyResult<()> {
        self.core()?.failed(exchange, sent);
        Ok(())
    }

    /// Takes a text frame of the WebSocket.
    fn text(&self, py: Python<'_>, exchange: u64, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = message(text)?;
        long(py, text.len(), &mut *self.core()?, |core| core.text(exchange, &text));
        Ok(())
    }

    /// Notes a binary frame of the WebSocket, which is ignored (`WS-04`).
    fn binary(&self, exchange: u64) -> PyResult<()> {
        self.core()?.binary(exchange);
        Ok(())
    }

    /// Tells the code with which the server closed the WebSocket (RFC 6455, 7.4), which the action `lost` then names.
    fn closed(&self, exchange: u64, code: u16) -> PyResult<()> {
        self.core()?.closed(exchange, code);
        Ok(())
    }

    /// Goes on after the action `unauthorized`, with the headers that were set meanwhile.
    fn retry(&self) -> PyResult<()> {
        self.core()?.retry();
        Ok(())
    }

    /// Ends the conversation: `DELETE` (`HTTP-14`), or the end of the WebSocket.
    fn close(&self) -> PyResult<()> {
        self.core()?.close();
        Ok(())
    }

    /// Sets the time: milliseconds on a monotonic clock of the host's choice.
    fn handle_timeout(&self, now: u64) -> PyResult<()> {
        self.core()?.handle_timeout(now);
        Ok(())
    }

    /// When to call `handle_timeout` next; `None` if nothing is waited for.
    fn poll_timeout(&self) -> PyResult<Option<u64>> {
        Ok(self.core()?.poll_timeout())
    }

    /// An error answer for a call whose outcome is unknown (`HTTP-18`), for hosts that need an answer to each call of the
    /// action `lost`.
    #[staticmethod]
    fn lost_answer(id: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(Lost::answer(&value::id(id)?))
    }
}
