//! The server, as its agents see it: what they send, and how their connections end.

use libacp::http::SendError;

use crate::border::{acp_slice, acp_status, change, output, read};
use crate::http::{ACP_HTTP_CLOSED, ACP_HTTP_FULL, ACP_HTTP_SENT};
use crate::http_server::{acp_http_server, key, tell};

/// Sends a message of an agent to its client.
///
/// - `server`: the server
/// - `connection`: the connection's number, from an event
/// - `json`: the message, JSON text; copied
/// - `*out`: `ACP_HTTP_SENT`; `ACP_HTTP_FULL` if too much waits for the client: send the message again after the event
///   `drained`, and read nothing from the agent until then; or `ACP_HTTP_CLOSED` if the connection is over
/// - returns: `ACP_OK`; `ACP_MISUSE` if the message cannot be sent at all: it is no message (RPC-21, RPC-22), a batch
///   (HTTP-15), or an answer to no call of the client (HTTP-11); or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_http_server_send(
    server: *mut acp_http_server,
    connection: u64,
    json: acp_slice,
    out: *mut i32,
) -> acp_status {
    // SAFETY: `server`, `json` and `out` are as the header requires.
    unsafe {
        change(server, |server| {
            let json = json.text()?;
            output(out, || match server.core.send(key(connection), json) {
                Ok(()) => Ok(ACP_HTTP_SENT),
                Err(SendError::Full) => Ok(ACP_HTTP_FULL),
                Err(SendError::Misuse { rule, message }) => Err(server.told.refused(rule, message)),
                Err(_) => Ok(ACP_HTTP_CLOSED),
            })
        })
    }
}

/// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
///
/// - `server`: the server
/// - `*out`: the rule's id, for `acp_rule_text`
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_error_rule(server: *const acp_http_server, out: *mut acp_slice) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| server.told.rule()) }
}

/// Gets what was wrong with the last call that returned `ACP_MISUSE`.
///
/// - `server`: the server
/// - `*out`: a sentence
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_error_message(
    server: *const acp_http_server,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `server` and `out` are as the header requires.
    unsafe { read(server, out, |server| server.told.message()) }
}

/// Ends a connection, because its agent has ended or the server stops. Readers get what waits for them; then their streams
/// end.
///
/// - `server`: the server
/// - `connection`: the connection's number, from an event; one that is over is ignored
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_close(server: *mut acp_http_server, connection: u64) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.close(key(connection))) }
}

/// Ends a connection as `acp_http_server_close` does, because its agent has failed: the client's open calls are first
/// answered with an error that says why, as far as the client reads. `initialize` is answered like that with status 200 and
/// without the id of a connection (HTTP-03); the outcome of other calls is unknown.
///
/// - `server`: the server
/// - `connection`: the connection's number, from an event; one that is over is ignored
/// - `why`: what the errors say, for people; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_fail(
    server: *mut acp_http_server,
    connection: u64,
    why: acp_slice,
) -> acp_status {
    // SAFETY: `server` and `why` are as the header requires.
    unsafe {
        change(server, |server| {
            server.core.fail(key(connection), why.text()?);
            Ok(())
        })
    }
}

/// Holds back the messages of a client, or goes on with them: for agents that are slower than their clients. Once more
/// than the limit `inbox` waits, the client is asked to try again later.
///
/// - `server`: the server
/// - `connection`: the connection's number, from an event
/// - `paused`: whether to hold them back
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_server_pause(
    server: *mut acp_http_server,
    connection: u64,
    paused: bool,
) -> acp_status {
    // SAFETY: `server` is as the header requires.
    unsafe { tell(server, |core| core.pause(key(connection), paused)) }
}
