//! Events, read member by member. A member that an event does not have is `ACP_NONE`.

use libacp::connection::{Consequence, Outcome, TerminalRef};
use libacp::jsonrpc::PeerError;
use libacp::{Event, Id};

use crate::border::{acp_slice, acp_status, free, guard, output, read, shared, Handle, ACP_INVALID_ARGUMENT};
use crate::lists::item;
use crate::numbers::Number;

/// Something that the host must know.
pub struct acp_event {
    core: Event,
    /// The id as JSON text.
    id: Option<String>,
    /// The ids of requests without an answer.
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

/// Frees an event.
#[no_mangle]
pub unsafe extern "C" fn acp_event_free(event: *mut acp_event) {
    // SAFETY: the caller keeps what the header says of `event`.
    unsafe { free(event) }
}

/// What kind of event it is (`ACP_EVENT_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_event_kind(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| Some(event.core.number())) }
}

/// The method: of all but closed events, of a violation where one could be read; of advice about an answer, the method
/// that was called. Slices from an event are valid until it is freed.
#[no_mangle]
pub unsafe extern "C" fn acp_event_method(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
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

/// The id as JSON text, exactly as it was sent: of a request, response, cancel, answered event, of a violation where one
/// could be read, of advice about an answer or a request that waits for one (`acp_connection_unanswered_by_id` has its
/// number).
#[no_mangle]
pub unsafe extern "C" fn acp_event_id(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| event.id.as_deref().map(Into::into)) }
}

/// The request's number on this connection: of a request, response, cancel or answered event.
#[no_mangle]
pub unsafe extern "C" fn acp_event_serial(event: *const acp_event, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
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

/// The session it is about, if it is about one.
#[no_mangle]
pub unsafe extern "C" fn acp_event_session(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
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

/// The params as JSON text, of a request or notification; `{}` where there were none.
#[no_mangle]
pub unsafe extern "C" fn acp_event_params(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Request(event) => Some(event.params().into()),
            Event::Notification(event) => Some(event.params().into()),
            _ => None,
        })
    }
}

/// The kind of a `session/update` notification (`ACP_UPDATE_…`), where it is known.
#[no_mangle]
pub unsafe extern "C" fn acp_event_update(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Notification(event) => event.update.map(Into::into),
            _ => None,
        })
    }
}

/// Where a notification stands in the life of its session (`ACP_TIMING_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_event_timing(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Notification(event) => Some(event.timing.number()),
            _ => None,
        })
    }
}

/// How a request of the host's ended (`ACP_RESPONSE_…`), of a response.
#[no_mangle]
pub unsafe extern "C" fn acp_event_outcome(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Response(event) | Event::LateResponse(event) => Some(event.outcome.number()),
            _ => None,
        })
    }
}

/// The result as JSON text, of a response that has one.
#[no_mangle]
pub unsafe extern "C" fn acp_event_result(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Response(event) | Event::LateResponse(event) => event.outcome.result().map(Into::into),
            _ => None,
        })
    }
}

/// The code of the peer's error, of a response that has one.
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_code(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| event.error().map(|error| error.code.0)) }
}

/// The message of the peer's error.
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_message(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| event.error().map(|error| error.message.as_str().into())) }
}

/// The data of the peer's error as JSON text, where it has any.
#[no_mangle]
pub unsafe extern "C" fn acp_event_error_data(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| event.error().and_then(|error| error.data.as_deref()).map(Into::into)) }
}

/// The rule, by its id in the rule catalogue (`acp_rule_…`): that was broken, of a violation; that speaks against the
/// message, of advice; that asks for the answer, of an answered event.
#[no_mangle]
pub unsafe extern "C" fn acp_event_rule(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.rule.as_str().into()),
            Event::Advice(event) => Some(event.rule.as_str().into()),
            Event::Answered(event) => Some(event.rule.as_str().into()),
            _ => None,
        })
    }
}

/// What is wrong or odd in one sentence, of a violation or advice.
#[no_mangle]
pub unsafe extern "C" fn acp_event_message(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.message.as_str().into()),
            Event::Advice(event) => Some(event.message.as_str().into()),
            _ => None,
        })
    }
}

/// JSON pointer into the params or result, of a violation or advice; empty when it is about the message as a whole.
#[no_mangle]
pub unsafe extern "C" fn acp_event_pointer(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.pointer.as_str().into()),
            Event::Advice(event) => Some(event.pointer.as_str().into()),
            _ => None,
        })
    }
}

/// What became of the message (`ACP_CONSEQUENCE_…`), of a violation.
#[no_mangle]
pub unsafe extern "C" fn acp_event_consequence(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.consequence.number()),
            _ => None,
        })
    }
}

/// The code that a message was answered with, of a violation that was refused.
#[no_mangle]
pub unsafe extern "C" fn acp_event_answer_code(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
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

/// The number of the frame on this connection, from 1, of a violation.
#[no_mangle]
pub unsafe extern "C" fn acp_event_frame(event: *const acp_event, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.frame),
            _ => None,
        })
    }
}

/// The first bytes of the frame, at most 256, made UTF-8, of a violation.
#[no_mangle]
pub unsafe extern "C" fn acp_event_excerpt(event: *const acp_event, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Violation(event) => Some(event.excerpt.as_str().into()),
            _ => None,
        })
    }
}

/// Why the connection is over (`ACP_CLOSE_…`), of a closed event.
#[no_mangle]
pub unsafe extern "C" fn acp_event_close_reason(event: *const acp_event, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe {
        read(event, out, |event| match &event.core {
            Event::Closed(event) => Some(event.reason.number()),
            _ => None,
        })
    }
}

/// How many requests of the peer's the host never answered, of a closed event; 0 of others.
#[no_mangle]
pub unsafe extern "C" fn acp_event_unanswered_len(event: *const acp_event, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| Some(event.unanswered.len())) }
}

/// The id of one of them as JSON text, oldest first.
#[no_mangle]
pub unsafe extern "C" fn acp_event_unanswered_id(
    event: *const acp_event,
    index: usize,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { item(event, index, out, |event| &event.unanswered, |id| Some(id.as_str().into())) }
}

/// How many terminals were never released, of a closed event; 0 of others.
#[no_mangle]
pub unsafe extern "C" fn acp_event_terminals_len(event: *const acp_event, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `event` and `out`.
    unsafe { read(event, out, |event| Some(event.terminals().len())) }
}

/// The session and the id of one of them.
#[no_mangle]
pub unsafe extern "C" fn acp_event_terminal(
    event: *const acp_event,
    index: usize,
    session: *mut acp_slice,
    id: *mut acp_slice,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `event`, `session` and `id`.
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
