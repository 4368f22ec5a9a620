//! What is known of a connection now.

use libacp::Id;

use crate::border::{acp_slice, acp_status, change, guard, make, output, read, shared, ACP_INVALID_ARGUMENT, ACP_NONE};
use crate::config::acp_config;
use crate::connection::acp_connection;
use crate::lists::{acp_requests, acp_sessions, acp_terminals};
use crate::numbers::Number;

/// The side that the host plays.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_role(connection: *const acp_connection, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core().role().number())) }
}

/// A copy of the configuration. The caller owns `*out` and frees it with `acp_config_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_config(
    connection: *const acp_connection,
    out: *mut *mut acp_config,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { make(out, || Ok(acp_config { core: shared(connection)?.core().config().clone() })) }
}

/// How far the connection is (`ACP_PHASE_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_connection_phase(connection: *const acp_connection, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core().phase().number())) }
}

/// The agreed version of the protocol; `ACP_NONE` before `initialize`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_version(connection: *const acp_connection, out: *mut u16) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.core().version()) }
}

/// What the peer can do: its capabilities object as JSON text, `{}` before `initialize`. This and the next two are valid
/// until the next call that changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_capabilities(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core().capabilities().into())) }
}

/// What the host said it can do.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_own_capabilities(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core().own_capabilities().into())) }
}

/// The peer's whole params or result of `initialize`: its name, its ways to log in.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_peer_info(
    connection: *const acp_connection,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core().peer_info().into())) }
}

/// What the peer says about one extension under `_meta` of its capabilities, as JSON text; `ACP_NONE` where it does not
/// advertise it, and before `initialize`. Valid until the next call that changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_peer_extension(
    connection: *const acp_connection,
    name: acp_slice,
    out: *mut acp_slice,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `connection`, `name` and `out`.
        let (connection, name) = unsafe { (shared(connection)?, name.text()?) };
        let value = connection.core().peer_extension(name);
        // SAFETY: as above.
        unsafe { output(out, || value.map(Into::into).ok_or(ACP_NONE)) }
    })
}

/// All that is known of the connection as a whole, as JSON text: an object with these members, always all of them.
///
/// - `phase`: the name of `ACP_PHASE_…`; `version`: the agreed version, or null before it is agreed
/// - `login`: whether the agent works for this user, as far as anything has said: `unknown`, `required` or `done`
/// - `loginMethods`: a list of `{"methodId", "kind"}` of the ways to log in that can be used, in the agent's order; the
///   kind is `agent` where `authenticate` asks the agent to do it, `terminal` where the client runs it in a terminal
/// - `openElicitations`: the ids of questions that are settled on web pages and have not been yet
/// - `providers` (draft): a list of `{"providerId", "enabled"}` of the model providers that the agent listed last
///
/// Valid until the next call that changes the connection, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_snapshot(connection: *mut acp_connection, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe {
        change(connection, |connection| {
            output(out, || {
                connection.scratch = connection.core().snapshot();
                Ok(connection.scratch.as_str().into())
            })
        })
    }
}

/// Looks up one session and what `look` wants of it.
///
/// # Safety
/// As for [`crate::border::read`] and [`acp_slice::text`].
unsafe fn session<'a>(
    connection: *const acp_connection,
    id: acp_slice,
    out: *mut i32,
    look: impl FnOnce(&'a libacp::connection::Session) -> i32,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let id = unsafe { id.text() }?;
        // SAFETY: the caller's promise.
        match unsafe { read(connection, out, |connection| connection.core().session(id).map(look)) } {
            crate::border::ACP_OK => Ok(()),
            status => Err(status),
        }
    })
}

/// Whether a session can be used (`ACP_SESSION_…`); `ACP_NONE` when it is not known.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_session_state(
    connection: *const acp_connection,
    id: acp_slice,
    out: *mut i32,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `id` and `out`.
    unsafe { session(connection, id, out, |session| session.state.number()) }
}

/// Whether the agent works for a session (`ACP_TURN_…`); `ACP_NONE` when it is not known.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_session_turn(
    connection: *const acp_connection,
    id: acp_slice,
    out: *mut i32,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `id` and `out`.
    unsafe { session(connection, id, out, |session| session.turn.number()) }
}

/// All that is known of a session, as JSON text; `ACP_NONE` when it is not known. An object with these members, always
/// all of them; null says that the session has told of none, or of more than is kept:
///
/// - `state` and `turn`: the names of `ACP_SESSION_…` and `ACP_TURN_…`
/// - `terminals`: an object from the ids of open terminals to whether the command of each has ended
/// - `cwd`: the working directory, or null; `roots`: the list of all directories
/// - `modes`: `{"currentModeId", "availableModes"}`, the second a list or null; or null
/// - `configOptions`, `commands`: lists as the agent told them last, or null
/// - `toolCalls`: a list of `{"toolCallId", "status"}`, oldest first
/// - `plan`: the list of its entries, or null; `planIds`: the ids of plans that have one
/// - `openCompactions`: the ids of compactions that have not ended
/// - `authUncertain`: whether the user has logged out since it was opened, so that it may fail for want of a login
/// - `parent`: the id of the session that it is a child of, or null; `mayCancel`: whether the client may cancel its work
///
/// Valid until the next call that changes the connection, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_session_snapshot(
    connection: *mut acp_connection,
    id: acp_slice,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `id` and `out`.
    unsafe {
        change(connection, |connection| {
            let id = id.text()?;
            output(out, || {
                connection.scratch = connection.core().session(id).ok_or(ACP_NONE)?.snapshot();
                Ok(connection.scratch.as_str().into())
            })
        })
    }
}

/// The text of a prompt that runs a command with this input (empty for none); `ACP_NONE` when the session is not known
/// or has not listed the command. Valid until the next call that changes the connection, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_command_text(
    connection: *mut acp_connection,
    session: acp_slice,
    name: acp_slice,
    input: acp_slice,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`, `session`, `name`, `input` and `out`.
    unsafe {
        change(connection, |connection| {
            let (session, name, input) = (session.text()?, name.text()?, input.text()?);
            output(out, || {
                let session = connection.core().session(session).ok_or(ACP_NONE)?;
                connection.scratch = session.command_text(name, input).ok_or(ACP_NONE)?;
                Ok(connection.scratch.as_str().into())
            })
        })
    }
}

/// Whether a path is inside of one of a session's directories, as far as its text goes: `.` and `..` are followed, links
/// in the file system are the host's to check. False where the directories, or the session, are not known.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_in_roots(
    connection: *const acp_connection,
    session: acp_slice,
    path: acp_slice,
    out: *mut bool,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `connection`, `session`, `path` and `out`.
        let (connection, session, path) = unsafe { (shared(connection)?, session.text()?, path.text()?) };
        let session = connection.core().session(session);
        // SAFETY: as above.
        unsafe { output(out, || Ok(session.is_some_and(|session| session.in_roots(path)))) }
    })
}

/// The sessions that are known now, by id. The caller owns `*out` and frees it with `acp_sessions_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_sessions(
    connection: *const acp_connection,
    out: *mut *mut acp_sessions,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { make(out, || Ok(acp_sessions::new(shared(connection)?.core().sessions()))) }
}

/// The host's own requests without an answer, oldest first. The caller owns `*out` and frees it with
/// `acp_requests_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_pending(
    connection: *const acp_connection,
    out: *mut *mut acp_requests,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { make(out, || Ok(acp_requests::new(shared(connection)?.core().pending()))) }
}

/// The peer's requests that the host has not answered, oldest first. The caller owns `*out` and frees it with
/// `acp_requests_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_unanswered(
    connection: *const acp_connection,
    out: *mut *mut acp_requests,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { make(out, || Ok(acp_requests::new(shared(connection)?.core().unanswered()))) }
}

/// Terminals that were created and not released, by session. The caller owns `*out` and frees it with
/// `acp_terminals_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_open_terminals(
    connection: *const acp_connection,
    out: *mut *mut acp_terminals,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { make(out, || Ok(acp_terminals::new(shared(connection)?.core()))) }
}

/// The number of the host's own open request with this id (JSON text); `ACP_NONE` when none is open.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_pending_by_id(
    connection: *const acp_connection,
    id: acp_slice,
    out: *mut u64,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `connection`, `id` and `out`.
        let (connection, id) = unsafe { (shared(connection)?, id.text()?) };
        let id = Id::from_json(id).ok_or(ACP_INVALID_ARGUMENT)?;
        let open = connection.core().pending_by_id(&id);
        // SAFETY: as above.
        unsafe { output(out, || open.map(|request| request.serial).ok_or(ACP_NONE)) }
    })
}

/// The number of the peer's open request with this id (JSON text); `ACP_NONE` when none is open.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_unanswered_by_id(
    connection: *const acp_connection,
    id: acp_slice,
    out: *mut u64,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `connection`, `id` and `out`.
        let (connection, id) = unsafe { (shared(connection)?, id.text()?) };
        let id = Id::from_json(id).ok_or(ACP_INVALID_ARGUMENT)?;
        let open = connection.core().unanswered_by_id(&id);
        // SAFETY: as above.
        unsafe { output(out, || open.map(|request| request.serial).ok_or(ACP_NONE)) }
    })
}

/// The id (JSON text) of the host's own open request with this number; `ACP_NONE` when none is open. Valid until the
/// next call that changes the connection, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_pending_id(
    connection: *mut acp_connection,
    serial: u64,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe {
        change(connection, |connection| {
            let id = connection.core().pending_by_serial(serial).map(|request| request.id.to_json());
            output(out, || {
                connection.scratch = id.ok_or(ACP_NONE)?;
                Ok(connection.scratch.as_str().into())
            })
        })
    }
}

/// The id (JSON text) of the peer's open request with this number; as above.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_unanswered_id(
    connection: *mut acp_connection,
    serial: u64,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe {
        change(connection, |connection| {
            let id = connection.core().unanswered_by_serial(serial).map(|request| request.id.to_json());
            output(out, || {
                connection.scratch = id.ok_or(ACP_NONE)?;
                Ok(connection.scratch.as_str().into())
            })
        })
    }
}
