//! What a host sees of a remote agent: messages in, messages out.

use std::fmt;
use std::future::{poll_fn, Future};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use libacp::aio::{Clock, Transport};

use super::shared::{Ended, Shared};
use crate::timer::Timer;

/// The connection to a remote agent: a [`Transport`], or two methods for messages as JSON. It is there as long as the agent
/// can be reached again; calls whose outcome is unknown end with an error (HTTP-18). When it is dropped, the connection
/// ends.
pub struct RemotePipe {
    shared: Arc<Shared>,
    timer: Timer,
    closing: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl RemotePipe {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        RemotePipe { shared, timer: Timer::new(), closing: None }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The agent's next message; `None` once this side has closed the connection.
    ///
    /// # Errors
    /// [`Ended`] if the connection is over for another reason.
    pub async fn receive(&self) -> io::Result<Option<String>> {
        poll_fn(|cx| self.shared.poll_receive(cx)).await
    }

    /// Sends a message, once there is room for it. An answer to a question that was lost is dropped; so is what cannot be
    /// sent, with an error for calls and for what is no message.
    ///
    /// # Errors
    /// If the connection is over.
    pub async fn send(&self, json: &str) -> io::Result<()> {
        poll_fn(|cx| self.shared.poll_send(cx, json)).await
    }

    /// Ends the connection, and waits until the server knows it, for two seconds at most.
    pub async fn close(self) {
        self.shared.close();
        self.shared.done().await;
    }

    /// Why the connection is over, if it is, and not because this side has closed it.
    pub fn ended(&self) -> Option<Ended> {
        self.shared.ended()
    }
}

impl Drop for RemotePipe {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for RemotePipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemotePipe").field("ended", &self.ended()).finish_non_exhaustive()
    }
}

impl Transport for RemotePipe {
    const WHOLE: bool = true;

    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        let json = ready!(self.shared.poll_receive(cx))?;
        if let Some(json) = &json {
            take(json.as_bytes());
        }
        Poll::Ready(Ok(json.is_some()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let json = simdutf8::basic::from_utf8(bytes).map_err(io::Error::other)?;
        ready!(self.shared.poll_send(cx, json))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shared = &self.shared;
        let closing = self.closing.get_or_insert_with(|| {
            shared.close();
            let shared = Arc::clone(shared);
            Box::pin(async move { shared.done().await })
        });
        closing.as_mut().poll(cx).map(Ok)
    }

    fn clock(&mut self) -> Option<Clock> {
        Some(self.timer.clock())
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.timer.poll_until(cx, time)
    }
}
