//! tokio's clock for transports.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use libacp::aio::Clock;
use tokio::time::{sleep_until, Instant, Sleep};

/// The clock of a transport, which begins with it, and the one time that it waits for.
#[derive(Debug)]
pub(crate) struct Timer {
    begun: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    pub(crate) fn new() -> Self {
        Timer { begun: Instant::now(), sleep: None }
    }

    /// See [`Transport::clock`](libacp::aio::Transport::clock).
    pub(crate) fn clock(&self) -> Clock {
        let begun = self.begun;
        Box::new(move || begun.elapsed())
    }

    /// See [`Transport::poll_until`](libacp::aio::Transport::poll_until).
    pub(crate) fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        let until = self.begun + time;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if sleep.deadline() != until {
            sleep.as_mut().reset(until);
        }
        sleep.as_mut().poll(cx)
    }
}
