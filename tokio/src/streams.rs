//! Streams of tokio as a transport, with tokio's clock.

use std::io;
use std::pin::Pin;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use libacp::aio::{Clock, Transport};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::timer::Timer;

/// The size of a read.
const READ: usize = 16 * 1024;

/// A transport of tokio's streams, such as the halves of a socket or a pipe. It has tokio's clock, so
/// [`Config::timeout`](libacp::Config::timeout) and [`Config::reminder`](libacp::Config::reminder) work.
pub fn streams<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(reader: R, writer: W) -> Streams<R, W> {
    Streams { reader, writer, buffer: vec![0; READ], timer: Timer::new() }
}

/// See [`streams`].
#[derive(Debug)]
pub struct Streams<R, W> {
    reader: R,
    writer: W,
    buffer: Vec<u8>,
    timer: Timer,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Transport for Streams<R, W> {
    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        let mut buffer = ReadBuf::new(&mut self.buffer);
        ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer))?;
        let read = buffer.filled();
        if !read.is_empty() {
            take(read);
        }
        Poll::Ready(Ok(!read.is_empty()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }

    fn clock(&mut self) -> Option<Clock> {
        Some(self.timer.clock())
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.timer.poll_until(cx, time)
    }
}
