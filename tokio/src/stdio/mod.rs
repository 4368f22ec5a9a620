//! The standard streams of this process as a transport.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix::{open, Input, Kept, Output};
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows::{open, Input, Kept, Output};

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use libacp::aio::{Clock, Transport};

use crate::streams::{streams, Streams};

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The standard input and output of this process, over which an editor talks to an agent.
///
/// Until the transport is dropped, only the protocol uses them. On Unix, output of the program (`println!`, and
/// libraries in other languages) goes to standard error meanwhile; child processes get an empty standard input, and
/// their standard output goes to standard error as well. On Windows nothing is redirected: print with `eprintln!`
/// there, and give child processes pipes of their own.
///
/// # Errors
/// If the transport exists already, or the system does not allow the streams to be taken.
pub fn stdio() -> io::Result<Stdio> {
    if TAKEN.swap(true, Ordering::AcqRel) {
        let taken = "the standard streams are in use: another transport of `stdio()` is not dropped yet";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, taken));
    }
    let freed = Freed;
    let (input, output, kept) = open()?;
    Ok(Stdio { streams: streams(input, output), _kept: kept, _freed: freed })
}

/// The transport of [`stdio`].
pub struct Stdio {
    streams: Streams<Input, Output>,
    _kept: Kept,
    _freed: Freed,
}

/// Marks the streams as free when it is dropped.
struct Freed;

impl Drop for Freed {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

impl std::fmt::Debug for Stdio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stdio").finish_non_exhaustive()
    }
}

impl Transport for Stdio {
    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        self.streams.poll_read(cx, take)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.streams.poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.streams.poll_flush(cx)
    }

    /// Does not close the stream: the process may still print after the connection.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.streams.poll_flush(cx)
    }

    fn clock(&mut self) -> Option<Clock> {
        self.streams.clock()
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.streams.poll_until(cx, time)
    }
}
