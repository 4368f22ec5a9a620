//! Tells a state machine the time when it wants to know it.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::{sleep_until, Duration, Instant};

/// The longest sleep. A day without anything to do is as good as for ever.
const LONGEST: u64 = 86_400_000;

/// Milliseconds since a moment.
pub(super) fn since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Runs until `tell` returns nothing, which tells the time and returns when to do so next. `sooner` is for a time before that.
pub(super) async fn run(begun: Instant, sooner: Arc<Notify>, tell: impl Fn() -> Option<u64>) {
    while let Some(next) = tell() {
        let next = next.min(since(begun).saturating_add(LONGEST));
        tokio::select! {
            () = sleep_until(begun + Duration::from_millis(next)) => {}
            () = sooner.notified() => {}
        }
    }
}
