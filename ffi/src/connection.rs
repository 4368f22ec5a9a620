//! A connection: bytes in, events out, bytes out, time.

use libacp::{Connection, Misuse};

use crate::border::{acp_slice, acp_status, free, guard, make, output, shared, ACP_NONE, ACP_PANIC};
use crate::config::acp_config;
use crate::event::acp_event;

/// One peer, seen from one side.
pub struct acp_connection {
    core: Connection,
    pub(crate) error: Option<Misuse>,
    /// Text that was made for the host and is not part of the core.
    pub(crate) scratch: String,
    /// Set while a call runs: a panic leaves it set, and what is half done is not used again.
    running: bool,
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

/// Changes a connection.
///
/// # Safety
/// As for [`crate::border::change`].
pub(crate) unsafe fn change<'a>(
    connection: *mut acp_connection,
    work: impl FnOnce(&mut acp_connection) -> Result<(), acp_status> + 'a,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let connection = unsafe { crate::border::exclusive(connection) }?;
        if std::mem::replace(&mut connection.running, true) {
            return Err(ACP_PANIC);
        }
        let done = work(connection);
        connection.running = false;
        done
    })
}

/// The connection behind a pointer, unless a call on it has panicked.
///
/// # Safety
/// As for [`shared`].
pub(crate) unsafe fn intact<'a>(connection: *const acp_connection) -> Result<&'a acp_connection, acp_status> {
    // SAFETY: the caller's promise.
    let connection = unsafe { shared(connection) }?;
    if connection.running {
        Err(ACP_PANIC)
    } else {
        Ok(connection)
    }
}

/// Looks into a connection; nothing there is `ACP_NONE`.
///
/// # Safety
/// As for [`crate::border::read`].
pub(crate) unsafe fn read<'a, T>(
    connection: *const acp_connection,
    out: *mut T,
    look: impl FnOnce(&'a acp_connection) -> Option<T>,
) -> acp_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let connection = unsafe { intact(connection) }?;
        // SAFETY: the caller's promise.
        unsafe { output(out, || look(connection).ok_or(ACP_NONE)) }
    })
}

/// A connection at its start. The configuration is copied. The caller owns `*out` and frees it with
/// `acp_connection_free`.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_new(config: *const acp_config, out: *mut *mut acp_connection) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe {
        make(out, || {
            let core = Connection::new(shared(config)?.core.clone());
            Ok(acp_connection { core, error: None, scratch: String::new(), running: false })
        })
    }
}

/// Frees a connection; events and lists that came from it stay.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_free(connection: *mut acp_connection) {
    // SAFETY: callers keep the promises of the header.
    unsafe { free(connection) }
}

/// Takes bytes from the peer, in any split (with `ACP_FRAMING_MESSAGES`: one message a call). What is wrong with them
/// becomes events. After the connection is over they are ignored.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_receive(connection: *mut acp_connection, bytes: acp_slice) -> acp_status {
    // SAFETY: callers keep the promises of the header.
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
    // SAFETY: callers keep the promises of the header.
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
    // SAFETY: callers keep the promises of the header.
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
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            output(out, || {
                let event = connection.core.poll_event().ok_or(ACP_NONE)?;
                Ok(Box::into_raw(Box::new(acp_event::new(event))))
            })
        })
    }
}

/// When `acp_connection_handle_timeout` is wanted, on the host's clock; `ACP_NONE` when it is not.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_poll_timeout(connection: *const acp_connection, out: *mut u64) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| connection.core.poll_timeout()) }
}

/// Bytes for the peer (with `ACP_FRAMING_MESSAGES`: the rest of one message); empty when there are none. Valid until
/// the next call that changes the connection.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_transmit(connection: *const acp_connection, out: *mut acp_slice) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| Some(connection.core.transmit().into())) }
}

/// Takes `count` bytes of `acp_connection_transmit` as written; partial writes are normal, and more than there are
/// counts as all of them.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_consume(connection: *mut acp_connection, count: usize) -> acp_status {
    // SAFETY: callers keep the promises of the header.
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
    // SAFETY: callers keep the promises of the header.
    unsafe {
        change(connection, |connection| {
            connection.core.close();
            Ok(())
        })
    }
}

/// Bytes that were received and not read yet: stop reading from the transport while this is large.
#[no_mangle]
pub unsafe extern "C" fn acp_connection_buffered(connection: *const acp_connection, out: *mut usize) -> acp_status {
    // SAFETY: callers keep the promises of the header.
    unsafe { read(connection, out, |connection| Some(connection.core.buffered())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::{ACP_OK, ACP_PANIC};
    use libacp::Config;

    #[test]
    fn after_a_panic_a_connection_only_serves_to_be_freed() {
        let core = Connection::new(Config::client());
        let mut connection = acp_connection { core, error: None, scratch: String::new(), running: false };
        let pointer = &raw mut connection;
        let mut bytes = 7;
        // SAFETY: `pointer` and `bytes` are of this function.
        unsafe {
            assert_eq!(acp_connection_receive(pointer, "x".into()), ACP_OK);
            assert_eq!(acp_connection_buffered(pointer, &raw mut bytes), ACP_OK);
            assert_eq!(change(pointer, |_| panic!("caught at the border")), ACP_PANIC);
            assert_eq!(acp_connection_receive(pointer, "x".into()), ACP_PANIC);
            assert_eq!(acp_connection_buffered(pointer, &raw mut bytes), ACP_PANIC);
        }
        assert_eq!(bytes, 1);
    }
}
