//! The remote transports, Streamable HTTP and WebSocket, without I/O: what a server and a client have in common.
//!
//! What happens goes out as JSON with the names of the scenarios in `tests/http`, made by the core itself. The text of a
//! message, which may be long, stands beside it as it is. Read `http_server` next, then
//! `http_agents` and `http_client`.

use std::borrow::Cow;

use libacp::http::{Frame, Header, Lost, OptionsError};
use libacp::rules::RuleId;
use libacp::Id;
use serde::Serialize;

use crate::border::{acp_slice, acp_status, guard, items, output, ACP_INVALID_ARGUMENT, ACP_MISUSE, ACP_NONE};
use crate::values::{acp_string, own};

/// Sending: the message was taken.
pub const ACP_HTTP_SENT: i32 = 1;
/// Sending: too much waits already; the message was not taken.
pub const ACP_HTTP_FULL: i32 = 2;
/// Sending: the connection, or the conversation, is over; the message was not taken.
pub const ACP_HTTP_CLOSED: i32 = 3;

/// A header of a request or a response. Neither part has to be UTF-8. The layout never changes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct acp_header {
    /// The name, in any case.
    pub name: acp_slice,
    /// The value, without the space around it.
    pub value: acp_slice,
}

/// What a peer sent and a library for HTTP let through, as text: no name that means something here has other bytes.
///
/// # Safety
/// As for [`acp_slice::bytes`].
pub(crate) unsafe fn lossy<'a>(bytes: acp_slice) -> Result<Cow<'a, str>, acp_status> {
    // SAFETY: as `# Safety` requires.
    Ok(String::from_utf8_lossy(unsafe { bytes.bytes() }?))
}

/// Calls with the headers of a list.
///
/// # Safety
/// As for [`items`]; so is each slice in the list.
pub(crate) unsafe fn with_headers<T>(
    list: *const acp_header,
    len: usize,
    work: impl FnOnce(&[Header<'_>]) -> T,
) -> Result<T, acp_status> {
    // SAFETY: as `# Safety` requires.
    let list = unsafe { items(list, len) }?;
    let mut owned = Vec::with_capacity(list.len());
    for header in list {
        // SAFETY: as `# Safety` requires.
        owned.push(unsafe { (lossy(header.name)?, header.value.bytes()?) });
    }
    let headers: Vec<Header<'_>> = owned.iter().map(|(name, value)| (&**name, *value)).collect();
    Ok(work(&headers))
}

/// What a handle has told last, and why it refused last. Both are lent to the host until the next call that changes it.
#[derive(Default)]
pub(crate) struct Told {
    json: String,
    text: String,
    misuse: Option<(RuleId, &'static str)>,
}

impl Told {
    /// Keeps what happened, and the text beside it.
    pub(crate) fn keep<T: Serialize>(&mut self, what: &T, text: String) -> (acp_slice, acp_slice) {
        self.json = serde_json::to_string(what).unwrap_or_default();
        self.text = text;
        (self.json.as_str().into(), self.text.as_str().into())
    }

    /// Keeps what to do next.
    pub(crate) fn step<T: Serialize>(&mut self, step: &T) -> acp_slice {
        self.keep(step, String::new()).0
    }

    /// Keeps a frame, whose text, if it has one, stands beside it.
    pub(crate) fn frame(&mut self, mut frame: Frame) -> (acp_slice, acp_slice) {
        let text = if let Frame::Text(text) = &mut frame { std::mem::take(text) } else { String::new() };
        self.keep(&frame, text)
    }

    pub(crate) fn refused(&mut self, rule: RuleId, message: &'static str) -> acp_status {
        self.misuse = Some((rule, message));
        ACP_MISUSE
    }

    pub(crate) fn rule(&self) -> Option<acp_slice> {
        self.misuse.map(|(rule, _)| rule.as_str().into())
    }

    pub(crate) fn message(&self) -> Option<acp_slice> {
        self.misuse.map(|(_, message)| message.into())
    }
}

/// Writes what [`Told`] keeps to two outputs.
///
/// # Safety
/// As for [`output`], for both.
pub(crate) unsafe fn outputs(
    out: *mut acp_slice,
    text: *mut acp_slice,
    work: impl FnOnce() -> Result<(acp_slice, acp_slice), acp_status>,
) -> Result<(), acp_status> {
    if out.is_null() {
        return Err(ACP_INVALID_ARGUMENT);
    }
    let mut json = None;
    // SAFETY: as `# Safety` requires.
    unsafe {
        output(text, || {
            let (first, second) = work()?;
            json = Some(first);
            Ok(second)
        })?;
        output(out, || json.ok_or(ACP_NONE))
    }
}

/// Says why settings cannot be used.
///
/// # Safety
/// As for [`acp_slice::text`] and [`output`].
pub(crate) unsafe fn problem<T>(
    options: acp_slice,
    out: *mut acp_string,
    read: impl FnOnce(&str) -> Result<T, OptionsError>,
) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let options = unsafe { options.text() }?;
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || read(options).err().map(|error| own(&error.to_string())).ok_or(ACP_NONE)) }
    })
}

/// Writes the error with which a host can end one of its calls that was lost with a connection (rule HTTP-18): whether the
/// agent has carried it out is unknown. For hosts that need an answer to each call of the action `lost`.
///
/// - `id`: the call's id as JSON text, as in the action
/// - `*out`: a message, JSON text; the caller owns it and frees it with `acp_string_free`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `id` cannot be an id; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_http_lost_answer(id: acp_slice, out: *mut acp_string) -> acp_status {
    guard(|| {
        // SAFETY: `id` is as the header requires.
        let id = unsafe { id.text() }?;
        // SAFETY: `out` is as the header requires.
        unsafe {
            output(out, || {
                let id = Id::from_json(id).ok_or(ACP_INVALID_ARGUMENT)?;
                Ok(own(&Lost::answer(&id)))
            })
        }
    })
}
