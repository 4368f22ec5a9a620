//! What an agent sees of its connection: messages in, messages out.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use libacp::aio::{Clock, Transport};
use libacp::http::{ConnectionKey, SendError};

use super::notice::Notice;
use super::shared::Shared;
use crate::timer::Timer;

/// One connection of a client, for its agent: a [`Transport`], which [`Agent::serve`](libacp::aio::Agent::serve) takes, or
/// two methods for agents that read JSON by themselves. When it is dropped, the connection ends.
pub struct Pipe {
    shared: Arc<Shared>,
    connection: ConnectionKey,
    timer: Timer,
}

impl Pipe {
    pub(super) fn new(shared: Arc<Shared>, connection: ConnectionKey) -> Self {
        Pipe { shared, connection, timer: Timer::new() }
    }

    /// The number of the connection, as [`Notice`] names it.
    pub fn number(&self) -> u64 {
        self.connection.number()
    }

    /// The client's next message; `None` once the connection is over.
    pub async fn receive(&self) -> Option<String> {
        poll_fn(|cx| self.poll_receive(cx)).await
    }

    /// Sends a message to the client, once it has read enough of those before. A message that cannot be sent at all is
    /// dropped, with a [`Notice`].
    ///
    /// # Errors
    /// If the connection is over.
    pub async fn send(&self, json: &str) -> io::Result<()> {
        poll_fn(|cx| self.poll_send(cx, json)).await
    }

    /// Ends the connection because the agent is gone; calls that are open are answered with an error that says this.
    pub fn fail(&self, why: &str) {
        self.shared.with(|state| state.server.fail(self.connection, why));
    }

    /// Waits until the connection is over. What the client has said before may not have been received yet.
    pub(super) async fn over(&self) {
        poll_fn(|cx| self.shared.aside(|state| state.poll_closed(self.connection, cx))).await;
    }

    pub(super) fn tell(&self, notice: &Notice) {
        self.shared.tell(notice);
    }

    fn poll_receive(&self, cx: &Context<'_>) -> Poll<Option<String>> {
        self.shared.poll_receive(self.connection, cx)
    }

    fn poll_send(&self, cx: &Context<'_>, json: &str) -> Poll<io::Result<()>> {
        let sent = self.shared.with(|state| {
            ready!(state.poll_room(self.connection, cx));
            let sent = state.server.send(self.connection, json);
            if sent == Err(SendError::Full) {
                state.full(self.connection);
                ready!(state.poll_room(self.connection, cx));
            }
            Poll::Ready(sent)
        });
        match ready!(sent) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(SendError::Misuse { rule, message }) => {
                self.tell(&Notice::Dropped { connection: self.number(), rule, message });
                Poll::Ready(Ok(()))
            }
            Err(error) => Poll::Ready(Err(io::Error::new(io::ErrorKind::BrokenPipe, error))),
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.shared.with(|state| state.leave(self.connection));
        self.shared.with(|state| state.bury(self.connection));
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe").field("connection", &self.number()).finish_non_exhaustive()
    }
}

impl Transport for Pipe {
    const WHOLE: bool = true;

    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        let json = ready!(self.poll_receive(cx));
        if let Some(json) = &json {
            take(json.as_bytes());
        }
        Poll::Ready(Ok(json.is_some()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let json = simdutf8::basic::from_utf8(bytes).map_err(io::Error::other)?;
        ready!(self.poll_send(cx, json))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shared.with(|state| state.server.close(self.connection));
        Poll::Ready(Ok(()))
    }

    fn clock(&mut self) -> Option<Clock> {
        Some(self.timer.clock())
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.timer.poll_until(cx, time)
    }
}
