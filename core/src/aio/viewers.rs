//! Those that wait until a view has changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::view::View;

#[derive(Default)]
pub(super) struct Viewers {
    waiting: HashMap<u64, Viewer>,
    /// How many there were.
    count: u64,
}

struct Viewer {
    session: Arc<str>,
    since: u64,
    waker: Waker,
}

impl Viewers {
    pub(super) fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub(super) fn wait(&mut self, viewer: u64, session: &str, since: u64, waker: Waker) {
        self.waiting.insert(viewer, Viewer { session: session.into(), since, waker });
    }

    pub(super) fn forget(&mut self, viewer: u64) {
        self.waiting.remove(&viewer);
    }

    /// The wakers of those for whom there is something.
    pub(super) fn told(&mut self, news: impl Fn(&str, u64) -> bool) -> Vec<Waker> {
        let mut wakers = Vec::new();
        self.waiting.retain(|_, viewer| {
            let told = news(&viewer.session, viewer.since);
            if told {
                wakers.push(viewer.waker.clone());
            }
            !told
        });
        wakers
    }
}

/// What there is to tell of a view: its revision if it is another one, `None` if there will be no other.
pub(super) fn news(view: Option<&View>, over: bool, since: u64) -> Poll<Option<u64>> {
    match view {
        Some(view) if view.revision() != since => Poll::Ready(Some(view.revision())),
        Some(view) if !view.is_frozen() && !over => Poll::Pending,
        _ => Poll::Ready(None),
    }
}
