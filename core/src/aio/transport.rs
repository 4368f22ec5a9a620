//! Transports: a pair of byte streams, or a stream and a sink of messages; with a clock, if needed.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use futures::{AsyncRead, AsyncWrite, Sink, Stream};

/// The size of the read buffer.
const READ: usize = 16 * 1024;

/// A monotonic clock: the time since an arbitrary moment.
pub type Clock = Box<dyn Fn() -> Duration + Send>;

/// The transport to the peer. Created by [`streams`] or [`messages`].
///
/// It is polled only by the future that drives the connection, never by two tasks at once.
pub trait Transport {
    /// Whether the transport itself separates messages: each read hands over exactly one, and each write is exactly one
    /// and has to be accepted completely.
    const WHOLE: bool = false;

    /// Reads bytes from the peer and passes them to `take`. Returns `false` at the end of the stream.
    ///
    /// # Errors
    /// If reading fails, which ends the connection.
    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>>;

    /// Writes some of these bytes and returns how many.
    ///
    /// # Errors
    /// If writing fails. The connection then writes nothing more, but continues to read; with a clock, until the peer has
    /// said nothing for a second.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Flushes what was written.
    ///
    /// # Errors
    /// As for [`poll_write`](Self::poll_write).
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Closes this side after what was written.
    ///
    /// # Errors
    /// Ignored.
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// The clock, if there is one; see [`timed`].
    fn clock(&mut self) -> Option<Clock> {
        None
    }

    /// Resolves when the clock shows this time.
    fn poll_until(&mut self, _cx: &mut Context<'_>, _time: Duration) -> Poll<()> {
        Poll::Pending
    }
}

/// A transport of bytes, such as the standard streams, pipes and sockets.
///
/// The types of tokio can be converted with `tokio_util::compat` (the crate `tokio-util` with its feature `compat`):
/// `streams(tokio::io::stdin().compat(), tokio::io::stdout().compat_write())`, with `TokioAsyncReadCompatExt` and
/// `TokioAsyncWriteCompatExt` in scope. This also solves the compile error that `AsyncRead` is not satisfied.
pub fn streams<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(reader: R, writer: W) -> Streams<R, W> {
    Streams { reader, writer, buffer: vec![0; READ] }
}

/// See [`streams`].
#[derive(Debug)]
pub struct Streams<R, W> {
    reader: R,
    writer: W,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Transport for Streams<R, W> {
    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        let count = ready!(Pin::new(&mut self.reader).poll_read(cx, &mut self.buffer))?;
        if count > 0 {
            take(&self.buffer[..count]);
        }
        Poll::Ready(Ok(count > 0))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_close(cx)
    }
}

/// A transport of messages, one JSON text each, such as a WebSocket or a channel.
///
/// The items of the stream are results, so that it can fail. The items of the sink can be of any type that is created
/// from a `String`.
pub fn messages<In, Out, T, M, E>(stream: In, sink: Out) -> Messages<In, Out, T>
where
    In: Stream<Item = Result<M, E>> + Unpin,
    M: AsRef<[u8]>,
    Out: Sink<T> + Unpin,
    T: From<String>,
{
    Messages { stream, sink, item: PhantomData }
}

/// See [`messages`].
#[derive(Debug)]
pub struct Messages<In, Out, T> {
    stream: In,
    sink: Out,
    item: PhantomData<fn(T)>,
}

impl<In, Out, T, M, E> Transport for Messages<In, Out, T>
where
    In: Stream<Item = Result<M, E>> + Unpin,
    M: AsRef<[u8]>,
    Out: Sink<T> + Unpin,
    T: From<String>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
    Out::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    const WHOLE: bool = true;

    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        match ready!(Pin::new(&mut self.stream).poll_next(cx)) {
            None => return Poll::Ready(Ok(false)),
            Some(Ok(message)) => take(message.as_ref()),
            Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
        }
        Poll::Ready(Ok(true))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(Pin::new(&mut self.sink).poll_ready(cx)).map_err(io::Error::other)?;
        let message = String::from_utf8_lossy(bytes).into_owned();
        Pin::new(&mut self.sink).start_send(message.into()).map_err(io::Error::other)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sink).poll_flush(cx).map_err(io::Error::other)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sink).poll_close(cx).map_err(io::Error::other)
    }
}

/// Adds a clock to a transport, which [`Config::timeout`](crate::Config::timeout) and
/// [`Config::reminder`](crate::Config::reminder) need. `now` returns the time since an arbitrary moment; `sleep` waits.
///
/// With tokio: `timed(transport, { let start = Instant::now(); move || start.elapsed() }, tokio::time::sleep)`. To
/// limit the time of a single call, no clock is needed here: use the runtime's own time-out, since dropping a call
/// cancels it.
pub fn timed<T: Transport, S: Future>(
    transport: T,
    now: impl Fn() -> Duration + Send + Clone + 'static,
    sleep: impl FnMut(Duration) -> S,
) -> impl Transport {
    Timed { transport, now, sleep, waiting: None }
}

struct Timed<T, N, F, S> {
    transport: T,
    now: N,
    sleep: F,
    waiting: Option<(Duration, Pin<Box<S>>)>,
}

impl<T, N, F, S> Transport for Timed<T, N, F, S>
where
    T: Transport,
    N: Fn() -> Duration + Send + Clone + 'static,
    F: FnMut(Duration) -> S,
    S: Future,
{
    const WHOLE: bool = T::WHOLE;

    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        self.transport.poll_read(cx, take)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.transport.poll_write(cx, bytes)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_close(cx)
    }

    fn clock(&mut self) -> Option<Clock> {
        Some(Box::new(self.now.clone()))
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        loop {
            let now = (self.now)();
            if now >= time {
                self.waiting = None;
                return Poll::Ready(());
            }
            if self.waiting.as_ref().is_none_or(|(until, _)| *until != time) {
                self.waiting = Some((time, Box::pin((self.sleep)(time.saturating_sub(now)))));
            }
            if let Some((_, sleep)) = &mut self.waiting {
                ready!(sleep.as_mut().poll(cx));
                // Timers may fire a little early, so look at the clock again.
                self.waiting = None;
            }
        }
    }
}
