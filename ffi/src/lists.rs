//! Lists of sessions, requests and terminals. A list is a copy: it does not change with the connection.

use std::sync::Arc;

use libacp::connection::{OpenRequest, Session};
use libacp::Connection;

use crate::border::{acp_slice, acp_status, free, guard, output, read, shared, Handle, ACP_INVALID_ARGUMENT, ACP_NONE};
use crate::numbers::Number;

/// Reads one item of a list. An index that is too large is `ACP_INVALID_ARGUMENT`, `None` becomes `ACP_NONE`.
///
/// # Safety
/// As for [`crate::border::read`].
pub(crate) unsafe fn item<'a, H: Handle + 'a, I: 'a, T>(
    handle: *const H,
    index: usize,
    out: *mut T,
    items: impl FnOnce(&'a H) -> &'a [I],
    look: impl FnOnce(&'a I) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let handle = unsafe { shared(handle) }?;
        let item = items(handle).get(index).ok_or(ACP_INVALID_ARGUMENT)?;
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || look(item).ok_or(ACP_NONE)) }
    })
}

/// A list of sessions, sorted by id. A copy: it does not change with the connection that it came from.
pub struct acp_sessions {
    items: Vec<(Arc<str>, i32, i32)>,
}

impl Handle for acp_sessions {
    const TAG: u64 = u64::from_le_bytes(*b"acpsessi");
}

impl acp_sessions {
    pub(crate) fn new<'a>(sessions: impl Iterator<Item = (&'a Arc<str>, &'a Session)>) -> Self {
        let row =
            |(id, session): (&Arc<str>, &Session)| (Arc::clone(id), session.state.number(), session.turn.number());
        let mut items: Vec<_> = sessions.map(row).collect();
        items.sort();
        acp_sessions { items }
    }
}

/// Frees a list of sessions, and with it all slices that came from it.
///
/// - `list`: the list; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_free(list: *mut acp_sessions) {
    // SAFETY: `list` is as the header requires.
    unsafe { free(list) }
}

/// Gets the number of sessions in a list.
///
/// - `list`: the list
/// - `*out`: the number
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_len(list: *const acp_sessions, out: *mut usize) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// Gets the id of a session in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the session's id; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_id(list: *const acp_sessions, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0).into())) }
}

/// Gets the state of a session in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: one of `ACP_SESSION_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_state(list: *const acp_sessions, index: usize, out: *mut i32) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.1)) }
}

/// Gets whether the agent is working for a session in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: one of `ACP_TURN_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_turn(list: *const acp_sessions, index: usize, out: *mut i32) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.2)) }
}

/// A list of open requests, oldest first. A copy: it does not change with the connection that it came from.
pub struct acp_requests {
    items: Vec<(OpenRequest, String)>,
}

impl Handle for acp_requests {
    const TAG: u64 = u64::from_le_bytes(*b"acpreque");
}

impl acp_requests {
    pub(crate) fn new<'a>(requests: impl Iterator<Item = &'a OpenRequest>) -> Self {
        acp_requests { items: requests.map(|request| (request.clone(), request.id.to_json())).collect() }
    }
}

/// Frees a list of requests, and with it all slices that came from it.
///
/// - `list`: the list; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_requests_free(list: *mut acp_requests) {
    // SAFETY: `list` is as the header requires.
    unsafe { free(list) }
}

/// Gets the number of requests in a list.
///
/// - `list`: the list
/// - `*out`: the number
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_len(list: *const acp_requests, out: *mut usize) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// Gets the id of a request in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the id as JSON text; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_id(list: *const acp_requests, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.1.as_str().into())) }
}

/// Gets the serial number of a request in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the serial number, as passed to `acp_connection_respond` or `acp_connection_cancel`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_serial(list: *const acp_requests, index: usize, out: *mut u64) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.0.serial)) }
}

/// Gets the method of a request in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the method's name; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_method(
    list: *const acp_requests,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0.method).into())) }
}

/// Gets the session that a request in a list is about.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the session's id; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_NONE` if it is not about a session; `ACP_INVALID_ARGUMENT` if `index` is out of range; or
///   a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_session(
    list: *const acp_requests,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| row.0.session.as_deref().map(Into::into)) }
}

/// Gets whether the sender of a request in a list has asked to cancel it.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: whether it has
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_cancelled(list: *const acp_requests, index: usize, out: *mut bool) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.0.cancelled)) }
}

/// Gets when a request in a list times out or, for a request of the peer, when the host is reminded of it.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: milliseconds on the host's clock
/// - returns: `ACP_OK`; `ACP_NONE` if it does not time out or there is no reminder; `ACP_INVALID_ARGUMENT` if `index`
///   is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_requests_deadline(list: *const acp_requests, index: usize, out: *mut u64) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| row.0.deadline) }
}

/// A list of terminals that were created and not released. A copy: it does not change with the connection that it came
/// from.
pub struct acp_terminals {
    items: Vec<(Arc<str>, Box<str>, bool)>,
}

impl Handle for acp_terminals {
    const TAG: u64 = u64::from_le_bytes(*b"acptermi");
}

impl acp_terminals {
    pub(crate) fn new(core: &Connection) -> Self {
        let ended = |session: &str, terminal: &str| core.session(session)?.terminals.get(terminal).copied();
        let terminals = core.open_terminals().into_iter();
        let row = |open: libacp::connection::TerminalRef| {
            let ended = ended(&open.session, &open.terminal).unwrap_or(false);
            (open.session, open.terminal, ended)
        };
        acp_terminals { items: terminals.map(row).collect() }
    }
}

/// Frees a list of terminals, and with it all slices that came from it.
///
/// - `list`: the list; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_free(list: *mut acp_terminals) {
    // SAFETY: `list` is as the header requires.
    unsafe { free(list) }
}

/// Gets the number of terminals in a list.
///
/// - `list`: the list
/// - `*out`: the number
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_len(list: *const acp_terminals, out: *mut usize) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// Gets the session of a terminal in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the session's id; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_session(
    list: *const acp_terminals,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0).into())) }
}

/// Gets the id of a terminal in a list.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: the terminal's id, unique within its session; valid until the list is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_id(list: *const acp_terminals, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.1).into())) }
}

/// Gets whether the command of a terminal in a list is known to have ended.
///
/// - `list`: the list
/// - `index`: from 0
/// - `*out`: whether it is
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is out of range; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_ended(list: *const acp_terminals, index: usize, out: *mut bool) -> acp_status {
    // SAFETY: `list` and `out` are as the header requires.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.2)) }
}
