//! Who is connected: counted, and bounded.
//!
//! Anybody on this machine can connect. Those who have not shown the token yet are strangers: there are few at a time, and
//! the one that came first has to go for the next, so that however many come keep nobody else out. Each has a moment to show
//! the token, for which the next ones wait.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

/// Strangers at a time, of one address and in all. A page that loads takes six connections at once.
const STRANGERS_OF_ONE: usize = 32;
const STRANGERS: usize = 40;
/// Connections at a time that have shown the token; a browser has six to a host.
const KNOWN: usize = 96;
/// The moment that each has.
const MOMENT: Duration = Duration::from_millis(500);
/// How long a stranger that is sent away may take to go before the next one is let in all the same.
const LEAVING: Duration = Duration::from_millis(200);

/// All connections, in the order in which they came.
#[derive(Default)]
pub(crate) struct Visitors {
    present: Mutex<Vec<Visitor>>,
    left: Notify,
}

struct Visitor {
    address: IpAddr,
    /// Sends it away.
    away: Arc<Notify>,
    stranger: bool,
    since: Instant,
}

/// One connection, which is counted while this is there.
pub(crate) struct Visit {
    visitors: Arc<Visitors>,
    away: Arc<Notify>,
}

impl Visitors {
    fn present(&self) -> MutexGuard<'_, Vec<Visitor>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a stranger in, for whom others may have to go.
    pub(crate) async fn admit(self: &Arc<Self>, address: IpAddr) -> Visit {
        // One that leaves before it is waited for is not missed: its permit stays.
        while let Some((away, since)) = self.excess(address) {
            let early = MOMENT.saturating_sub(since.elapsed());
            if early.is_zero() {
                away.notify_one();
            }
            let patience = if early.is_zero() { LEAVING } else { early };
            let late = timeout(patience, self.left.notified()).await.is_err();
            if early.is_zero() && late {
                break;
            }
        }
        let away = Arc::<Notify>::default();
        let visitor = Visitor { address, away: Arc::clone(&away), stranger: true, since: Instant::now() };
        self.present().push(visitor);
        Visit { visitors: Arc::clone(self), away }
    }

    /// The stranger that has to go before another one of this address may come, and since when it is there.
    fn excess(&self, address: IpAddr) -> Option<(Arc<Notify>, Instant)> {
        let present = self.present();
        let first = |most: usize, counts: &dyn Fn(&Visitor) -> bool| {
            let mut strangers = present.iter().filter(|visitor| visitor.stranger && counts(visitor));
            let first = strangers.next();
            first.filter(|_| strangers.count() + 1 >= most)
        };
        let found = first(STRANGERS_OF_ONE, &|visitor| visitor.address == address);
        let found = found.or_else(|| first(STRANGERS, &|_| true));
        found.map(|visitor| (Arc::clone(&visitor.away), visitor.since))
    }
}

impl Visit {
    /// Lets one stay that has shown the token. False when there are too many of these.
    pub(crate) fn let_stay(&self) -> bool {
        let mut present = self.visitors.present();
        let room = present.iter().filter(|visitor| !visitor.stranger).count() < KNOWN;
        let own = present.iter_mut().find(|visitor| Arc::ptr_eq(&visitor.away, &self.away));
        own.is_some_and(|visitor| {
            visitor.stranger &= !room;
            !visitor.stranger
        })
    }

    /// Waits until it has to go.
    pub(crate) async fn sent_away(&self) {
        self.away.notified().await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visitors.present().retain(|visitor| !Arc::ptr_eq(&visitor.away, &self.away));
        self.visitors.left.notify_one();
    }
}
