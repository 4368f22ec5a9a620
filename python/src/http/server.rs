//! The class `Server`.

use std::sync::{Mutex, MutexGuard};

use libacp::http::{ConnectionKey, Request, SendError, Server as Core, ServerOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::{borrowed, headers, message, misuse, object, options};
use crate::connection::{bytes_of, locked, long};

/// A server of the remote transports, Streamable HTTP and WebSocket, for any number of connections. It does no I/O: the
/// host passes in heads, bodies, frames and the time, and takes out responses, streams, frames and events.
/// `libacp.http.asgi` does that for any ASGI server.
///
/// The host gives each request and each WebSocket a number, the exchange. After each call that passes something in, take
/// events with `poll_event` until it returns `None`, then ask `poll_timeout` when to call `handle_timeout`.
///
/// A call while another thread is inside of one raises `RuntimeError` and changes nothing.
///
/// Arguments:
///     `options`: a mapping with any of `path`, `hosts`, `origins`, `token`, `prefix`, `strict`, `tolerates`, `limits` and
///         `times` (milliseconds); see `libacp.http.ServerOptions`.
///
/// Raises:
///     ValueError: for an option that does not exist, or has no such value.
#[pyclass(frozen, module = "libacp.http")]
pub(crate) struct Server(Mutex<Core>);

impl Server {
    fn core(&self) -> PyResult<MutexGuard<'_, Core>> {
        locked(&self.0, "Server")
    }
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (options=None))]
    fn new(options: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let options = self::options(options, |json| ServerOptions::from_json(json).map_err(|why| why.to_string()))?;
        Ok(Server(Mutex::new(Core::new(options))))
    }

    /// Adds random bytes from the operating system, of which ids of connections are made: 16 for each.
    #[pyo3(signature = (data, /))]
    fn add_entropy(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        self.core()?.add_entropy(&bytes_of(data)?);
        Ok(())
    }

    /// How many random bytes there is room for; 0 while there are enough.
    fn wants_entropy(&self) -> PyResult<usize> {
        Ok(self.core()?.wants_entropy())
    }

    /// The number of open connections.
    #[getter]
    fn connections(&self) -> PyResult<usize> {
        Ok(self.core()?.connections())
    }

    /// The value of `Acp-Connection-Id` of a connection; `None` if there is no such connection.
    fn connection_id(&self, connection: u64) -> PyResult<Option<String>> {
        Ok(self.core()?.connection_id(ConnectionKey::from_number(connection)).map(str::to_owned))
    }

    /// Takes the head of a request, and says what to do with it.
    ///
    /// With HTTP/2, `:authority` is passed as a header `host`, and an extended CONNECT for WebSocket as a `GET` with the
    /// headers of a handshake.
    ///
    /// Arguments:
    ///     `exchange`: a number for the request that no other one has.
    ///     `method`: the method, as in `POST`.
    ///     `target`: the path with its query.
    ///     `headers`: pairs of a name and a value, each `str` or `bytes`; or a mapping.
    fn request<'py>(
        &self,
        py: Python<'py>,
        exchange: u64,
        method: &str,
        target: &str,
        headers: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let list = self::headers(headers)?;
        let step = self.core()?.request(exchange, &Request::new(method, target, &borrowed(&list)));
        object(py, &step)
    }

    /// Takes a piece of the body of a request, and says what to do next.
    fn body<'py>(
        &self,
        py: Python<'py>,
        exchange: u64,
        data: &Bound<'py, PyAny>,
        end: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = bytes_of(data)?;
        let step = long(py, bytes.len(), &mut *self.core()?, |core| core.body(exchange, &bytes, end));
        object(py, &step)
    }

    /// Takes a text frame of a WebSocket.
    fn text(&self, py: Python<'_>, exchange: u64, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = message(text)?;
        long(py, text.len(), &mut *self.core()?, |core| core.text(exchange, &text));
        Ok(())
    }

    /// Notes a binary frame of a WebSocket, which is ignored (`WS-04`).
    fn binary(&self, exchange: u64) -> PyResult<()> {
        self.core()?.binary(exchange);
        Ok(())
    }

    /// Notes a pong or a ping: the client is alive.
    fn pong(&self, exchange: u64) -> PyResult<()> {
        self.core()?.pong(exchange);
        Ok(())
    }

    /// An exchange is over: its connection broke, or the end of its stream was written. What a reader did not take of a
    /// stream waits for the next one.
    fn closed(&self, exchange: u64) -> PyResult<()> {
        self.core()?.closed(exchange);
        Ok(())
    }

    /// Returns the next event, or `None` if there is none until the next input.
    fn poll_event<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let event = self.core()?.poll_event();
        event.map(|event| object(py, &event)).transpose()
    }

    /// Returns up to `limit` bytes to write on a stream without removing them; call `consume` with the number that was
    /// written.
    #[pyo3(signature = (exchange, limit=None))]
    fn transmit<'py>(&self, py: Python<'py>, exchange: u64, limit: Option<usize>) -> PyResult<Bound<'py, PyBytes>> {
        let core = self.core()?;
        let bytes = core.transmit(exchange);
        Ok(PyBytes::new(py, &bytes[..limit.unwrap_or(bytes.len()).min(bytes.len())]))
    }

    /// Removes the first `count` bytes that `transmit` returned, because they were written.
    fn consume(&self, exchange: u64, count: usize) -> PyResult<()> {
        self.core()?.consume(exchange, count);
        Ok(())
    }

    /// Removes and returns the next frame to send on a WebSocket; `None` if there is none.
    fn frame<'py>(&self, py: Python<'py>, exchange: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let frame = self.core()?.frame(exchange);
        frame.map(|frame| object(py, &frame)).transpose()
    }

    /// Sends a message of an agent to its client.
    ///
    /// Returns `None` if it was taken, `full` if too much waits for the client (send it again after the event `drained`),
    /// and `closed` if the connection is over.
    ///
    /// Raises:
    ///     Misuse: if it cannot be sent at all.
    fn send<'py>(
        &self,
        py: Python<'py>,
        connection: u64,
        json: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let json = message(json)?;
        let key = ConnectionKey::from_number(connection);
        match long(py, json.len(), &mut *self.core()?, |core| core.send(key, &json)) {
            Ok(()) => Ok(None),
            Err(SendError::Full) => Ok(Some(pyo3::intern!(py, "full").clone())),
            Err(SendError::Misuse { rule, message }) => Err(misuse(py, rule, message)),
            Err(_) => Ok(Some(pyo3::intern!(py, "closed").clone())),
        }
    }

    /// Ends a connection, because its agent is gone or the server stops.
    fn close(&self, connection: u64) -> PyResult<()> {
        self.core()?.close(ConnectionKey::from_number(connection));
        Ok(())
    }

    /// Ends a connection as `close` does, because its agent has failed: the client's open calls are first answered with an error
    /// that says why, as far as the client reads. `initialize` is answered like that with status 200 and without the id of a
    /// connection (HTTP-03), as an agent that refuses it does; the outcome of other calls is unknown. `why` is the text of the
    /// error.
    fn fail(&self, connection: u64, why: &str) -> PyResult<()> {
        self.core()?.fail(ConnectionKey::from_number(connection), why);
        Ok(())
    }

    /// Holds back the messages of a client, or goes on with them: for agents that are slower than their clients.
    fn pause(&self, connection: u64, paused: bool) -> PyResult<()> {
        self.core()?.pause(ConnectionKey::from_number(connection), paused);
        Ok(())
    }

    /// Whether to read more from the socket of an exchange. False while its agent has too much to read.
    fn is_hungry(&self, exchange: u64) -> PyResult<bool> {
        Ok(self.core()?.is_hungry(exchange))
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
}
