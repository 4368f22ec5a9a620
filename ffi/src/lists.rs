//! What is known now, as lists that do not change any more.

use std::sync::Arc;

use libacp::connection::{OpenRequest, Session};
use libacp::Connection;

use crate::border::{acp_slice, acp_status, free, guard, output, read, shared, Handle, ACP_INVALID_ARGUMENT, ACP_NONE};
use crate::numbers::Number;

/// Looks at one item of a list; an index that is too large is `ACP_INVALID_ARGUMENT`, nothing there is `ACP_NONE`.
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
        // SAFETY: the caller's promise.
        let handle = unsafe { shared(handle) }?;
        let item = items(handle).get(index).ok_or(ACP_INVALID_ARGUMENT)?;
        // SAFETY: the caller's promise.
        unsafe { output(out, || look(item).ok_or(ACP_NONE)) }
    })
}

/// A list of sessions.
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

/// Frees a list.
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_free(list: *mut acp_sessions) {
    // SAFETY: the caller keeps what the header says of `list`.
    unsafe { free(list) }
}

/// How many there are.
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_len(list: *const acp_sessions, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// The id of one. Slices from a list are valid until it is freed.
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_id(list: *const acp_sessions, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0).into())) }
}

/// Whether it can be used (`ACP_SESSION_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_state(list: *const acp_sessions, index: usize, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.1)) }
}

/// Whether the agent works for it (`ACP_TURN_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_sessions_turn(list: *const acp_sessions, index: usize, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.2)) }
}

/// A list of open requests.
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

/// Frees a list.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_free(list: *mut acp_requests) {
    // SAFETY: the caller keeps what the header says of `list`.
    unsafe { free(list) }
}

/// How many there are.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_len(list: *const acp_requests, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// The id of one, as JSON text.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_id(list: *const acp_requests, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.1.as_str().into())) }
}

/// Its number.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_serial(list: *const acp_requests, index: usize, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.0.serial)) }
}

/// The method.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_method(
    list: *const acp_requests,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0.method).into())) }
}

/// The session it is about; `ACP_NONE` when it is about none.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_session(
    list: *const acp_requests,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| row.0.session.as_deref().map(Into::into)) }
}

/// Whether its sender has asked to cancel it.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_cancelled(list: *const acp_requests, index: usize, out: *mut bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.0.cancelled)) }
}

/// When it times out or, of a peer's request, when the host is reminded of it, on the host's clock; `ACP_NONE` for never.
#[no_mangle]
pub unsafe extern "C" fn acp_requests_deadline(list: *const acp_requests, index: usize, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| row.0.deadline) }
}

/// A list of terminals.
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

/// Frees a list.
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_free(list: *mut acp_terminals) {
    // SAFETY: the caller keeps what the header says of `list`.
    unsafe { free(list) }
}

/// How many there are.
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_len(list: *const acp_terminals, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { read(list, out, |list| Some(list.items.len())) }
}

/// The session that one belongs to.
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_session(
    list: *const acp_terminals,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.0).into())) }
}

/// Its id there.
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_id(list: *const acp_terminals, index: usize, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some((&*row.1).into())) }
}

/// Whether its command is known to have ended.
#[no_mangle]
pub unsafe extern "C" fn acp_terminals_ended(list: *const acp_terminals, index: usize, out: *mut bool) -> acp_status {
    // SAFETY: the caller keeps what the header says of `list` and `out`.
    unsafe { item(list, index, out, |list| &list.items, |row| Some(row.2)) }
}
