//! The client.

use libacp::http::{Action, Client, ClientOptions, ClientSendError, Frame};

use crate::border::{acp_slice, acp_status, change, free, make, output, read, Handle, ACP_INVALID_ARGUMENT, ACP_NONE};
use crate::http::{acp_header, outputs, problem, with_headers, Told, ACP_HTTP_CLOSED, ACP_HTTP_FULL, ACP_HTTP_SENT};
use crate::values::acp_string;

/// A client of the remote transports, Streamable HTTP and WebSocket, a draft of the specification, for one server. It does
/// no I/O: the host makes the requests that `acp_http_client_poll_action` asks for with a library of its choice, and
/// passes in what comes of them.
///
/// The host sends messages as to an agent on a pipe, beginning with `initialize`. After each call, take actions until
/// there are none, then ask `acp_http_client_poll_timeout` when to call `acp_http_client_handle_timeout`.
pub struct acp_http_client {
    core: Client,
    told: Told,
}

impl Handle for acp_http_client {
    const TAG: u64 = u64::from_le_bytes(*b"acphclie");
}

/// Changes a client in a way that cannot fail.
///
/// # Safety
/// As for [`change`].
unsafe fn tell(client: *mut acp_http_client, work: impl FnOnce(&mut Client)) -> acp_status {
    // SAFETY: as `# Safety` requires.
    unsafe {
        change(client, |client| {
            work(&mut client.core);
            Ok(())
        })
    }
}

/// Creates a client before its first message.
///
/// - `options`: JSON text of an object; `{}` for the defaults: requests to `/acp`. Its members are `target` (the path with
///   its query), `host` (without it there are no cookies), `secure`, `websocket` (a WebSocket in place of requests),
///   `reconnect` (true if absent), `resumable`, `strict`, `tolerates`, `limits` (`message`, `outbox`, `calls`, `sessions`,
///   `streams`: numbers) and `times` (`quiet`, `replay`, `open`, `response`, `first`, `silence`, `doubt`, `retry`,
///   `longest_retry`, `give_up`: milliseconds)
/// - `seed`: any number that differs between clients; the times of their attempts to reconnect are spread by it
/// - `*out`: the client; the caller owns it and frees it with `acp_http_client_free`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if the options cannot be used, of which
///   `acp_http_client_options_error` says why; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_http_client_new(
    options: acp_slice,
    seed: u64,
    out: *mut *mut acp_http_client,
) -> acp_status {
    // SAFETY: `options` and `out` are as the header requires.
    unsafe {
        make(out, || {
            let options = ClientOptions::from_json(options.text()?).map_err(|_| ACP_INVALID_ARGUMENT)?;
            Ok(acp_http_client { core: Client::new(options, seed), told: Told::default() })
        })
    }
}

/// Says why options cannot be used.
///
/// - `options`: what `acp_http_client_new` is given
/// - `*out`: what is wrong, after a JSON pointer that says where; the caller owns it and frees it with `acp_string_free`
/// - returns: `ACP_OK`; `ACP_NONE` if the options can be used; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_options_error(options: acp_slice, out: *mut acp_string) -> acp_status {
    // SAFETY: `options` and `out` are as the header requires.
    unsafe { problem(options, out, ClientOptions::from_json) }
}

/// Frees a client. Slices that came from it are no longer valid.
///
/// - `client`: the client; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_free(client: *mut acp_http_client) {
    // SAFETY: `client` is as the header requires.
    unsafe { free(client) }
}

/// Sets a header of all requests from now on, such as `authorization`; its former value is replaced.
///
/// - `client`: the client
/// - `name`: the header's name
/// - `value`: its value
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if these cannot be the name and the value of a header; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_http_client_set_header(
    client: *mut acp_http_client,
    name: acp_slice,
    value: acp_slice,
) -> acp_status {
    // SAFETY: `client`, `name` and `value` are as the header requires.
    unsafe {
        change(client, |client| {
            let set = client.core.set_header(name.text()?, value.text()?);
            set.then_some(()).ok_or(ACP_INVALID_ARGUMENT)
        })
    }
}

/// Takes the next thing to do, or that has happened. Call it until it returns `ACP_NONE`.
///
/// An action is an object whose `event` is one of
///
/// - `request`: make a request; `exchange` is its number, with `method`, `target` and `headers` (a list of pairs of a name
///   and a value, without the host and the length of the body). The body, empty for none, stands in `*text`. Pass what
///   comes of it to `acp_http_client_response`, `_data`, `_end` and `_failed`
/// - `connect`: open the WebSocket `exchange` with `headers` besides those of the handshake
/// - `frame`: send `frame` on the WebSocket `exchange`, an object as `acp_http_server_frame` says; a text stands in `*text`
/// - `abort`: give up `exchange`; nothing more of it is wanted
/// - `message`: a message of the server, which stands in `*text`; `replayed` says whether it is history of a session that
///   is being loaded
/// - `connected`: the connection is open, for the first time or again; `id` is the value of `Acp-Connection-Id`
/// - `lost`: the connection was lost; nobody will answer `calls`, a list of ids, and whether the agent has carried them out is
///   unknown (HTTP-18); `questions` of the agent need no answer any more, and one that comes all the same is a misuse
///   (HTTP-11); `sessions` are opened again; if the server closed the WebSocket with a code, `code` is that, such as 1009 if
///   a message was over its limit
/// - `retrying`: another attempt is made `at` this time
/// - `attached`: `session` is open again; `replayed` says whether its history was told once more
/// - `detached`: `session` could not be opened again, or its messages were lost
/// - `gap`: the stream of `session`, null for that of the connection, broke and is open again; messages may be missing
/// - `silent`: nothing has come on the stream of `session`, null for that of the connection, although the server has
///   accepted a call whose answer comes there (HTTP-21): `waited` is for how many milliseconds, `head` whether the head of
///   the response has come, `message` what may be the matter, such as a proxy that buffers responses. The stream stays open
/// - `unauthorized`: the server wants other credentials; `status` is 401 or 403, `challenge` the value of
///   `WWW-Authenticate` or null. Set a header and call `acp_http_client_retry`; nothing is sent until then
/// - `refused`: the server refused an answer or a notification of the host; `status`, `method`, empty for an answer, and
///   `message` if the server has said one. A call that is refused ends with an error
/// - `violation`: the server broke `rule`; `message` says how, `session` where, null if it was about none
/// - `closed`: the conversation is over; `why` is `host`, `not-initialized`, `not-served` or `refused` (both with `status`),
///   `unreachable` or `protocol`
///
/// - `client`: the client
/// - `*out`: the action, JSON text, in which what stands in `*text` is empty; valid until the next call that changes the
///   client
/// - `*text`: the text of a message or a frame, or a body; empty for other actions; valid as long
/// - returns: `ACP_OK`; `ACP_NONE` if there is no action now; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_poll_action(
    client: *mut acp_http_client,
    out: *mut acp_slice,
    text: *mut acp_slice,
) -> acp_status {
    // SAFETY: `client`, `out` and `text` are as the header requires.
    unsafe {
        change(client, |client| {
            outputs(out, text, || {
                let mut action = client.core.poll_action().ok_or(ACP_NONE)?;
                let text = match &mut action {
                    Action::Message { json, .. } => std::mem::take(json),
                    Action::Frame { frame: Frame::Text(text), .. } => std::mem::take(text),
                    Action::Request(request) => std::mem::take(&mut request.body),
                    _ => String::new(),
                };
                Ok(client.told.keep(&action, text))
            })
        })
    }
}

/// Gets whether `acp_http_client_send` takes more.
///
/// - `client`: the client
/// - `*out`: false while too much waits to be sent
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_is_hungry(client: *const acp_http_client, out: *mut bool) -> acp_status {
    // SAFETY: `client` and `out` are as the header requires.
    unsafe { read(client, out, |client| Some(client.core.is_hungry())) }
}

/// Gets the value of `Acp-Connection-Id`.
///
/// - `client`: the client
/// - `*out`: the id; valid until the next call that changes the client
/// - returns: `ACP_OK`; `ACP_NONE` while there is no connection; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_connection_id(
    client: *const acp_http_client,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `client` and `out` are as the header requires.
    unsafe { read(client, out, |client| client.core.connection_id().map(acp_slice::from)) }
}

/// Sends a message of the host. An answer goes to the question that the host was given, and to no other one: if the agent of
/// a new connection asks with the id of a question that was lost and has no answer yet, the host is given the new one with
/// another id, which begins with `libacp-q`.
///
/// - `client`: the client
/// - `json`: the message, JSON text; copied
/// - `*out`: `ACP_HTTP_SENT`; `ACP_HTTP_FULL` if too much waits to be sent, until `acp_http_client_is_hungry` says
///   otherwise; or `ACP_HTTP_CLOSED` if the conversation is over
/// - returns: `ACP_OK`; `ACP_MISUSE` if the message cannot be sent; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_http_client_send(
    client: *mut acp_http_client,
    json: acp_slice,
    out: *mut i32,
) -> acp_status {
    // SAFETY: `client`, `json` and `out` are as the header requires.
    unsafe {
        change(client, |client| {
            let json = json.text()?;
            output(out, || match client.core.send(json) {
                Ok(()) => Ok(ACP_HTTP_SENT),
                Err(ClientSendError::Full) => Ok(ACP_HTTP_FULL),
                Err(ClientSendError::Misuse { rule, message }) => Err(client.told.refused(rule, message)),
                Err(_) => Ok(ACP_HTTP_CLOSED),
            })
        })
    }
}

/// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
///
/// - `client`: the client
/// - `*out`: the rule's id, for `acp_rule_text`
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_error_rule(client: *const acp_http_client, out: *mut acp_slice) -> acp_status {
    // SAFETY: `client` and `out` are as the header requires.
    unsafe { read(client, out, |client| client.told.rule()) }
}

/// Gets what was wrong with the last call that returned `ACP_MISUSE`, and what to do instead.
///
/// - `client`: the client
/// - `*out`: a sentence
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_error_message(
    client: *const acp_http_client,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `client` and `out` are as the header requires.
    unsafe { read(client, out, |client| client.told.message()) }
}

/// Takes the head of the response to a request, or of the handshake of a WebSocket (status 101).
///
/// - `client`: the client
/// - `exchange`: the number of the request
/// - `status`: the status
/// - `headers`: the headers
/// - `len`: how many they are
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_response(
    client: *mut acp_http_client,
    exchange: u64,
    status: u16,
    headers: *const acp_header,
    len: usize,
) -> acp_status {
    // SAFETY: `client` and `headers` are as the header requires.
    unsafe {
        change(client, |client| with_headers(headers, len, |headers| client.core.response(exchange, status, headers)))
    }
}

/// Takes bytes of the body of a response, split in any way.
///
/// - `client`: the client
/// - `exchange`: the number of the request
/// - `bytes`: the bytes; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_data(
    client: *mut acp_http_client,
    exchange: u64,
    bytes: acp_slice,
) -> acp_status {
    // SAFETY: `client` and `bytes` are as the header requires.
    unsafe {
        change(client, |client| {
            client.core.data(exchange, bytes.bytes()?);
            Ok(())
        })
    }
}

/// Tells that a response, or a WebSocket, has ended.
///
/// - `client`: the client
/// - `exchange`: the number of the request or the WebSocket
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_end(client: *mut acp_http_client, exchange: u64) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, |core| core.end(exchange)) }
}

/// Tells that a request came to nothing: there was no connection, or it broke.
///
/// - `client`: the client
/// - `exchange`: the number of the request or the WebSocket
/// - `sent`: false if the server cannot have any of it
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_failed(client: *mut acp_http_client, exchange: u64, sent: bool) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, |core| core.failed(exchange, sent)) }
}

/// Takes a text frame of the WebSocket.
///
/// - `client`: the client
/// - `exchange`: the number of the WebSocket
/// - `text`: the text; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_text(
    client: *mut acp_http_client,
    exchange: u64,
    text: acp_slice,
) -> acp_status {
    // SAFETY: `client` and `text` are as the header requires.
    unsafe {
        change(client, |client| {
            client.core.text(exchange, text.text()?);
            Ok(())
        })
    }
}

/// Notes a binary frame of the WebSocket, which is ignored (WS-04).
///
/// - `client`: the client
/// - `exchange`: the number of the WebSocket
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_binary(client: *mut acp_http_client, exchange: u64) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, |core| core.binary(exchange)) }
}

/// Tells the code with which the server closed the WebSocket (RFC 6455, 7.4); the action `lost` then has it. The end of the
/// WebSocket is told by `acp_http_client_end` all the same.
///
/// - `client`: the client
/// - `exchange`: the number of the WebSocket
/// - `code`: the code of the close frame
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_closed(client: *mut acp_http_client, exchange: u64, code: u16) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, |core| core.closed(exchange, code)) }
}

/// Goes on after the action `unauthorized`, with the headers that were set meanwhile.
///
/// - `client`: the client
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_retry(client: *mut acp_http_client) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, Client::retry) }
}

/// Ends the conversation: `DELETE` (HTTP-14), or the end of the WebSocket.
///
/// - `client`: the client
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_close(client: *mut acp_http_client) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, Client::close) }
}

/// Sets the current time, and does what is due.
///
/// - `client`: the client
/// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the clock
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_handle_timeout(client: *mut acp_http_client, now: u64) -> acp_status {
    // SAFETY: `client` is as the header requires.
    unsafe { tell(client, |core| core.handle_timeout(now)) }
}

/// Gets when to call `acp_http_client_handle_timeout` next.
///
/// - `client`: the client
/// - `*out`: milliseconds on the host's clock; may be in the past
/// - returns: `ACP_OK`; `ACP_NONE` if nothing is waited for; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_client_poll_timeout(client: *const acp_http_client, out: *mut u64) -> acp_status {
    // SAFETY: `client` and `out` are as the header requires.
    unsafe { read(client, out, |client| client.core.poll_timeout()) }
}
