//! A connection: bytes in, events out, bytes out, time.

use libacp::host::Host;
use libacp::{Connection, Misuse};

use crate::border::{
    acp_slice, acp_status, change, free, guard, hand_out, make, output, read, shared, Handle, ACP_NONE,
};
use crate::config::acp_config;
use crate::event::acp_event;

/// One side of a connection: the state of the conversation with one peer.
pub struct acp_connection {
    host: Host,
    pub(crate) error: Option<Misuse>,
    /// The text that the last getter produced. It is lent to the host until the next call that changes the connection.
    pub(crate) scratch: String,
}

impl Handle for acp_connection {
    const TAG: u64 = u64::from_le_bytes(*b"acpconne");
}

impl acp_connection {
    pub(crate) fn core(&self) -> &Connection {
        self.host.connection()
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn core_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Keeps the reason for a refused call, for `acp_connection_error_…`.
    pub(crate) fn refused(&mut self, misuse: Misuse) -> acp_status {
        self.error = Some(misuse);
        crate::border::ACP_MISUSE
    }
}

/// A handle that is asked for what a part of the core knows.
pub(crate) trait Asked: Handle {
    type Core;

    /// That part.
    fn part(&self) -> &Self::Core;
    /// Keeps a text until the next call that changes the handle, and lends it to the host.
    fn keep(&mut self, text: String) -> acp_slice;
}

impl Asked for acp_connection {
    type Core = Connection;

    fn part(&self) -> &Connection {
        self.core()
    }

    fn keep(&mut self, text: String) -> acp_slice {
        self.scratch = text;
        self.scratch.as_str().into()
    }
}

/// Asks the core something after reading the arguments; `None` becomes `ACP_NONE`.
///
/// # Safety
/// As for [`read`]; so is whatever `arguments` requires.
pub(crate) unsafe fn ask<'a, H: Asked + 'a, A, T>(
    handle: *const H,
    out: *mut T,
    arguments: impl FnOnce() -> Result<A, acp_status>,
    look: impl FnOnce(&'a H::Core, A) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: as `# Safety` requires.
        let handle: &H = unsafe { shared(handle) }?;
        let arguments = arguments()?;
        // SAFETY: as `# Safety` requires.
        unsafe { output(out, || look(handle.part(), arguments).ok_or(ACP_NONE)) }
    })
}

/// As [`ask`], for a text that the core produces and the handle keeps for the host.
///
/// # Safety
/// As for [`change`] and [`output`]; so is whatever `arguments` requires.
pub(crate) unsafe fn tell<H: Asked, A>(
    handle: *mut H,
    out: *mut acp_slice,
    arguments: impl FnOnce() -> Result<A, acp_status>,
    look: impl FnOnce(&H::Core, A) -> Option<String>,
) -> acp_status {
    let work = |handle: &mut H| {
        let arguments = arguments()?;
        // SAFETY: as `# Safety` requires.
        unsafe {
            output(out, || {
                let text = look(handle.part(), arguments).ok_or(ACP_NONE)?;
                Ok(handle.keep(text))
            })
        }
    };
    // SAFETY: as `# Safety` requires.
    unsafe { change(handle, work) }
}

/// Creates a connection in the phase `ACP_PHASE_START`. Nothing is sent: a client begins with the request `initialize`.
///
/// - `config`: the configuration; copied
/// - `*out`: the connection; the caller owns it and frees it with `acp_connection_free`
/// - returns: `ACP_OK` or a general error
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_new(config: *const acp_config, out: *mut *mut acp_connection) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { make(out, || Ok(acp_connection { host: shared(config)?.host(), error: None, scratch: String::new() })) }
}

/// Frees a connection. Events and lists that came from it stay valid; slices that came from it do not.
///
/// - `connection`: the connection; NULL is ignored
#[no_mangle]
pub unsafe extern "C" fn acp_connection_free(connection: *mut acp_connection) {
    // SAFETY: `connection` is as the header requires.
    unsafe { free(connection) }
}

/// Passes in bytes that were read from the peer, in chunks of any size (with `ACP_FRAMING_MESSAGES`: exactly one
/// message). They are decoded by `acp_connection_poll_event`, which also reports whatever is wrong with them. Bytes
/// that arrive after the end of the stream or of the connection are ignored.
///
/// - `connection`: the connection
/// - `bytes`: the bytes; copied
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_receive(connection: *mut acp_connection, bytes: acp_slice) -> acp_status {
    // SAFETY: `connection` and `bytes` are as the header requires.
    unsafe {
        change(connection, |connection| {
            connection.host.connection_mut().receive(bytes.bytes()?);
            Ok(())
        })
    }
}

/// Reports that the peer has closed its side. What was received before is still delivered; then the host's open
/// requests end with `ACP_RESPONSE_CLOSED`, and `ACP_EVENT_CLOSED` is the last event.
///
/// - `connection`: the connection
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_receive_eof(connection: *mut acp_connection) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            connection.host.connection_mut().receive_eof();
            Ok(())
        })
    }
}

/// Sets the current time, and does what is due: the host's requests whose time-out has passed end with
/// `ACP_RESPONSE_TIMEOUT` (the peer is sent `$/cancel_request`), cancelled requests end after the grace period, and the
/// host is reminded of requests that it has not answered. Poll for events and transmit afterwards. Time-outs are
/// measured from the time of the last call of this function, 0 before the first.
///
/// - `connection`: the connection
/// - `now`: milliseconds on any monotonic clock of the host; a time earlier than the last one has no effect on the
///   clock
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_handle_timeout(connection: *mut acp_connection, now: u64) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            connection.host.handle_timeout(now);
            Ok(())
        })
    }
}

/// Takes the next event. Call it until it returns `ACP_NONE` after every other call that changes the connection; then
/// write what `acp_connection_transmit` holds.
///
/// While the library's own answers to the peer wait to be written and exceed `ACP_LIMIT_FRAME` or 1 MiB, whichever is
/// larger, no further message is decoded. Once they are written, `acp_connection_poll_timeout` says that it is time to
/// continue.
///
/// - `connection`: the connection
/// - `*out`: the event; the caller owns it and frees it with `acp_event_free`. It does not depend on the connection
/// - returns: `ACP_OK`; `ACP_NONE` if there is no event now; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_poll_event(
    connection: *mut acp_connection,
    out: *mut *mut acp_event,
) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe {
        change(connection, |connection| {
            output(out, || {
                let event = connection.host.poll_event().ok_or(ACP_NONE)?;
                Ok(hand_out(acp_event::new(event)))
            })
        })
    }
}

/// Gets when to call `acp_connection_handle_timeout` next.
///
/// - `connection`: the connection
/// - `*out`: milliseconds on the host's clock; may be in the past
/// - returns: `ACP_OK`; `ACP_NONE` if nothing is scheduled; or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_poll_timeout(connection: *const acp_connection, out: *mut u64) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| connection.host.poll_timeout()) }
}

/// Gets the bytes to write to the peer (with `ACP_FRAMING_MESSAGES`: the rest of one message). They stay there until
/// `acp_connection_consume` removes them. If they pile up, stop reading from the peer.
///
/// - `connection`: the connection
/// - `*out`: the bytes, empty if there are none; valid until the next call that changes the connection
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_transmit(connection: *const acp_connection, out: *mut acp_slice) -> acp_status {
    // SAFETY: `connection` and `out` are as the header requires.
    unsafe { read(connection, out, |connection| Some(connection.core().transmit().into())) }
}

/// Removes bytes from the front of `acp_connection_transmit` after they were written. Partial writes are normal.
///
/// - `connection`: the connection
/// - `count`: how many bytes were written; more than there are counts as all of them
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_consume(connection: *mut acp_connection, count: usize) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            connection.host.connection_mut().consume(count);
            Ok(())
        })
    }
}

/// Ends the connection from this side. The peer's open permission requests are answered with `cancelled` and its
/// elicitations with `cancel`; the host's open requests end with `ACP_RESPONSE_CLOSED`. What `acp_connection_transmit`
/// holds can still be written. Closing a connection that has already ended does no harm.
///
/// - `connection`: the connection
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_connection_close(connection: *mut acp_connection) -> acp_status {
    // SAFETY: `connection` is as the header requires.
    unsafe {
        change(connection, |connection| {
            connection.host.connection_mut().close();
            Ok(())
        })
    }
}
