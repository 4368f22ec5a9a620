//! Open requests: one table for each direction, and one for requests that ended without an answer.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use super::key::RequestKey;
use super::questions::question;
use crate::jsonrpc::Id;
use crate::map::Set;
use crate::validation::table::{Effect, Method};

/// A request that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    /// The JSON-RPC id.
    pub id: Id,
    /// The serial; see [`Request::serial`](crate::connection::Request::serial).
    pub serial: u64,
    /// The method.
    pub method: Cow<'static, str>,
    /// The session that the request is about, if any.
    pub session: Option<Arc<str>>,
    /// Whether its sender has asked to cancel the request.
    pub cancelled: bool,
    /// A time in milliseconds on the host's clock. A request of the host ends then with
    /// [`Outcome::Timeout`](crate::connection::Outcome::Timeout). For a request of the peer, the host is reminded then
    /// to answer it ([`Config::reminder`](crate::connection::Config::reminder)); the request stays open. `None` means
    /// never.
    pub deadline: Option<u64>,
    pub(crate) row: Option<&'static Method>,
    /// The generation of that session, which distinguishes it from a later session of the same id.
    pub(crate) generation: Option<u64>,
    /// What a tracker needs when the answer comes, such as a terminal's id. JSON in a format of the tracker's area.
    pub(crate) note: Option<Box<str>>,
    /// When a cancelled request ends without an answer. For a prompt that has ended, when its turn ends, too.
    pub(crate) grace: Option<u64>,
    /// How it ended before it was answered, if it did.
    pub(crate) late: Option<Late>,
}

/// What a request of the host that ended without an answer still occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    /// Everything, until its late answer.
    Holds,
    /// Nothing: it was a prompt, and its turn has ended.
    Released,
}

/// The open requests of one direction, by number and by id.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Oldest first, with the serial. `None` for one that has ended; never at the front, nor in more than half of all.
    requests: VecDeque<(u64, Option<OpenRequest>)>,
    /// The serials of open requests.
    by_id: HashMap<Id, u64>,
    /// Min-heap of deadlines with serials. May contain stale entries of finished requests, except at the top.
    deadlines: BinaryHeap<Reverse<(u64, u64)>>,
    /// Requests that are looked up by session ([`follows_session`](OpenRequest::follows_session)).
    by_session: Set<(Arc<str>, u64)>,
}

impl OpenRequest {
    /// Whether its method has this effect on a session.
    pub(crate) fn does(&self, effect: Effect) -> bool {
        self.row.is_some_and(|row| row.effect == effect)
    }

    /// Whether it is looked up by its session.
    fn follows_session(&self) -> bool {
        question(&self.method).is_some() || self.method == "session/prompt" || self.does(Effect::Attaches)
    }
}

/// Below this number of stale entries, cleaning up is not worth it.
const FEW: usize = 32;

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn insert(&mut self, request: OpenRequest) {
        self.insert_as(request.serial, request);
    }

    /// Inserts a request under a number that is higher than all others.
    pub(crate) fn insert_as(&mut self, number: u64, request: OpenRequest) {
        self.by_id.insert(request.id.clone(), number);
        self.deadlines.extend([request.deadline, request.grace].into_iter().flatten().map(|at| Reverse((at, number))));
        if let Some(session) = request.session.as_ref().filter(|_| request.follows_session()) {
            self.by_session.insert((Arc::clone(session), number), ());
        }
        self.requests.push_back((number, Some(request)));
    }

    pub(crate) fn get(&self, id: &Id) -> Option<&OpenRequest> {
        self.by_id.get(id).and_then(|serial| self.by_serial(*serial))
    }

    /// The request that a key names; `None` if its id and its serial name different ones.
    pub(crate) fn find(&self, key: RequestKey<'_>) -> Option<&OpenRequest> {
        let found = match key.serial {
            Some(serial) => self.by_serial(serial),
            None => self.get(key.id?),
        };
        found.filter(|request| key.id.is_none_or(|id| *id == request.id))
    }

    pub(crate) fn by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.requests.get(self.place(serial)?)?.1.as_ref()
    }

    /// Marks a request as cancelled; it ends at `grace` unless it is answered before. `None` if it was marked already.
    pub(crate) fn mark_cancelled(&mut self, id: &Id, grace: Option<u64>) -> Option<&OpenRequest> {
        let number = *self.by_id.get(id)?;
        let at = self.place(number)?;
        let request = self.requests.get_mut(at)?.1.as_mut()?;
        if std::mem::replace(&mut request.cancelled, true) {
            return None;
        }
        request.grace = grace;
        self.deadlines.extend(grace.map(|at| Reverse((at, number))));
        Some(request)
    }

    /// The requests of one session for which [`follows_session`](OpenRequest::follows_session) holds, oldest first.
    pub(crate) fn of_session<'p>(&'p self, session: &'p Arc<str>) -> impl Iterator<Item = &'p OpenRequest> {
        let mine = self.by_session.from(&(Arc::clone(session), 0)).take_while(move |((of, _), ())| of == session);
        mine.filter_map(|((_, number), ())| self.by_serial(*number))
    }

    /// Makes the requests of a session that were sent after this one belong to its new generation.
    pub(crate) fn adopt(&mut self, session: &Arc<str>, after: u64, generation: Option<u64>) {
        let mine = self.by_session.from(&(Arc::clone(session), after + 1)).take_while(|((of, _), ())| of == session);
        let numbers: Vec<u64> = mine.map(|((_, number), ())| *number).collect();
        for number in numbers {
            let at = self.place(number);
            if let Some(request) = at.and_then(|at| self.requests.get_mut(at)?.1.as_mut()) {
                request.generation = generation;
            }
        }
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<OpenRequest> {
        let serial = self.by_id.remove(id)?;
        let at = self.place(serial)?;
        let request = self.requests.get_mut(at)?.1.take();
        if let Some(session) = request.as_ref().and_then(|request| request.session.as_ref()) {
            self.by_session.remove(&(Arc::clone(session), serial));
        }
        while self.requests.front().is_some_and(|(_, request)| request.is_none()) {
            self.requests.pop_front();
        }
        if self.requests.len() > 2 * self.len() + FEW {
            self.requests.retain(|(_, request)| request.is_some());
        }
        self.tidy_deadlines();
        if self.by_id.is_empty() {
            // Most connections are idle most of the time.
            self.requests = VecDeque::new();
            self.by_id.shrink_to_fit();
        }
        request
    }

    /// Marks a late prompt as one whose turn has ended.
    pub(crate) fn release(&mut self, id: &Id) {
        let at = self.by_id.get(id).and_then(|number| self.place(*number));
        if let Some(request) = at.and_then(|at| self.requests.get_mut(at)?.1.as_mut()) {
            request.late = Some(Late::Released);
            request.grace = None;
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Removes and returns the expired request with the earliest deadline.
    pub(crate) fn pop_expired(&mut self, now: u64) -> Option<OpenRequest> {
        let &Reverse((_, serial)) = self.deadlines.peek().filter(|Reverse((deadline, _))| *deadline <= now)?;
        let id = self.by_serial(serial)?.id.clone();
        self.remove(&id)
    }

    /// Returns the expired request with the earliest deadline and removes the deadline: the request stays open, and is
    /// returned once.
    pub(crate) fn overdue(&mut self, now: u64) -> Option<&OpenRequest> {
        let &Reverse((_, serial)) = self.deadlines.peek().filter(|Reverse((deadline, _))| *deadline <= now)?;
        self.deadlines.pop();
        self.tidy_deadlines();
        self.by_serial(serial)
    }

    /// Clears all deadlines.
    pub(crate) fn stop_clock(&mut self) {
        self.deadlines.clear();
    }

    pub(crate) fn pop_first(&mut self) -> Option<OpenRequest> {
        let id = self.iter().next()?.id.clone();
        self.remove(&id)
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenRequest> {
        self.requests.iter().filter_map(|(_, request)| request.as_ref())
    }

    fn place(&self, serial: u64) -> Option<usize> {
        self.requests.binary_search_by_key(&serial, |(serial, _)| *serial).ok()
    }

    fn tidy_deadlines(&mut self) {
        let over = |pending: &Self, serial| pending.by_serial(serial).is_none();
        while self.deadlines.peek().is_some_and(|Reverse((_, serial))| over(self, *serial)) {
            self.deadlines.pop();
        }
        if self.deadlines.len() > 2 * self.len() + FEW {
            let mut deadlines = std::mem::take(&mut self.deadlines);
            deadlines.retain(|Reverse((_, serial))| !over(self, *serial));
            self.deadlines = deadlines;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(serial: u64) -> Id {
        Id::Number(i64::try_from(serial).unwrap() * 7)
    }

    fn request(serial: u64, deadline: Option<u64>) -> OpenRequest {
        OpenRequest {
            id: id(serial),
            serial,
            method: Cow::Borrowed("_m"),
            session: None,
            cancelled: false,
            deadline,
            row: None,
            generation: None,
            note: None,
            grace: None,
            late: None,
        }
    }

    #[test]
    fn requests_end_in_any_order_and_leave_no_room_behind() {
        let mut pending = Pending::default();
        let mut model = std::collections::BTreeMap::new();
        for serial in 0..5000u64 {
            let deadline = (serial % 3 != 0).then_some(serial * 31 % 977);
            pending.insert(request(serial, deadline));
            model.insert(serial, deadline);
            // The first one stays open for long; most of the others end, in pseudo-random order.
            let gone = serial * 17 % 5000;
            if gone > 0 {
                let ended = pending.remove(&id(gone)).map(|request| request.serial);
                assert_eq!(ended, model.remove(&gone).map(|_| gone));
            }
            assert_eq!(pending.next_deadline(), model.values().flatten().min().copied());
            assert!(pending.requests.len() <= 2 * pending.len() + FEW);
            assert!(pending.deadlines.len() <= 2 * pending.len() + FEW);
        }
        assert!(pending.iter().map(|request| request.serial).eq(model.keys().copied()));
        assert!(model
            .iter()
            .all(|(serial, _)| pending.by_serial(*serial).is_some_and(|known| known.serial == *serial)));
        let times: Vec<_> = std::iter::from_fn(|| pending.pop_expired(500)).map(|request| request.deadline).collect();
        assert!(
            times.is_sorted() && !times.is_empty() && times.iter().all(|time| time.is_some_and(|time| time <= 500))
        );
        let next = model.values().flatten().filter(|time| **time > 500).min().copied();
        assert_eq!(pending.overdue(977).and_then(|request| request.deadline), next);
        while pending.pop_first().is_some() {}
        assert!(pending.requests.is_empty() && pending.deadlines.is_empty() && pending.len() == 0);
    }
}
