//! What the host asks for. A call that is refused returns `ACP_MISUSE`, and the connection keeps why.

use libacp::connection::{CallOptions, Timeout};
use libacp::{Connection, ErrorCode, Id, Misuse};

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
    /// Sends a request: its number.
    pub(crate) fn send(&mut self, method: &str, params: &str, options: CallOptions) -> Result<u64, acp_status> {
        let sent = self.core_mut().request_with(method, params, options);
        let id = sent.map_err(|misuse| self.refused(misuse))?;
        Ok(self.core().pending_by_id(&id).map_or(0, |request| request.serial))
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: &str) -> Result<(), acp_status> {
        self.core_mut().notify(method, params).map_err(|misuse| self.refused(misuse))
    }

    /// Calls the core, and keeps why it refused.
    pub(crate) fn ask(&mut self, call: impl FnOnce(&mut Connection) -> Result<(), Misuse>) -> Result<(), acp_status> {
        call(self.core_mut()).map_err(|misuse| self.refused(misuse))
    }
}

/// Sends a request. `params` is JSON text, an object; for `initialize`, `protocolVersion` is filled in when it is left
/// out. `*out` is the request's number, which its one `ACP_EVENT_RESPONSE` carries too; `out` may be NULL, here and in every
/// other function that sends a request.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_request(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
    out: *mut u64,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `method`, `params` and `out`.
    unsafe { acp_connection_request_with(connection, method, params, "".into(), ACP_UNSET, out) }
}

/// As `acp_connection_request`, with an id of the host's choice (JSON text; empty for the next number) and a time-out
/// (milliseconds from the time last told; `ACP_UNSET` for the configuration's, `ACP_NEVER` for none).
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
    // SAFETY: the caller keeps what the header says of `connection`, `method`, `params`, `id` and `out`.
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

/// Sends a notification; `params` is JSON text, an object. `session/cancel` also answers the session's open permission
/// requests with `cancelled`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_notify(
    connection: *mut acp_connection,
    method: acp_slice,
    params: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `method` and `params`.
    unsafe { change(connection, |connection| connection.tell(method.text()?, params.text()?)) }
}

/// Answers the peer's request with this number with a result (JSON text). For `initialize`, `protocolVersion` is filled
/// in when it is left out.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond(
    connection: *mut acp_connection,
    serial: u64,
    result: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `result`.
    unsafe {
        change(connection, |connection| {
            let result = result.text()?;
            connection.ask(|core| core.respond(serial, result))
        })
    }
}

/// Answers the peer's request with this number with an error; `data` is JSON text, empty for none.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_error(
    connection: *mut acp_connection,
    serial: u64,
    code: i32,
    message: acp_slice,
    data: acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `message` and `data`.
    unsafe {
        change(connection, |connection| {
            let (message, data) = (message.text()?, data.text()?);
            let data = (!data.is_empty()).then_some(data);
            connection.ask(|core| core.respond_error(serial, ErrorCode(code), message, data))
        })
    }
}

/// Asks the peer to cancel the host's own request with this number. Its answer still comes, whatever it is. Asking
/// twice sends nothing more.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_cancel(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe { change(connection, |connection| connection.ask(|core| core.cancel(serial))) }
}

/// Whether a method could be sent now, as far as version, side, phase and capabilities go.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_can(
    connection: *const acp_connection,
    method: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `connection`, `method` and `out`.
        let (connection, method) = unsafe { (shared(connection)?, method.text()?) };
        // SAFETY: as above.
        unsafe { output(out, || Ok(connection.core().can(method))) }
    })
}

/// `ACP_OK` when a method could be sent now; otherwise `ACP_MISUSE`, and `acp_connection_error_…` say why.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_why_not(connection: *mut acp_connection, method: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `method`.
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
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.kind.number())) }
}

/// The rule that forbade it, as listed in the rule catalogue. This and the next two are valid until the next call that
/// changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_rule(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.rule.as_str().into())) }
}

/// JSON pointer into what was passed; empty when it is about the call as a whole.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_pointer(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| error.pointer.as_str().into())) }
}

/// What is wrong, what was expected, and what to do instead.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_error_message(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.error.as_ref().map(|error| (&*error.message).into())) }
}
