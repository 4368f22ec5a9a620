//! An observer: the bytes of both sides in, events and who sent them out.

use libacp::connection::Observer;
use libacp::Role;

use crate::border::{
    acp_slice, acp_status, change, free, guard, hand_out, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT,
    ACP_NONE,
};
use crate::config::{acp_config, known};
use crate::connection::Asked;
use crate::event::acp_event;
use crate::lists::{acp_requests, acp_sessions};
use crate::numbers::Number;

/// Follows a conversation between a client and an agent from outside.
pub struct acp_observer {
    core: Observer,
    /// The text that the last snapshot produced. It is lent to the host until the next call that changes the observer.
    scratch: String,
}

impl Handle for acp_observer {
    const TAG: u64 = u64::from_le_bytes(*b"acpobser");
}

impl acp_observer {
    pub(crate) fn core_mut(&mut self) -> &mut Observer {
        &mut self.core
    }
}

impl Asked for acp_observer {
    type Core = Observer;

    fn part(&self) -> &Observer {
        &self.core
    }

    fn keep(&mut self, text: String) -> acp_slice {
        self.scratch = text;
        self.scratch.as_str().into()
    }
}

fn side(number: i32) -> Result<Role, acp_status> {
    known(&[Role::Client, Role::Agent], number)
}

/// Creates an observer at the start of a conversation. It follows a client and an agent, reports which rules either of
/// them breaks, and sends nothing.
///
/// - `config`: the configuration; copied. Its role and its time-outs do not matter. Its versions are those that the
///   observer can follow, so usually all of them
/// - `*out`: the observer; the caller owns it and frees it with `acp_observer_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_observer_new(config: *const acp_config, out: *mut *mut acp_observer) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe {
        make(out, || {
            let core = Observer::new(shared(config)?.core.clone());
            Ok(acp_observer { core, scratch: String::new() })
        })
    }
}

/// Frees an observer. Events and lists that came from it stay valid; slices that came from it do not.
///
/// - `observer`: the observer; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_observer_free(observer: *mut acp_observer) {
    // SAFETY: `observer` is as the header requires.
    unsafe { free(observer) }
}

/// Passes in bytes that one side sent, in chunks of any size (with `ACP_FRAMING_MESSAGES`: exactly one message). Pass
/// the bytes of the two sides in the order in which they were sent: an answer that comes before its request answers
/// nothing. Poll for events after each call, as they are decoded by `acp_observer_poll_event`. Bytes that a side sends
/// after the end of its stream are ignored.
///
/// - `observer`: the observer
/// - `from`: the side that sent them, one of `ACP_ROLE_…`
/// - `bytes`: the bytes; copied
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `from` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_receive(observer: *mut acp_observer, from: i32, bytes: acp_slice) -> acp_status {
    // SAFETY: `observer` and `bytes` are as the header requires.
    unsafe {
        change(observer, |observer| {
            observer.core.receive(side(from)?, bytes.bytes()?);
            Ok(())
        })
    }
}

/// Reports that one side has closed its stream. Once both have, requests that were not answered end with
/// `ACP_RESPONSE_CLOSED`, and `ACP_EVENT_CLOSED` is the last event.
///
/// - `observer`: the observer
/// - `from`: the side that closed its stream, one of `ACP_ROLE_…`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `from` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_receive_eof(observer: *mut acp_observer, from: i32) -> acp_status {
    // SAFETY: `observer` is as the header requires.
    unsafe {
        change(observer, |observer| {
            observer.core.receive_eof(side(from)?);
            Ok(())
        })
    }
}

/// Takes the next event. Call it until it returns `ACP_NONE`.
///
/// The consequence of a violation is what the receiver is expected to do with the message; what it really did shows in
/// the following events.
///
/// - `observer`: the observer
/// - `*from`: the side that sent the message, one of `ACP_ROLE_…`. For a violation, that is the side that broke the
///   rule; for a request that ended without an answer, the side that had sent the request
/// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. It does not depend on the observer
/// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_poll_event(
    observer: *mut acp_observer,
    from: *mut i32,
    out: *mut *mut acp_event,
) -> acp_status {
    // SAFETY: `observer`, `from` and `out` are as the header requires.
    unsafe {
        change(observer, |observer| {
            if from.is_null() {
                return Err(ACP_INVALID_ARGUMENT);
            }
            let mut sender = None;
            output(out, || {
                let (role, event) = observer.core.poll_event().ok_or(ACP_NONE)?;
                sender = Some(role);
                Ok(hand_out(acp_event::new(event)))
            })?;
            output(from, || sender.map(|role| role.number()).ok_or(ACP_NONE))
        })
    }
}

/// Gets how many bytes were received from both sides and not decoded yet.
///
/// - `observer`: the observer
/// - `*out`: bytes
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_buffered(observer: *const acp_observer, out: *mut usize) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { read(observer, out, |observer| Some(observer.core.buffered())) }
}

/// Gets the protocol version that both sides agreed on. Before the agent has answered `initialize`, it is the version
/// that it is expected to choose.
///
/// - `observer`: the observer
/// - `*out`: the version number
/// - returns: `ACP_OK`; `ACP_NONE` before `initialize`; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_version(observer: *const acp_observer, out: *mut u16) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { read(observer, out, |observer| observer.core.version()) }
}

/// Gets how far the conversation is.
///
/// - `observer`: the observer
/// - `*out`: one of `ACP_PHASE_…`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_phase(observer: *const acp_observer, out: *mut i32) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { read(observer, out, |observer| Some(observer.core.phase().number())) }
}

/// Gets the capabilities that one side advertised.
///
/// - `observer`: the observer
/// - `of`: the side, one of `ACP_ROLE_…`
/// - `*out`: its capabilities object as JSON text, `{}` before `initialize`; valid until the next call that changes the
///   observer
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `of` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_capabilities(
    observer: *const acp_observer,
    of: i32,
    out: *mut acp_slice,
) -> acp_status {
    guard(|| {
        // SAFETY: `observer` and `out` are as the header requires.
        let observer: &acp_observer = unsafe { shared(observer) }?;
        let of = side(of)?;
        // SAFETY: as above.
        unsafe { output(out, || Ok(observer.core.capabilities(of).into())) }
    })
}

/// Gets the sessions of the conversation, sorted by id.
///
/// - `observer`: the observer
/// - `*out`: a list; the caller owns it and frees it with `acp_sessions_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_sessions(
    observer: *const acp_observer,
    out: *mut *mut acp_sessions,
) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { make(out, || Ok(acp_sessions::new(shared(observer)?.core.sessions()))) }
}

/// Gets the requests of one side that have no answer yet, oldest first.
///
/// - `observer`: the observer
/// - `of`: the side that sent them, one of `ACP_ROLE_…`
/// - `*out`: a list; the caller owns it and frees it with `acp_requests_free`
/// - returns: `ACP_OK`; `ACP_INVALID_ARGUMENT` if `of` is not listed; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_open_requests(
    observer: *const acp_observer,
    of: i32,
    out: *mut *mut acp_requests,
) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { make(out, || Ok(acp_requests::new(shared(observer)?.core.open_requests(side(of)?)))) }
}

/// Gets the state of the conversation as one object with the members that `acp_connection_snapshot` lists.
///
/// - `observer`: the observer
/// - `*out`: JSON text; valid until the next call that changes the observer, this function included
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_snapshot(observer: *mut acp_observer, out: *mut acp_slice) -> acp_status {
    // SAFETY: `observer` and `out` are as the header requires.
    unsafe { change(observer, |observer| output(out, || Ok(observer.keep(observer.core.snapshot())))) }
}

/// Gets the state of a session as one object with the members that `acp_connection_session_snapshot` lists.
///
/// - `observer`: the observer
/// - `id`: the session's id
/// - `*out`: JSON text; valid until the next call that changes the observer, this function included
/// - returns: `ACP_OK`; `ACP_NONE` if the session is not known; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_observer_session_snapshot(
    observer: *mut acp_observer,
    id: acp_slice,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: `observer`, `id` and `out` are as the header requires.
    unsafe {
        change(observer, |observer| {
            let id = id.text()?;
            output(out, || {
                let snapshot = observer.core.session(id).ok_or(ACP_NONE)?.snapshot();
                Ok(observer.keep(snapshot))
            })
        })
    }
}
