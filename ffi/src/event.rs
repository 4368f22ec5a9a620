//! Events, read field by field. A field that an event does not have is `ACP_NONE`.

use libacp::connection::{Consequence, Outcome, TerminalRef};
use libacp::jsonrpc::PeerError;
use libacp::{Event, Id};

use crate::border::{acp_slice, acp_status, free, guard, output, read, shared, Handle, ACP_INVALID_ARGUMENT};
use crate::lists::item;
use crate::numbers::Number;

/// Something that happened on a connection or that an observer saw. It owns its text and does not depend on where it
/// came from.
pub struct acp_event {
    core: Event,
    /// The id as JSON text.
    id: Option<String>,
    /// The ids of the peer's unanswered requests as JSON text, of a closed event.
    unanswered: Vec<String>,
}

impl Handle for acp_event {
    const TAG: u64 = u64::from_le_bytes(*b"acpevent");
}

impl acp_event {
    pub(crate) fn new(core: Event) -> Self {
        let id = match &core {
            Event::Request(event) => Some(&event.id),
            Event::Response(event) | Event::LateResponse(event) => Some(&event.id),
            Event::Cancel(event) => Some(&event.id),
            Event::Answered(event) => Some(&event.id),
            Event::Violation(event) => event.id.as_ref(),
            Event::Advice(event) => event.id.as_ref(),
            _ => None,
        };
        let unanswered = match &core {
            Event::Closed(event) => event.unanswered.iter().map(Id::to_json).collect(),
            _ => Vec::new(),
        };
        acp_event { id: id.map(Id::to_json), unanswered, core }
    }

    fn error(&self) -> Option<&PeerError> {
        match &self.core {
            Event::Response(event) | Event::LateResponse(event) => match &event.outcome {
                Outcome::Error(error) => Some(error),
                _ => None,
            },
            _ => None,
        }
    }

    fn terminals(&self) -> &[TerminalRef] {
        match &self.core {
            Event::Closed(event) => &event.terminals,
            _ => &[],
        }
    }
}

/// Frees an event, and with it all slices that came from it.
///
/// - `event`: the event; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_event_free(event: *mut acp_event) {
    // SAFETY: `event` is as the header requires.
    unsafe { free(event) }
}

/// Gets the kind of an event.
///
/// - `event`: the event
/// - `*out`: one of `ACP_EVENT_…`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_kind(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| Some(event.core.number())) }
}

/// Gets the method that an event is about. For a response or an answer of the host's, that is the method of the
/// request.
///
/// - `event`: the event
/// - `*out`: the method's name; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for a closed event, and for a violation whose method could not be read; or a general
///   error
#[no_mangle]
pub unsafe extern "C" fn acp_event_method(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| {
            let method: Option<&str> = match &event.core {
                Event::Request(event) => Some(&event.method),
                Event::Notification(event) => Some(&event.method),
                Event::Response(event) | Event::LateResponse(event) => Some(&event.method),
                Event::Cancel(event) => Some(&event.method),
                Event::Answered(event) => Some(&event.method),
                Event::Violation(event) => event.method.as_deref(),
                Event::Advice(event) => Some(&event.method),
                _ => None,
            };
            method.map(Into::into)
        })
    }
}

/// Gets the id of the request that an event is about.
///
/// - `event`: the event
/// - `*out`: the id as JSON text, a string, an integer or null; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for a notification and a closed event, for a violation whose id could not be read,
///   and for advice about anything but one of the peer's requests; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_id(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| event.id.as_deref().map(Into::into)) }
}

/// Gets the serial number of the request that an event is about.
///
/// - `event`: the event
/// - `*out`: the serial number, unique on the connection; for a request of the peer, pass it to
///   `acp_connection_respond`
/// - returns: `ACP_OK`; `ACP_NONE` for events other than requests, (late) responses, cancels and answered events; or a
///   general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_serial(event: *const acp_event, out: *mut u64) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Request(event) => Some(event.serial),
            Event::Response(event) | Event::LateResponse(event) => Some(event.serial),
            Event::Cancel(event) => Some(event.serial),
            Event::Answered(event) => Some(event.serial),
            _ => None,
        })
    }
}

/// Gets the session that an event is about.
///
/// - `event`: the event
/// - `*out`: the session's id; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` if it is not about a session; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_session(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| {
            let session = match &event.core {
                Event::Request(event) => &event.session,
                Event::Notification(event) => &event.session,
                Event::Response(event) | Event::LateResponse(event) => &event.session,
                Event::Cancel(event) => &event.session,
                Event::Answered(event) => &event.session,
                Event::Violation(event) => &event.session,
                Event::Advice(event) => &event.session,
                _ => return None,
            };
            session.as_deref().map(Into::into)
        })
    }
}

/// Gets the params of a request or a notification. They fit the protocol, except those of an extension's method, which
/// are not checked.
///
/// - `event`: the event
/// - `*out`: JSON text, `{}` if the message had no params; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_params(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Request(event) => Some(event.params().into()),
            Event::Notification(event) => Some(event.params().into()),
            _ => None,
        })
    }
}

/// Gets the kind of a `session/update` notification.
///
/// - `event`: the event
/// - `*out`: one of `ACP_UPDATE_…`; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for other events and unknown kinds; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_update(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Notification(event) => event.update.map(Into::into),
            _ => None,
        })
    }
}

/// Gets where a notification falls in the life of its session.
///
/// - `event`: the event
/// - `*out`: one of `ACP_TIMING_…`
/// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_timing(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Notification(event) => Some(event.timing.number()),
            _ => None,
        })
    }
}

/// Gets how one of the host's requests ended.
///
/// - `event`: the event
/// - `*out`: one of `ACP_RESPONSE_…`
/// - returns: `ACP_OK`; `ACP_NONE` for events other than (late) responses; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_outcome(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Response(event) | Event::LateResponse(event) => Some(event.outcome.number()),
            _ => None,
        })
    }
}

/// Gets the result of one of the host's requests.
///
/// - `event`: the event
/// - `*out`: JSON text; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_RESULT`; or
///   a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_result(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Response(event) | Event::LateResponse(event) => event.outcome.result().map(Into::into),
            _ => None,
        })
    }
}

/// Gets the code of the error with which the peer answered one of the host's requests.
///
/// - `event`: the event
/// - `*out`: the code (`ACP_CODE_…`, or one of the peer's)
/// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_ERROR`; or a
///   general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_code(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| event.error().map(|error| error.code.0)) }
}

/// Gets the message of the error with which the peer answered one of the host's requests.
///
/// - `event`: the event
/// - `*out`: the message as the peer wrote it; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` if the event is not a (late) response or did not end with `ACP_RESPONSE_ERROR`; or a
///   general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_message(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| event.error().map(|error| error.message.as_str().into())) }
}

/// Gets the data of the error with which the peer answered one of the host's requests.
///
/// - `event`: the event
/// - `*out`: JSON text; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` if there is no such error or it has no data; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_data(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| event.error().and_then(|error| error.data.as_deref()).map(Into::into)) }
}

/// Gets the rule behind an event: the one that a violation broke, the one that advice is about, or the one that
/// required the library to answer a request (answered event).
///
/// - `event`: the event
/// - `*out`: the rule's id, for `acp_rule_text`; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_rule(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.rule.as_str().into()),
            Event::Advice(event) => Some(event.rule.as_str().into()),
            Event::Answered(event) => Some(event.rule.as_str().into()),
            _ => None,
        })
    }
}

/// Gets what is wrong, of a violation, or what goes against a recommendation, of advice, in one sentence.
///
/// - `event`: the event
/// - `*out`: the sentence; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_message(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.message.as_str().into()),
            Event::Advice(event) => Some(event.message.as_str().into()),
            _ => None,
        })
    }
}

/// Gets where the problem is in the params or the result, of a violation or advice.
///
/// - `event`: the event
/// - `*out`: a JSON pointer, empty if the message as a whole is meant; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for other events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_pointer(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.pointer.as_str().into()),
            Event::Advice(event) => Some(event.pointer.as_str().into()),
            _ => None,
        })
    }
}

/// Gets what happened to the message that broke a rule.
///
/// - `event`: the event
/// - `*out`: one of `ACP_CONSEQUENCE_…`
/// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_consequence(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.consequence.number()),
            _ => None,
        })
    }
}

/// Gets the code of the error with which the library answered the message that broke a rule.
///
/// - `event`: the event
/// - `*out`: the code (`ACP_CODE_…`)
/// - returns: `ACP_OK`; `ACP_NONE` if the event is not a violation or its consequence is not `ACP_CONSEQUENCE_REFUSED`;
///   or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_answer_code(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => match event.consequence {
                Consequence::Refused(code) => Some(code.0),
                _ => None,
            },
            _ => None,
        })
    }
}

/// Gets the number of the frame that broke a rule. Frames are counted from 1, separately for each sender.
///
/// - `event`: the event
/// - `*out`: the number
/// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_frame(event: *const acp_event, out: *mut u64) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.frame),
            _ => None,
        })
    }
}

/// Gets the beginning of the frame that broke a rule, for logs.
///
/// - `event`: the event
/// - `*out`: at most 256 bytes of the frame, with U+FFFD in place of what is not UTF-8; empty if the frame may hold
///   secrets (rule AUTH-27); valid until the event is freed
/// - returns: `ACP_OK`; `ACP_NONE` for events other than violations; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_excerpt(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.excerpt.as_str().into()),
            _ => None,
        })
    }
}

/// Gets why the connection has ended.
///
/// - `event`: the event
/// - `*out`: one of `ACP_CLOSE_…`
/// - returns: `ACP_OK`; `ACP_NONE` for events other than closed events; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_close_reason(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Closed(event) => Some(event.reason.number()),
            _ => None,
        })
    }
}

/// Gets how many of the peer's requests the host had not answered when the connection ended.
///
/// - `event`: the event
/// - `*out`: the number of requests; 0 for events other than closed events
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_unanswered_len(event: *const acp_event, out: *mut usize) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| Some(event.unanswered.len())) }
}

/// Gets the id of one of the peer's requests that the host had not answered when the connection ended.
///
/// - `event`: the event
/// - `index`: from 0, oldest first
/// - `*out`: the id as JSON text; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is not less than `acp_event_unanswered_len`; or a general
///   error
#[no_mangle]
pub unsafe extern "C" fn acp_event_unanswered_id(
    event: *const acp_event,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { item(event, index, out, |event| &event.unanswered, |id| Some(id.as_str().into())) }
}

/// Gets how many terminals had not been released when the connection ended.
///
/// - `event`: the event
/// - `*out`: the number of terminals; 0 for events other than closed events
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_event_terminals_len(event: *const acp_event, out: *mut usize) -> acp_status {
    // SAFETY: `event` and `out` are as the header requires.
    unsafe { read(event, out, |event| Some(event.terminals().len())) }
}

/// Gets one of the terminals that had not been released when the connection ended.
///
/// - `event`: the event
/// - `index`: from 0
/// - `*session`: the id of the terminal's session; valid until the event is freed
/// - `*id`: the terminal's id, unique within its session; valid until the event is freed
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `index` is not less than `acp_event_terminals_len`; or a general
///   error
#[no_mangle]
pub unsafe extern "C" fn acp_event_terminal(
    event: *const acp_event,
    index: usize,
    session: *mut acp_slice,
    id: *mut acp_slice,
) -> acp_status {
    guard(|| {
        // SAFETY: `event`, `session` and `id` are as the header requires.
        let event = unsafe { shared(event) }?;
        let terminal = event.terminals().get(index).ok_or(ACP_INVALID_ARGUMENT)?;
        if session.is_null() {
            return Err(ACP_INVALID_ARGUMENT);
        }
        // SAFETY: as above.
        unsafe {
            output(id, || Ok((&*terminal.terminal).into()))?;
            output(session, || Ok((&*terminal.session).into()))
        }
    })
}
