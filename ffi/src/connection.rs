//! A connection: bytes in, events out, bytes out, time.

use libacp::{Connection, Misuse};

use crate::border::{
    acp_slice, acp_status, change, free, guard, hand_out, make, output, read, shared, Handle, ACP_NONE,
};
use crate::config::acp_config;
use crate::event::acp_event;

/// One peer, seen from one side.
pub struct acp_connection {
    core: Connection,
    pub(crate) error: Option<Misuse>,
    /// Text that was made for the host and is not part of the core.
    pub(crate) scratch: String,
}

impl Handle for acp_connection {
    const TAG: u64 = u64::from_le_bytes(*b"acpconne");
}

impl acp_connection {
    pub(crate) fn core(&self) -> &Connection {
        &self.core
    }

    pub(crate) fn core_mut(&mut self) -> &mut Connection {
        &mut self.core
    }

    /// Keeps what a refused call was refused for.
    pub(crate) fn refused(&mut self, misuse: Misuse) -> acp_status {
        self.error = Some(misuse);
        crate::border::ACP_MISUSE
    }
}

/// Asks the core something, once the arguments are read; nothing there is `ACP_NONE`.
///
/// # Safety
/// As for [`read`]; what `arguments` relies on is the caller's promise too.
pub(crate) unsafe fn ask<'a, A, T>(
    connection: *const acp_connection,
    out: *mut T,
    arguments: impl FnOnce() -> Result<A, acp_status>,
    look: impl FnOnce(&'a Connection, A) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let connection: &acp_connection = unsafe { shared(connection) }?;
        let arguments = arguments()?;
        // SAFETY: the caller's promise.
        unsafe { output(out, || look(&connection.core, arguments).ok_or(ACP_NONE)) }
    })
}

/// As [`ask`], for a text that the core makes: the connection keeps it.
///
/// # Safety
/// As for [`change`] and [`output`]; what `arguments` relies on is the caller's promise too.
pub(crate) unsafe fn tell<A>(
    connection: *mut acp_connection,
    out: *mut acp_slice,
    arguments: impl FnOnce() -> Result<A, acp_status>,
    look: impl FnOnce(&Connection, A) -> Option<String>,
) -> acp_status {
    let work = |connection: &mut acp_connection| {
        let arguments = arguments()?;
        // SAFETY: the caller's promise.
        unsafe {
            output(out, || {
                connection.scratch = look(&connection.core, arguments).ok_or(ACP_NONE)?;
                Ok(connection.scratch.as_str().into())
            })
        }
    };
    // SAFETY: the caller's promise.
    unsafe { change(connection, work) }
}

/// A connection at its start. The configuration is copied. The caller owns `*out` and frees it with
/// `acp_connection_free`.
#[no_mangle]
#[must_use]
pub unsafe extern "C" fn acp_connection_new(config: *const acp_config, out: *mut *mut acp_connection) -> acp_status {
    // SAFETY: the caller keeps what the header says of `config` and `out`.
    unsafe {
        make(out, || {
            let core = Connection::new(shared(config)?.core.clone());
            Ok(acp_connection { core, error: None, scratch: String::new() })
        })
    }
}

/// Frees a connection; events and lists that came from it stay.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_free(connection: *mut acp_connection) {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe { free(connection) }
}

/// Takes bytes from the peer, in any split (with `ACP_FRAMING_MESSAGES`: one message a call). What is wrong with them
/// becomes events. After the connection is over they are ignored.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_receive(connection: *mut acp_connection, bytes: acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `bytes`.
    unsafe {
        change(connection, |connection| {
            connection.core.receive(bytes.bytes()?);
            Ok(())
        })
    }
}

/// The peer has closed its side: what was received is still read, then everything open ends.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_receive_eof(connection: *mut acp_connection) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            connection.core.receive_eof();
            Ok(())
        })
    }
}

/// Tells the time in milliseconds, on a clock of the host's own that does not run backwards. Requests whose time is up
/// end, and of the peer's that wait too long the host is reminded.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_handle_timeout(connection: *mut acp_connection, now: u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            connection.core.handle_timeout(now);
            Ok(())
        })
    }
}

/// The next thing that the host must know; `ACP_NONE` when there is nothing more now. Poll until then after every
/// other call that changes the connection. The caller owns `*out` and frees it with `acp_event_free`; it does not
/// depend on the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_poll_event(
    connection: *mut acp_connection,
    out: *mut *mut acp_event,
) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe {
        change(connection, |connection| {
            output(out, || {
                let event = connection.core.poll_event().ok_or(ACP_NONE)?;
                Ok(hand_out(acp_event::new(event)))
            })
        })
    }
}

/// When `acp_connection_handle_timeout` is wanted, on the host's clock; `ACP_NONE` when it is not.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_poll_timeout(connection: *const acp_connection, out: *mut u64) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| connection.core.poll_timeout()) }
}

/// Bytes for the peer (with `ACP_FRAMING_MESSAGES`: the rest of one message); empty when there are none. Valid until
/// the next call that changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_transmit(connection: *const acp_connection, out: *mut acp_slice) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection` and `out`.
    unsafe { read(connection, out, |connection| Some(connection.core.transmit().into())) }
}

/// Takes `count` bytes of `acp_connection_transmit` as written; partial writes are normal, and more than there are
/// counts as all of them.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_consume(connection: *mut acp_connection, count: usize) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            connection.core.consume(count);
            Ok(())
        })
    }
}

/// Ends the connection from this side: open permission requests are answered `cancelled`, own requests end, and what
/// waits in `acp_connection_transmit` can still be sent.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_close(connection: *mut acp_connection) -> acp_status {
    // SAFETY: the caller keeps what the header says of `connection`.
    unsafe {
        change(connection, |connection| {
            connection.core.close();
            Ok(())
        })
    }
}
