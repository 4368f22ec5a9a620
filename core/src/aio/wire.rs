//! The bytes between a connection and its transport.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use super::handlers::{Handlers, Report};
use super::shared::{Shared, State};
use super::trace::Tracer;
use super::transport::Transport;
use crate::framing::Framing;

/// The size of one write.
const WRITE: usize = 64 * 1024;
/// How long a peer that no longer reads may say nothing before it counts as gone.
const DEAF: Duration = Duration::from_secs(1);

pub(super) struct Wire<'h, T, H> {
    transport: T,
    handlers: &'h H,
    tracer: Option<Tracer>,
    /// The bytes being written: a copy, because the connection may change while the transport takes its time.
    out: Vec<u8>,
    written: usize,
    unflushed: bool,
    /// The peer closed its writing side.
    mute: bool,
    /// The peer closed its reading side.
    deaf: bool,
    /// When a deaf peer counts as gone, where there is a clock.
    gone: Option<Duration>,
    problem: Option<io::Error>,
}

impl<'h, T: Transport, H: Handlers> Wire<'h, T, H> {
    pub(super) fn new(mut transport: T, shared: &Shared, handlers: &'h H) -> Self {
        let clock = transport.clock();
        let tracer = shared.with(|state| {
            state.clock = clock;
            handlers.traces().then(|| Tracer::new(state.connection().config()))
        });
        Wire {
            transport,
            handlers,
            tracer,
            out: Vec::new(),
            written: 0,
            unflushed: false,
            mute: false,
            deaf: false,
            gone: None,
            problem: None,
        }
    }

    /// Passes the time to the connection when that is due. Returns whether it did.
    pub(super) fn tell_time(&mut self, cx: &mut Context<'_>, shared: &Shared) -> bool {
        let due = shared.with(|state| state.host.poll_timeout()).map(Duration::from_millis);
        let Some(next) = due.into_iter().chain(self.gone).min() else { return false };
        let told = self.transport.poll_until(cx, next).is_ready();
        if told {
            shared.with(State::tell_time);
            if self.gone == Some(next) {
                self.miss(shared);
            }
        }
        told
    }

    /// A deaf peer has said nothing for a while. What is held back here is not its silence.
    fn miss(&mut self, shared: &Shared) {
        self.gone = None;
        if self.mute {
            return;
        }
        if shared.with(State::hungry) {
            self.mute = true;
            shared.with(|state| state.host.connection_mut().receive_eof());
        } else {
            self.wait(shared);
        }
    }

    /// Starts to wait for a deaf peer.
    fn wait(&mut self, shared: &Shared) {
        self.gone = shared.with(|state| state.clock.as_ref().map(|clock| clock() + DEAF));
    }

    /// Nothing that is written reaches the peer, but what it has sent is still worth reading.
    fn deafen(&mut self, shared: &Shared) {
        self.deaf = true;
        self.wait(shared);
    }

    /// Reads once, if there is room. Returns whether anything changed.
    pub(super) fn read(&mut self, cx: &mut Context<'_>, shared: &Shared) -> bool {
        if self.mute || !shared.with(State::hungry) {
            return false;
        }
        let (tracer, handlers) = (&mut self.tracer, self.handlers);
        let take = &mut |bytes: &[u8]| {
            trace(tracer, handlers, false, bytes);
            shared.with(|state| {
                // Time-outs are measured from the time that the connection knows.
                state.tell_time();
                state.host.connection_mut().receive(bytes);
            });
        };
        match self.transport.poll_read(cx, take) {
            Poll::Pending => return false,
            Poll::Ready(Ok(true)) => {
                if self.deaf {
                    self.wait(shared);
                }
                return true;
            }
            Poll::Ready(Ok(false)) => {}
            Poll::Ready(Err(error)) => self.problem = Some(error),
        }
        self.mute = true;
        shared.with(|state| state.host.connection_mut().receive_eof());
        true
    }

    /// Writes once, if there is something to write. Returns whether anything changed.
    pub(super) fn write(&mut self, cx: &mut Context<'_>, shared: &Shared) -> bool {
        if self.written == self.out.len() {
            self.refill(shared);
        }
        let rest = &self.out[self.written..];
        if rest.is_empty() {
            self.flush(cx, shared);
            return false;
        }
        if self.deaf {
            self.written = self.out.len();
            return true;
        }
        match self.transport.poll_write(cx, rest) {
            Poll::Pending => return false,
            Poll::Ready(Ok(count @ 1..)) => self.written += count,
            Poll::Ready(Ok(_) | Err(_)) => self.deafen(shared),
        }
        self.unflushed = true;
        true
    }

    fn refill(&mut self, shared: &Shared) {
        self.out.clear();
        self.written = 0;
        shared.with(|state| {
            let connection = state.host.connection_mut();
            let bytes = connection.transmit();
            let most = if connection.config().framing == Framing::Messages { bytes.len() } else { WRITE };
            let count = bytes.len().min(most);
            self.out.extend_from_slice(&bytes[..count]);
            connection.consume(count);
            if count > 0 && state.host.has_room() {
                state.unpark();
            }
        });
        trace(&mut self.tracer, self.handlers, true, &self.out);
    }

    fn flush(&mut self, cx: &mut Context<'_>, shared: &Shared) {
        if self.unflushed && !self.deaf {
            match self.transport.poll_flush(cx) {
                Poll::Pending => return,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => self.deafen(shared),
            }
            self.unflushed = false;
        }
    }

    /// Whether everything was written and this side of the transport is closed.
    pub(super) fn is_done(&mut self, cx: &mut Context<'_>, shared: &Shared) -> bool {
        let left = self.written < self.out.len() || shared.with(|state| !state.connection().transmit().is_empty());
        if left {
            return false;
        }
        // An error of closing is ignored.
        self.deaf || self.transport.poll_close(cx).is_ready()
    }

    pub(super) fn end(mut self) -> io::Result<()> {
        if let Some(tracer) = &mut self.tracer {
            tracer.end(|message| {
                self.handlers.report(&Report::Traced(message));
            });
        }
        self.problem.map_or(Ok(()), Err)
    }
}

/// Passes the messages in these bytes to the trace hook.
fn trace<H: Handlers>(tracer: &mut Option<Tracer>, handlers: &H, sent: bool, bytes: &[u8]) {
    if let Some(tracer) = tracer {
        tracer.add(sent, bytes, |message| {
            handlers.report(&Report::Traced(message));
        });
    }
}
