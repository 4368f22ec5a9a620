//! Who is connected: counted, and bounded.
//!
//! Anybody on this machine can connect. Those who have not shown the token yet are strangers: there are few at a time, and
//! the one that came first has to go for the next, so that however many come keep nobody else out. Each has a moment to show
//! the token, for which the next ones wait.

use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Strangers at a time, of one address and in all. A page that loads takes six connections at once.
const STRANGERS_OF_ONE: usize = 32;
const STRANGERS: usize = 40;
/// Connections at a time that have shown the token.
const KNOWN: usize = 40;
/// The moment that each has.
const MOMENT: Duration = Duration::from_millis(500);
/// How long a stranger that is sent away may take to go before the next one is let in all the same.
const LEAVING: Duration = Duration::from_millis(200);

/// All connections, in the order in which they came.
#[derive(Default)]
pub(crate) struct Visitors {
    present: Mutex<Vec<Visitor>>,
    left: Condvar,
}

struct Visitor {
    address: IpAddr,
    stream: Arc<TcpStream>,
    stranger: bool,
    since: Instant,
}

/// One connection, which is counted while this is there.
pub(crate) struct Visit {
    visitors: Arc<Visitors>,
    pub(crate) stream: Arc<TcpStream>,
}

impl Visitors {
    fn present(&self) -> MutexGuard<'_, Vec<Visitor>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a stranger in, for whom others may have to go.
    pub(crate) fn admit(self: &Arc<Self>, stream: TcpStream) -> io::Result<Visit> {
        let address = stream.peer_addr()?.ip();
        let stream = Arc::new(stream);
        let mut present = self.present();
        while let Some(first) = excess(&present, address) {
            let early = MOMENT.saturating_sub(first.since.elapsed());
            if early.is_zero() {
                // Its own thread finds the end of its input and leaves. One that is gone already is no reason to fail.
                let _ = first.stream.shutdown(Shutdown::Both);
            }
            let patience = if early.is_zero() { LEAVING } else { early };
            let (after, late) = self.left.wait_timeout(present, patience).unwrap_or_else(PoisonError::into_inner);
            present = after;
            if early.is_zero() && late.timed_out() {
                break;
            }
        }
        present.push(Visitor { address, stream: Arc::clone(&stream), stranger: true, since: Instant::now() });
        Ok(Visit { visitors: Arc::clone(self), stream })
    }
}

/// The stranger that has to go before another one of this address may come.
fn excess(present: &[Visitor], address: IpAddr) -> Option<&Visitor> {
    let first = |most: usize, counts: &dyn Fn(&Visitor) -> bool| {
        let mut strangers = present.iter().filter(|visitor| visitor.stranger && counts(visitor));
        let first = strangers.next();
        first.filter(|_| strangers.count() + 1 >= most)
    };
    first(STRANGERS_OF_ONE, &|visitor| visitor.address == address).or_else(|| first(STRANGERS, &|_| true))
}

impl Visit {
    /// Lets one stay that has shown the token. False when there are too many of these.
    pub(crate) fn let_stay(&self) -> bool {
        let mut present = self.visitors.present();
        let room = present.iter().filter(|visitor| !visitor.stranger).count() < KNOWN;
        let own = present.iter_mut().find(|visitor| Arc::ptr_eq(&visitor.stream, &self.stream));
        own.is_some_and(|visitor| {
            visitor.stranger = !room;
            room
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visitors.present().retain(|visitor| !Arc::ptr_eq(&visitor.stream, &self.stream));
        self.visitors.left.notify_all();
    }
}
