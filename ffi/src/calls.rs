//! What the host asks for. A call that is refused returns `ACP_MISUSE`, and the connection keeps why.

use std::borrow::Cow;

use libacp::connection::{CallOptions, MisuseKind, Phase};
use libacp::{Connection, ErrorCode, Id, Misuse};

use crate::border::{acp_slice, acp_status, output, ACP_INVALID_ARGUMENT};
use crate::connection::{acp_connection, change, read};
use crate::numbers::{Number, ACP_UNSET};

/// What the core says of an id that names no open request, for a number that names none.
fn unknown(core: &Connection, rule: &'static str, what: &str, serial: u64) -> Misuse {
    let (kind, rule, message) = if core.phase() == Phase::Closed {
        (MisuseKind::Phase, "RPC-33", Cow::Borrowed("the connection is over"))
    } else {
        (MisuseKind::Id, rule, Cow::Owned(format!("no {what} with the number {serial} is open")))
    };
    Misuse { kind, rule, pointer: String::new(), message }
}

/// The id of a request of the peer's.
fn asked(connection: &mut acp_connection, serial: u64) -> Result<Id, acp_status> {
    match connection.core().unanswered_by_serial(serial) {
        Some(request) => Ok(request.id.clone()),
        None => {
            let misuse = unknown(connection.core(), "RPC-15", "request of the peer's", serial);
            Err(connection.refused(misuse))
        }
    }
}

/// Sends a request. `params` is JSON text, an object; for `initialize`, `protocolVersion` is filled in when it is left
/// out. `*out` is the request's number, which its one `ACP_EVENT_RESPONSE` carries too.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_request(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { acp_connection_request_with(connection, method, params, "".into(), ACP_UNSET, out) }
}

/// As `acp_connection_request`, with an id of the host's choice (JSON text; empty for the next number) and a time-out
/// (milliseconds from the time last told; `ACP_UNSET` for the configuration's).
#[no_mangle]
pub unsafe extern "C" fn acp_connection_request_with(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
    id: acp_slice,
    timeout: u64,
    out: *mut u64,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            output(out, || {
                let (method, params, id) = (method.text()?, params.text()?, id.text()?);
                let id = match id {
                    "" => None,
                    json => Some(Id::from_json(json).ok_or(ACP_INVALID_ARGUMENT)?),
                };
                let options = CallOptions { id, timeout: (timeout != ACP_UNSET).then_some(timeout) };
                let sent = connection.core_mut().request_with(method, params, options);
                let id = sent.map_err(|misuse| connection.refused(misuse))?;
                let open = connection.core().pending().find(|request| request.id == id);
                Ok(open.map_or(0, |request| request.serial))
            })
        })
    }
}

/// Sends a notification; `params` is JSON text, an object. `session/cancel` also answers the session's open permission
/// requests with `cancelled`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_notify(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            let sent = connection.core_mut().notify(method.text()?, params.text()?);
            sent.map_err(|misuse| connection.refused(misuse))
        })
    }
}

/// Answers the peer's request with this number with a result (JSON text). For `initialize`, `protocolVersion` is filled
/// in when it is left out.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_respond(
    connection: *mut acp_connection,
    serial: u64,
    result: acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            let result = result.text()?;
            let id = asked(connection, serial)?;
            let sent = connection.core_mut().respond(&id, result);
            sent.map_err(|misuse| connection.refused(misuse))
        })
    }
}

/// Answers the peer's request with this number with an error; `data` is JSON text, empty for none.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_respond_error(
    connection: *mut acp_connection,
    serial: u64,
    code: i32,
    message: acp_slice,
    data: acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            let (message, data) = (message.text()?, data.text()?);
            let id = asked(connection, serial)?;
            let data = (!data.is_empty()).then_some(data);
            let sent = connection.core_mut().respond_error(&id, ErrorCode(code), message, data);
            sent.map_err(|misuse| connection.refused(misuse))
        })
    }
}

/// Asks the peer to cancel the host's own request with this number. Its answer still comes, whatever it is. Asking
/// twice sends nothing more.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_cancel(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            let Some(request) = connection.core().pending_by_serial(serial) else {
                let misuse = unknown(connection.core(), "CANCEL-08", "own request", serial);
                return Err(connection.refused(misuse));
            };
            let id = request.id.clone();
            let sent = connection.core_mut().cancel(&id);
            sent.map_err(|misuse| connection.refused(misuse))
        })
    }
}

/// Whether a method could be sent now, as far as version, side, phase and capabilities go.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_can(
    connection: *mut acp_connection,
    method: acp_slice,
    out: *mut bool,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { change(connection, |connection| output(out, || Ok(connection.core().can(method.text()?)))) }
}

/// `ACP_OK` when a method could be sent now; otherwise `ACP_MISUSE`, and `acp_connection_error_…` say why.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_why_not(connection: *mut acp_connection, method: acp_slice) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| match connection.core().why_not(method.text()?) {
            None => Ok(()),
            Some(misuse) => Err(connection.refused(misuse)),
        })
    }
}

/// What kind of mistake (`ACP_MISUSE_…`) the last call that returned `ACP_MISUSE` was; `ACP_NONE` when none was.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_kind(connection: *const acp_connection, out: *mut i32) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.kind.number())) }
}

/// The rule that forbade it, as listed in the rule catalogue. This and the next two are valid until the next call that
/// changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_rule(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.rule.into())) }
}

/// JSON pointer into what was passed; empty when it is about the call as a whole.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_pointer(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.pointer.as_str().into())) }
}

/// What is wrong, what was expected, and what to do instead.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_message(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| (&*error.message).into())) }
}
