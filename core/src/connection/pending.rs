//! Open requests, one table for each direction.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::jsonrpc::Id;
use crate::validation::table::Method;

/// A request that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    /// Its id.
    pub id: Id,
    /// Its number on this connection; see [`Request::serial`](super::Request::serial).
    pub serial: u64,
    /// The method.
    pub method: Cow<'static, str>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
    /// Whether its sender has asked to cancel it.
    pub cancelled: bool,
    /// When it times out, in the host's milliseconds; of a peer's request, when the host is reminded of it.
    pub deadline: Option<u64>,
    pub(crate) row: Option<&'static Method>,
    /// Which session of that id it is about.
    pub(crate) life: Option<u64>,
    /// What the tracker must remember until the answer: a terminal's id, say.
    pub(crate) note: Option<Box<str>>,
}

/// The open requests of one direction, by number and by id.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    by_serial: BTreeMap<u64, OpenRequest>,
    by_id: HashMap<Id, u64>,
    deadlines: BTreeSet<(u64, u64)>,
}

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.by_serial.len()
    }

    pub(crate) fn insert(&mut self, request: OpenRequest) {
        self.by_id.insert(request.id.clone(), request.serial);
        if let Some(deadline) = request.deadline {
            self.deadlines.insert((deadline, request.serial));
        }
        self.by_serial.insert(request.serial, request);
    }

    pub(crate) fn get(&self, id: &Id) -> Option<&OpenRequest> {
        self.by_id.get(id).and_then(|serial| self.by_serial.get(serial))
    }

    pub(crate) fn by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.by_serial.get(&serial)
    }

    /// Marks a request as cancelled; whether it was not before.
    pub(crate) fn mark_cancelled(&mut self, id: &Id) -> Option<&OpenRequest> {
        let request = self.by_serial.get_mut(self.by_id.get(id)?)?;
        if std::mem::replace(&mut request.cancelled, true) {
            None
        } else {
            Some(request)
        }
    }

    pub(crate) fn remove(&mut self, id: &Id) -> Option<OpenRequest> {
        let serial = self.by_id.remove(id)?;
        let request = self.by_serial.remove(&serial)?;
        if let Some(deadline) = request.deadline {
            self.deadlines.remove(&(deadline, serial));
        }
        Some(request)
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The request whose time was up first, if one's was.
    pub(crate) fn pop_expired(&mut self, now: u64) -> Option<OpenRequest> {
        let &(deadline, serial) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        let id = self.by_serial.get(&serial)?.id.clone();
        self.remove(&id)
    }

    /// The request whose time was up first, if one's was; it stays open, and is told of once.
    pub(crate) fn overdue(&mut self, now: u64) -> Option<&OpenRequest> {
        let first = self.deadlines.first().filter(|(deadline, _)| *deadline <= now).copied()?;
        self.deadlines.remove(&first);
        self.by_serial.get(&first.1)
    }

    /// Nobody is told of what is late any more.
    pub(crate) fn stop_clock(&mut self) {
        self.deadlines.clear();
    }

    pub(crate) fn pop_first(&mut self) -> Option<OpenRequest> {
        let id = self.by_serial.first_key_value()?.1.id.clone();
        self.remove(&id)
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenRequest> {
        self.by_serial.values()
    }
}
