//! An observer: the bytes of both sides in, events with the side that sent them out.

use libacp::connection::Observer;
use libacp::Role;

use crate::border::{
    acp_slice, acp_status, change, free, guard, hand_out, make, output, read, shared, Handle, ACP_INVALID_ARGUMENT,
    ACP_NONE,
};
use crate::config::{acp_config, known};
use crate::event::acp_event;
use crate::lists::{acp_requests, acp_sessions};
use crate::numbers::Number;

/// Looks on while a client and an agent talk.
pub struct acp_observer {
    core: Observer,
    /// Text that was made for the host.
    scratch: String,
}

impl Handle for acp_observer {
    const TAG: u64 = u64::from_le_bytes(*b"acpobser");
}

impl acp_observer {
    /// Keeps a text, which is valid until the next call that changes the observer.
    fn keep(&mut self, text: String) -> acp_slice {
        self.scratch = text;
        self.scratch.as_str().into()
    }
}

fn side(number: i32) -> Result<Role, acp_status> {
    known(&[Role::Client, Role::Agent], number)
}

/// An observer at the start of a conversation. It looks on while a client and an agent talk, sends nothing, and reports what
/// either of them does wrong.
///
/// The configuration is copied. Its role does not matter, nor do its time-outs; its versions are those that the observer can
/// follow, so usually all of them. The caller owns `*out` and frees it with `acp_observer_free`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_observer_new(config: *const acp_config, out: *mut *mut acp_observer) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe {
        make(out, || {
            let core = Observer::new(shared(config)?.core.clone());
            Ok(acp_observer { core, scratch: String::new() })
        })
    }
}

/// Frees an observer; events and lists that came from it stay.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_free(observer: *mut acp_observer) {
    // SAFETY: the caller keeps what the header says of `observer`.
    unsafe { free(observer) }
}

/// Takes bytes that one side (`ACP_ROLE_…`) has sent, in any split (with `ACP_FRAMING_MESSAGES`: one message a call). What is
/// wrong with them becomes events. Bytes of the two sides go in in the order in which they were sent: an answer before its
/// request is an answer to nothing. Poll after each call, as what was received is read then. After that side's stream has
/// ended they are ignored.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_receive(observer: *mut acp_observer, from: i32, bytes: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `bytes`.
    unsafe {
        change(observer, |observer| {
            observer.core.receive(side(from)?, bytes.bytes()?);
            Ok(())
        })
    }
}

/// One side (`ACP_ROLE_…`) has closed its stream. Once both have, requests that were never answered end with
/// `ACP_RESPONSE_CLOSED`, and the last event is an `ACP_EVENT_CLOSED`.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_receive_eof(observer: *mut acp_observer, from: i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer`.
    unsafe {
        change(observer, |observer| {
            observer.core.receive_eof(side(from)?);
            Ok(())
        })
    }
}

/// What was seen next; `ACP_NONE` when there is nothing more now.
///
/// - `*from`: the side that sent it (`ACP_ROLE_…`), and so of a violation the side that broke the rule; of a response that
///   ends for want of an answer, the side that had asked
/// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. What a violation says about its consequence is
///   what a receiver is to do; what the real one did is in what follows
#[no_mangle]
pub unsafe extern "C" fn acp_observer_poll_event(
    observer: *mut acp_observer,
    from: *mut i32,
    out: *mut *mut acp_event,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer`, `from` and `out`.
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

/// How many bytes were received and have not been read yet, of both sides.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_buffered(observer: *const acp_observer, out: *mut usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { read(observer, out, |observer| Some(observer.core.buffered())) }
}

/// The version that both sides have agreed on; before the agent has answered, what it is expected to answer. `ACP_NONE`
/// before `initialize`.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_version(observer: *const acp_observer, out: *mut u16) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { read(observer, out, |observer| observer.core.version()) }
}

/// How far the conversation is (`ACP_PHASE_…`).
#[no_mangle]
pub unsafe extern "C" fn acp_observer_phase(observer: *const acp_observer, out: *mut i32) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { read(observer, out, |observer| Some(observer.core.phase().number())) }
}

/// What one side (`ACP_ROLE_…`) can do: its capabilities object as JSON text, `{}` before `initialize`. Valid until the next
/// call that changes the observer.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_capabilities(
    observer: *const acp_observer,
    of: i32,
    out: *mut acp_slice,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller keeps what the header says of `observer` and `out`.
        let observer: &acp_observer = unsafe { shared(observer) }?;
        let of = side(of)?;
        // SAFETY: as above.
        unsafe { output(out, || Ok(observer.core.capabilities(of).into())) }
    })
}

/// The sessions that are known. The caller owns `*out` and frees it with `acp_sessions_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_sessions(
    observer: *const acp_observer,
    out: *mut *mut acp_sessions,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { make(out, || Ok(acp_sessions::new(shared(observer)?.core.sessions()))) }
}

/// The requests that one side (`ACP_ROLE_…`) has sent and that have no answer yet, oldest first. The caller owns `*out` and
/// frees it with `acp_requests_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_open_requests(
    observer: *const acp_observer,
    of: i32,
    out: *mut *mut acp_requests,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { make(out, || Ok(acp_requests::new(shared(observer)?.core.open_requests(side(of)?)))) }
}

/// All that is known of the conversation as a whole, as `acp_connection_snapshot` has it. Valid until the next call that
/// changes the observer, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_snapshot(observer: *mut acp_observer, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer` and `out`.
    unsafe { change(observer, |observer| output(out, || Ok(observer.keep(observer.core.snapshot())))) }
}

/// All that is known of a session, as `acp_connection_session_snapshot` has it; `ACP_NONE` when the session is not known.
/// Valid until the next call that changes the observer, and this is one.
#[no_mangle]
pub unsafe extern "C" fn acp_observer_session_snapshot(
    observer: *mut acp_observer,
    id: acp_slice,
    out: *mut acp_slice,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `observer`, `id` and `out`.
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
