//! Counts what runs, for those who wait until nothing does.

use tokio::sync::watch;

/// How many run.
#[derive(Debug)]
pub(super) struct Count(watch::Sender<usize>);

impl Count {
    pub(super) fn new() -> Self {
        Count(watch::Sender::new(0))
    }

    /// Counts one until this is dropped.
    pub(super) fn one(&self) -> One {
        self.0.send_modify(|running| *running += 1);
        One(self.0.clone())
    }

    /// Waits until none runs.
    pub(super) async fn none(&self) {
        drop(self.0.subscribe().wait_for(|running| *running == 0).await);
    }
}

/// One that runs.
#[derive(Debug)]
pub(super) struct One(watch::Sender<usize>);

impl Drop for One {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}
