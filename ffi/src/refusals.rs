//! Errors with which a host answers what it does not or cannot serve.

use libacp::ErrorCode;

use crate::border::{acp_status, change};
use crate::connection::acp_connection;
use crate::messages::object;

/// Answers one of the peer's requests with the error "Method not found" (-32601) and the method in the error's data,
/// for methods that the host does not implement.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_not_served(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            let method = connection.core().unanswered_by_serial(serial).map(|request| request.method.clone());
            let data = object(|writer| {
                writer.key("method").string(method.as_deref().unwrap_or_default());
                Ok(())
            })?;
            let code = ErrorCode::METHOD_NOT_FOUND;
            connection.ask(|core| core.respond_error(serial, code, "Method not found", Some(&data)))
        })
    }
}

/// Answers one of the peer's requests with the error "Internal error" (-32603), for when the host cannot serve it
/// because one of its own calls returned `ACP_MISUSE`. The error's data has the rule of that misuse.
/// `acp_connection_error_…` keep what they have.
///
/// - `connection`: the connection
/// - `serial`: the request's serial number, from its event
/// - returns: `ACP_OK`; `ACP_MISUSE` if no such request is open; or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_respond_refused(connection: *mut acp_connection, serial: u64) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            let rule = connection.error.as_ref().map(|error| error.rule.as_str().to_owned());
            let data = object(|writer| {
                if let Some(rule) = &rule {
                    writer.key("rule").string(rule);
                }
                Ok(())
            })?;
            let data = rule.is_some().then_some(&*data);
            let code = ErrorCode::INTERNAL_ERROR;
            connection.ask(|core| core.respond_error(serial, code, "Internal error", data))
        })
    }
}
