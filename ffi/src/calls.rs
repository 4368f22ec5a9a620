//! The host's calls. A refused call returns `ACP_MISUSE`, and the connection keeps the reason.

use libacp::connection::{CallOptions, Timeout};
use libacp::host::Host;
use libacp::{ErrorCode, Id, Misuse};

use crate::border::{acp_slice, acp_status, change, guard, output, read, shared, ACP_INVALID_ARGUMENT};
use crate::connection::acp_connection;
use crate::numbers::{Number, ACP_NEVER, ACP_UNSET};

fn timeout_of(number: u64) -> Timeout {
    match number {
        ACP_UNSET => Timeout::Configured,
        ACP_NEVER => Timeout::Never,
        milliseconds => Timeout::After(milliseconds),
    }
}

impl acp_connection {
    /// Sends a request and returns its serial number.
    pub(crate) fn send(&mut self, method: &str, params: &str, options: CallOptions) -> Result<u64, acp_status> {
        let sent = self.core_mut().request_with(method, params, options);
        let id = sent.map_err(|misuse| self.refused(misuse))?;
        Ok(self.core().pending_by_id(&id).map_or(0, |request| request.serial))
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: &str) -> Result<(), acp_status> {
        self.core_mut().notify(method, params).map_err(|misuse| self.refused(misuse))
    }

    /// Calls the core, and keeps the reason if it refuses.
    pub(crate) fn ask(&mut self, call: impl FnOnce(&mut Host) -> Result<(), Misuse>) -> Result<(), acp_status> {
        call(self.core_mut()).map_err(|misuse| self.refused(misuse))
    }
}

/// Sends a request. Its answer arrives as exactly one `ACP_EVENT_RESPONSE`.
///
/// - `connection`: the connection
/// - `method`: the method's name (`ACP_METHOD_…`, or an extension's)
/// - `params`: JSON text of an object; an extension's method may have a list instead. `initialize` is given its
///   `protocolVersion` if it has none
/// - `*out`: the request's serial number, which its response event carries as well; `out` may be NULL
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now or `params` does not fit; or a
///   general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_request(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: `connection`, `method`, `params` and `out` are as the header requires.
    unsafe { acp_connection_request_with(connection, method, params, "".into(), ACP_UNSET, out) }
}

/// Sends a request like `acp_connection_request`, with an id and a time-out of the host's choice.
///
/// - `connection`: the connection
/// - `method`: the method's name
/// - `params`: JSON text of an object; see `acp_connection_request`
/// - `id`: the id as JSON text, a string or an integer; empty to use the next free number
/// - `timeout`: milliseconds from the last `acp_connection_handle_timeout`; `ACP_UNSET` for the configuration's
///   time-out, `ACP_NEVER` for none
/// - `*out`: the request's serial number; `out` may be NULL
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the request now, `params` does not fit, or `id` is
///   null or in use; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_request_with(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
    id: acp_slice,
    timeout: u64,
    out: *mut u64,
) -> acp_status {
    // SAFETY: `connection`, `method`, `params`, `id` and `out` are as the header requires.
    unsafe {
        change(connection, |connection| {
            let (method, params, id) = (method.text()?, params.text()?, id.text()?);
            let id = match id {
                "" => None,
                json => Some(Id::from_json(json).ok_or(ACP_INVALID_ARGUMENT)?),
            };
            let options = CallOptions::default().id(id).timeout(timeout_of(timeout));
            let serial = connection.send(method, params, options)?;
            if !out.is_null() {
                out.write(serial);
            }
            Ok(())
        })
    }
}

/// Sends a notification. `session/cancel` also answers the peer's open permission requests of the session with
/// `cancelled`.
///
/// - `connection`: the connection
/// - `method`: the method's name (`ACP_METHOD_…`, or an extension's)
/// - `params`: JSON text of an object; an extension's method may have a list instead
/// - returns: `ACP_OK`; `ACP_MISUSE` if the protocol does not allow the notification now or `params` does not fit; or a
///   general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_notify(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `method` and `params` are as the header requires.
    unsafe { change(connection, |connection| connection.tell(method.text()?, params.text()?)) }
}

/// Answers one of the peer's requests with a result.
///
/// If the client has cancelled a prompt, the stop reason `cancelled` is sent in place of any other, with an
/// `ACP_EVENT_ADVICE`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `result`: JSON text. The answer to `initialize` is given its `protocolVersion` if it has none
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open or `result` does not fit; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond(
    connection: *mut acp_connection,
    serial: u64,
    result: acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `result` are as the header requires.
    unsafe {
        change(connection, |connection| {
            let result = result.text()?;
            connection.ask(|core| core.respond(serial, result))
        })
    }
}

/// Answers one of the peer's requests with an error.
///
/// Where the protocol asks for a result instead, that is sent: the stop reason `cancelled` for a prompt that the client
/// has cancelled, and `cancelled` or `cancel` for a permission request or an elicitation that is answered with
/// `ACP_CODE_REQUEST_CANCELLED`.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - `code`: the error's code (`ACP_CODE_…`, or one of the host's)
/// - `message`: the error's message
/// - `data`: the error's data as JSON text; empty for none
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open, `data` is not JSON, or the protocol does not allow the
///   error; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_error(
    connection: *mut acp_connection,
    serial: u64,
    code: i32,
    message: acp_slice,
    data: acp_slice,
) -> acp_status {
    // SAFETY: `connection`, `message` and `data` are as the header requires.
    unsafe {
        change(connection, |connection| {
            let (message, data) = (message.text()?, data.text()?);
            let data = (!data.is_empty()).then_some(data);
            connection.ask(|core| core.respond_error(serial, ErrorCode(code), message, data))
        })
    }
}

/// Asks the peer to cancel one of the host's requests (`$/cancel_request`). The request still ends with one
/// `ACP_EVENT_RESPONSE`, with whatever the peer answers or after the grace period. Cancelling twice sends nothing more.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number
/// - returns: `ACP_OK`; `ACP_MISUSE` if the request cannot be cancelled, usually because it is no longer open; or a
///   general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_cancel(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe { change(connection, |connection| connection.ask(|core| core.cancel(serial))) }
}

/// Gets whether a method could be sent now, as far as the version, the side, the phase and the capabilities go. Params
/// are not checked.
///
/// - `connection`: the connection
/// - `method`: the method's name. An optional part follows a colon: `session/prompt:image`, `session/new:http`,
///   `session/update:plan`
/// - `*out`: whether it could
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_can(
    connection: *const acp_connection,
    method: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: `connection`, `method` and `out` are as the header requires.
        let (connection, method) = unsafe { (shared(connection)?, method.text()?) };
        // SAFETY: as above.
        unsafe { output(out, || Ok(connection.host().can(method))) }
    })
}

/// Returns `ACP_OK` if a method could be sent now. Otherwise keeps the reason for `acp_connection_error_…`. Nothing is
/// sent.
///
/// - `connection`: the connection
/// - `method`: the method's name, with an optional part as for `acp_connection_can`
/// - returns: `ACP_OK`; `ACP_MISUSE` if it could not be sent; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_why_not(connection: *mut acp_connection, method: acp_slice) -> acp_status {
    // SAFETY: `connection` and `method` are as the header requires.
    unsafe {
        change(connection, |connection| match connection.host().why_not(method.text()?) {
            None => Ok(()),
            Some(misuse) => Err(connection.refused(misuse)),
        })
    }
}

/// Gets what kind of mistake the last call that returned `ACP_MISUSE` was.
///
/// - `connection`: the connection
/// - `*out`: one of `ACP_MISUSE_…`
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_kind(connection: *const acp_connection, out: *mut i32) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.kind.number())) }
}

/// Gets the rule that the last call that returned `ACP_MISUSE` would have broken.
///
/// - `connection`: the connection
/// - `*out`: the rule's id, for `acp_rule_text`; valid until the next call that changes the connection
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_rule(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.rule.as_str().into())) }
}

/// Gets where the mistake is in the params or the result that were passed to the last call that returned `ACP_MISUSE`.
///
/// - `connection`: the connection
/// - `*out`: a JSON pointer, empty if the call as a whole is meant; valid until the next call that changes the
///   connection
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_pointer(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.pointer.as_str().into())) }
}

/// Gets what was wrong with the last call that returned `ACP_MISUSE`, what was expected, and what to do instead.
///
/// - `connection`: the connection
/// - `*out`: the message; valid until the next call that changes the connection
/// - returns: `ACP_OK`; `ACP_NONE` if no call has returned `ACP_MISUSE`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_message(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| (&*error.message).into())) }
}
