//! The server, as its clients see it. What its agents do is in `http_agents`.

use libacp::http::{ConnectionKey, Event, Request, Server, ServerOptions};

use crate::border::{acp_slice, acp_status, change, free, make, output, read, Handle, ACP_INVALID_ARGUMENT, ACP_NONE};
use crate::http::{acp_header, lossy, outputs, problem, with_headers, Told};
use crate::values::acp_string;

/// A server of the remote transports, Streamable HTTP and WebSocket, a draft of the specification, for any number of
/// connections. It does no I/O: the host speaks HTTP with a library of its choice, passes in heads, bodies, frames and the
/// time, and takes out responses, streams, frames and events.
///
/// The host gives each request and each WebSocket a number of its choice, the exchange. Each connection has an agent, which
/// the host starts when it is opened. After each call that passes something in, take events with
/// `acp_http_server_poll_event` until there are none, then ask `acp_http_server_poll_timeout` when to call
/// `acp_http_server_handle_timeout`.
pub struct acp_http_server {
    pub(crate) core: Server,
    pub(crate) told: Told,
}

impl Handle for acp_http_server {
    const TAG: u64 = u64::from_le_bytes(*b"acphserv");
}

/// Changes a server in a way that cannot fail.
///
/// # Safety
/// As for [`change`].
pub(crate) unsafe fn tell(server: *mut acp_http_server, work: impl FnOnce(&mut Server)) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(server, |server| {
            work(&mut server.core);
            Ok(())
        })
    }
}

/// Creates a server without connections. It needs randomness before it opens the first one: `acp_http_server_add_entropy`.
///
/// - `options`: JSON text of an object; `{}` for the defaults: the path `/acp`, for this machine alone. Its members are
///   `path`, `token` (what each request has to carry, HTTP-25), `prefix` (of the ids of connections), `hosts` and
///   `origins` (who is served besides this machine and its own pages, HTTP-23, HTTP-24), `any_host`, `strict`, `tolerates`, `limits`
///   (`body`, `bodies`, `headers`, `header_bytes`, `connections`, `sessions`, `early_streams`, `calls`, `stream`, `unread`,
///   `retained`, `inbox`, `remembered`: numbers, HTTP-27) and `times` (`keep_alive`, `idle`, `body`, `initialize`, `stall`,
///   `blocking`, `replay`, `remember`: milliseconds, HTTP-28)
/// - `*out`: the server; the caller owns it and frees it with `acp_http_server_free`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the options cannot be used, of which
///   `acp_http_server_options_error` says why; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_http_server_new(options: acp_slice, out: *mut *mut acp_http_server) -> acp_status {
    // SAFETY: `options` and `out` are as the header requires.
    unsafe {
        make(out, || {
            let options = ServerOptions::from_json(options.text()?).map_err(|_| ACP_INVALID_ARGUMENT)?;
            Ok(acp_http_server { core: Server::new(options), told: Told::default() })
        })
    }
}

/// Says why options cannot be used.
///
/// - `options`: what `acp_http_server_new` is given
/// - `*out`: what is wrong, after a JSON pointer that says where; the caller owns it and frees it with `acp_string_free`
/// - returns: `ACP_OK`; `ACP_NONE` if the options can be used; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_options_error(options: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: `options` and `out` are as the header requires.
    unsafe { problem(options, out, ServerOptions::from_json) }
}

/// Frees a server. Slices that came from it are no longer valid.
///
/// - `server`: the server; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_free(server: *mut acp_http_server) {
    // SAFETY: `server` is as the header requires.
    unsafe { free(server) }
}

/// Adds random bytes from the operating system, of which ids of connections are made: 16 for each. What is more than 1 KiB
/// is not kept.
///
/// - `server`: the server
/// - `bytes`: the bytes; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_add_entropy(server: *mut acp_http_server, bytes: acp_slice) -> acp_status {
    // SAFETY: `server` and `bytes` are as the header requires.
    unsafe {
        change(server, |server| {
            server.core.add_entropy(bytes.bytes()?);
            Ok(())
        })
    }
}

/// Gets how many random bytes there is room for.
///
/// - `server`: the server
/// - `*out`: bytes; 0 while there are enough for 16 connections
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_wants_entropy(server: *const acp_http_server, out: *mut usize) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| Some(server.core.wants_entropy())) }
}

/// Gets the number of open connections.
///
/// - `server`: the server
/// - `*out`: how many they are
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_connections(server: *const acp_http_server, out: *mut usize) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| Some(server.core.connections())) }
}

/// Gets the value of `Acp-Connection-Id` of a connection. It is no secret that proves anything (HTTP-20), but who knows it
/// can use the connection.
///
/// - `server`: the server
/// - `connection`: the connection's number, from an event
/// - `*out`: the id; valid until the next call that changes the server
/// - returns: `ACP_OK`; `ACP_NONE` if there is no such connection; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_connection_id(
    server: *const acp_http_server,
    connection: u64,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| server.core.connection_id(key(connection)).map(acp_slice::from)) }
}

/// Takes the head of a request, and says what to do with it: a step.
///
/// A step is an object whose `step` is one of
///
/// - `respond`: send `status`, `headers` (a list of pairs of a name and a value) and `body` (empty for none). The server
///   has forgotten the exchange
/// - `body`: read the body, of at most `limit` more bytes, and pass it to `acp_http_server_body`
/// - `wait`: the response comes by the event `respond`
/// - `stream`: send `status` and `headers` and keep the body open; its bytes are at `acp_http_server_transmit`
/// - `upgrade`: accept the WebSocket with `headers`; its frames are at `acp_http_server_frame`
///
/// With HTTP/2, `:authority` is passed as a header `host`, and an extended CONNECT for WebSocket as a `GET` with the
/// headers of a handshake.
///
/// - `server`: the server
/// - `exchange`: a number for the request that no other one has
/// - `method`: the method, as in `POST`; need not be UTF-8
/// - `target`: the path with its query; need not be UTF-8
/// - `headers`: the headers
/// - `len`: how many they are
/// - `*out`: the step, JSON text; valid until the next call that changes the server
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_request(
    server: *mut acp_http_server,
    exchange: u64,
    method: acp_slice,
    target: acp_slice,
    headers: *const acp_header,
    len: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server`, `method`, `target`, `headers` and `out` are as the header requires.
    unsafe {
        change(server, |server| {
            let (method, target) = (lossy(method)?, lossy(target)?);
            output(out, || {
                let core = &mut server.core;
                let step =
                    with_headers(headers, len, |list| core.request(exchange, &Request::new(&method, &target, list)))?;
                Ok(server.told.step(&step))
            })
        })
    }
}

/// Takes a piece of the body of a request, and says what to do next.
///
/// - `server`: the server
/// - `exchange`: the number of the request
/// - `bytes`: the piece; copied
/// - `end`: whether it is the last one
/// - `*out`: a step, as `acp_http_server_request` says, JSON text; valid until the next call that changes the server
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_body(
    server: *mut acp_http_server,
    exchange: u64,
    bytes: acp_slice,
    end: bool,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server`, `bytes` and `out` are as the header requires.
    unsafe {
        change(server, |server| {
            let bytes = bytes.bytes()?;
            output(out, || {
                let step = server.core.body(exchange, bytes, end);
                Ok(server.told.step(&step))
            })
        })
    }
}

/// Takes a text frame of a WebSocket.
///
/// - `server`: the server
/// - `exchange`: the number of the WebSocket
/// - `text`: the text; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_text(
    server: *mut acp_http_server,
    exchange: u64,
    text: acp_slice,
) -> acp_status {
    // SAFETY: `server` and `text` are as the header requires.
    unsafe {
        change(server, |server| {
            server.core.text(exchange, text.text()?);
            Ok(())
        })
    }
}

/// Notes a binary frame of a WebSocket, which is ignored (WS-04).
///
/// - `server`: the server
/// - `exchange`: the number of the WebSocket
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_binary(server: *mut acp_http_server, exchange: u64) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.binary(exchange)) }
}

/// Notes a pong or a ping: the client is alive. Libraries that answer pings by themselves tell of it as well.
///
/// - `server`: the server
/// - `exchange`: the number of the WebSocket
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_pong(server: *mut acp_http_server, exchange: u64) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.pong(exchange)) }
}

/// Tells that an exchange is over: its connection broke, or the end of its stream was written. What a reader did not take
/// of a stream waits for the next one.
///
/// - `server`: the server
/// - `exchange`: the number of the request or the WebSocket
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_closed(server: *mut acp_http_server, exchange: u64) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.closed(exchange)) }
}

/// Takes the next event. Call it until it returns `ACP_NONE`.
///
/// An event is an object whose `event` is one of
///
/// - `opened`: a client has opened `connection`; start an agent for it
/// - `message`: a message of a client for the agent of `connection`. It stands in `*text`, and `json` is empty
/// - `closed`: `connection` is over, and nothing more comes from it; `why` is `client`, `host`, `not-initialized`, `idle`,
///   `stalled` or `protocol`
/// - `respond`: the response to `exchange`, for which the step was `wait`; `response` has `status`, `headers` and `body`
/// - `ready`: there are bytes to write on the stream `exchange`, or frames to send on that WebSocket
/// - `finish`: the stream `exchange` ends: write what is left, end the body and call `acp_http_server_closed`
/// - `drained`: after `ACP_HTTP_FULL`, there is room again in `connection`
/// - `violation`: a client broke `rule`; `message` says how, `status` is what it got, null if it was accepted, and
///   `exchange` and `connection` say where, null if that is not known
/// - `advice`: the agent did what is allowed and will not work well; the members are those of `violation`
///
/// - `server`: the server
/// - `*out`: the event, JSON text; valid until the next call that changes the server
/// - `*text`: the text of a message, empty for other events; valid as long
/// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_poll_event(
    server: *mut acp_http_server,
    out: *mut acp_slice,
    text: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server`, `out` and `text` are as the header requires.
    unsafe {
        change(server, |server| {
            outputs(out, text, || {
                let mut event = server.core.poll_event().ok_or(ACP_NONE)?;
                let text =
                    if let Event::Message { json, .. } = &mut event { std::mem::take(json) } else { String::new() };
                Ok(server.told.keep(&event, text))
            })
        })
    }
}

/// Gets the bytes to write on a stream. They stay there until `acp_http_server_consume` removes them.
///
/// - `server`: the server
/// - `exchange`: the number of the request that reads the stream
/// - `*out`: the bytes, empty if there are none; valid until the next call that changes the server
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_transmit(
    server: *const acp_http_server,
    exchange: u64,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| Some(server.core.transmit(exchange).into())) }
}

/// Removes bytes from the front of `acp_http_server_transmit` after they were written. Partial writes are normal.
///
/// - `server`: the server
/// - `exchange`: the number of the request that reads the stream
/// - `count`: how many bytes were written; more than there are counts as all of them
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_consume(
    server: *mut acp_http_server,
    exchange: u64,
    count: usize,
) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.consume(exchange, count)) }
}

/// Takes the next frame to send on a WebSocket. Call it until it returns `ACP_NONE`.
///
/// A frame is an object whose `frame` is `text` (its text stands in `*text`, and the member `text` is empty), `ping`, or
/// `close`, with `code` and `reason`.
///
/// - `server`: the server
/// - `exchange`: the number of the WebSocket
/// - `*out`: the frame, JSON text; valid until the next call that changes the server
/// - `*text`: the text of a text frame, empty for others; valid as long
/// - returns: `ACP_OK`; `ACP_NONE` if there is no frame now; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_frame(
    server: *mut acp_http_server,
    exchange: u64,
    out: *mut acp_slice,
    text: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server`, `out` and `text` are as the header requires.
    unsafe {
        change(server, |server| {
            outputs(out, text, || {
                let frame = server.core.frame(exchange).ok_or(ACP_NONE)?;
                Ok(server.told.frame(frame))
            })
        })
    }
}

/// Gets whether to read more from the socket of an exchange.
///
/// - `server`: the server
/// - `exchange`: the number of the request or the WebSocket
/// - `*out`: false while its agent has too much to read
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_is_hungry(
    server: *const acp_http_server,
    exchange: u64,
    out: *mut bool,
) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| Some(server.core.is_hungry(exchange))) }
}

/// Sets the current time, and does what is due.
///
/// - `server`: the server
/// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the clock
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_handle_timeout(server: *mut acp_http_server, now: u64) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.handle_timeout(now)) }
}

/// Gets when to call `acp_http_server_handle_timeout` next.
///
/// - `server`: the server
/// - `*out`: milliseconds on the host's clock; may be in the past
/// - returns: `ACP_OK`; `ACP_NONE` if nothing is waited for; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_poll_timeout(server: *const acp_http_server, out: *mut u64) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| server.core.poll_timeout()) }
}

pub(crate) fn key(connection: u64) -> ConnectionKey {
    ConnectionKey::from_number(connection)
}
