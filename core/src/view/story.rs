//! The entries of a conversation in order, found by their ids, and by when they changed last; and what becomes of the
//! oldest ones when there are too many.
//!
//! Entries stand in a list by their index, and are never put in between. Those that changed are a second list through the
//! same entries, the one that changed last at its end. So what changed since a revision costs as much as it is, and a
//! change costs the same however many entries there are.

use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::hash::{BuildHasher, RandomState};

use super::entry::{Entry, Own};
use super::kind::EntryKind;
use super::shelf::Shelf;
use crate::engine::operations::Speaker;

/// The index of no entry.
pub(super) const NONE: u64 = u64::MAX;
/// So many entries that are not finished are passed over by who looks for the oldest finished one.
const PATIENCE: usize = 64;

/// How much is kept of a conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// How an index stands in a link: its low half. Of two entries that are kept at once no two have the same, as there are
/// fewer of them ([`Bounds::MOST`]).
#[allow(clippy::cast_possible_truncation, reason = "the half that is left out is known")]
fn low(index: u64) -> u32 {
    index as u32
}

impl Bounds {
    /// More entries than these are never kept whole, and no more stubs.
    pub(super) const MOST: usize = 1 << 30;
}

/// Kinds whose entries have ids.
const SHELVES: usize = 9;

/// Where the ids of a kind are kept; `None` for what has none.
const fn shelf(kind: EntryKind) -> Option<usize> {
    Some(match kind {
        EntryKind::Message(Speaker::User) => 0,
        EntryKind::Message(Speaker::Agent) => 1,
        EntryKind::Message(Speaker::Thought) => 2,
        EntryKind::Message(Speaker::Session) => 3,
        EntryKind::ToolCall => 4,
        EntryKind::Terminal => 5,
        EntryKind::Plan => 6,
        EntryKind::Compaction => 7,
        EntryKind::Subagent => 8,
        EntryKind::Notice | EntryKind::Update => return None,
    })
}

#[derive(Debug, Clone)]
pub(super) struct Story {
    /// No two stories of a view have one number.
    pub(super) number: u64,
    /// Boxed, so that a list that grows moves none of them.
    entries: VecDeque<Box<Entry>>,
    /// The index of the first of them.
    first: u64,
    /// By kind. Boxed, as a chunk looks at everything else here and seldom at these.
    shelves: Box<[Shelf; SHELVES]>,
    /// How ids are hashed.
    hashing: RandomState,
    /// The one that changed last.
    newest: u64,
    pub(super) bytes: usize,
    /// How many are no stubs, and where to look for the oldest of them.
    full: usize,
    oldest: u64,
    pub(super) turn: u64,
    /// Where the turn begins.
    pub(super) turn_from: u64,
    pub(super) in_turn: bool,
    /// In a replay: something else than a message of the user's was told since the turn began.
    pub(super) answered: bool,
    /// The tool calls of earlier turns that the turn has begun again.
    again: BTreeSet<u64>,
    /// The message without an id that a chunk without one goes on with.
    run: u64,
    /// Entries that were made stubs, and entries that are not even that.
    pub(super) trimmed: u64,
    pub(super) dropped: u64,
}

impl Story {
    pub(super) fn new(number: u64) -> Self {
        Story {
            number,
            entries: VecDeque::new(),
            first: 0,
            shelves: Box::default(),
            hashing: RandomState::new(),
            newest: NONE,
            bytes: 0,
            full: 0,
            oldest: 0,
            turn: 0,
            turn_from: 0,
            in_turn: false,
            answered: false,
            again: BTreeSet::new(),
            run: NONE,
            trimmed: 0,
            dropped: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The index of the first entry that is kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The index that the next entry gets.
    pub(super) fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub(super) fn get(&self, index: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(index.checked_sub(self.first)?).ok()?).map(|entry| &**entry)
    }

    pub(super) fn get_mut(&mut self, index: u64) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(index.checked_sub(self.first)?).ok()?).map(|entry| &mut **entry)
    }

    /// All that are there, in order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().map(|entry| &**entry).filter(|entry| !entry.is_gone())
    }

    pub(super) fn find(&self, kind: EntryKind, id: &str) -> Option<u64> {
        let found = &self.shelves[shelf(kind)?];
        let is = |index| self.get(index).is_some_and(|entry| entry.id.as_deref() == Some(id));
        if is(found.recent) {
            return Some(found.recent);
        }
        found.find(self.hashing.hash_one(id), is)
    }

    /// Lets an entry be found by its id.
    fn put(&mut self, index: u64) {
        let Story { entries, first, shelves, hashing, .. } = self;
        let get = |index: u64| entries.get(usize::try_from(index.checked_sub(*first)?).ok()?);
        let Some(entry) = get(index) else { return };
        let (Some(id), Some(kind)) = (entry.id.as_deref(), shelf(entry.kind)) else { return };
        let same = |known| known != index && get(known).is_some_and(|entry| entry.id.as_deref() == Some(id));
        shelves[kind].put(hashing.hash_one(id), index, same);
    }

    /// Lets it be found no more.
    fn take(&mut self, kind: EntryKind, id: Option<&str>, index: u64) {
        if let (Some(id), Some(shelf)) = (id, shelf(kind)) {
            self.shelves[shelf].remove(self.hashing.hash_one(id), index);
        }
    }

    /// Adds an entry at the end.
    pub(super) fn push(&mut self, kind: EntryKind, id: Option<&str>) -> u64 {
        let index = self.next();
        let mut entry = Entry::new(index, kind, id.map(Into::into), self.turn);
        (entry.older, entry.newer) = (low(index), low(index));
        self.entries.push_back(Box::new(entry));
        self.put(index);
        self.full += 1;
        if kind != EntryKind::Terminal {
            self.run = NONE;
        }
        index
    }

    /// Gives an entry an id that it did not have.
    pub(super) fn name(&mut self, index: u64, id: &str) {
        let Some(entry) = self.get_mut(index) else { return };
        entry.id = Some(id.into());
        self.put(index);
    }

    /// The message that a chunk without an id goes on with (TURN-09).
    pub(super) fn run(&self, kind: EntryKind) -> Option<u64> {
        self.get(self.run).filter(|entry| entry.kind == kind && !entry.is_gone()).map(|_| self.run)
    }

    pub(super) fn begin_run(&mut self, index: u64) {
        self.run = index;
    }

    pub(super) fn end_run(&mut self) {
        self.run = NONE;
    }

    /// An entry has changed in this revision.
    #[inline]
    pub(super) fn touch(&mut self, index: u64, revision: u64, rewritten: bool) {
        let newest = self.newest;
        let Some(entry) = self.get_mut(index) else { return };
        entry.revision = revision;
        if rewritten {
            entry.rewritten = revision;
        }
        let now = entry.cost();
        let before = std::mem::replace(&mut entry.counted, now);
        if rewritten {
            // What it took is more than its content reached.
            entry.start += before as u64 + 1;
        }
        self.bytes = self.bytes + now - before;
        if newest != index {
            self.link_last(index);
        }
    }

    #[inline(never)]
    fn link_last(&mut self, index: u64) {
        self.unlink(index);
        let newest = self.newest;
        let Some(entry) = self.get_mut(index) else { return };
        // One at an end is linked to itself.
        (entry.older, entry.newer) = (low(if newest == NONE { index } else { newest }), low(index));
        if let Some(shelf) = shelf(entry.kind) {
            self.shelves[shelf].recent = index;
        }
        if let Some(last) = self.get_mut(newest) {
            last.newer = low(index);
        }
        self.newest = index;
    }

    #[inline]
    fn unlink(&mut self, index: u64) {
        let Some(&Entry { older, newer, .. }) = self.get(index) else { return };
        let (before, after) = (self.linked(index, older), self.linked(index, newer));
        if let Some(entry) = before.and_then(|before| self.get_mut(before)) {
            entry.newer = if after.is_some() { newer } else { older };
        }
        if let Some(entry) = after.and_then(|after| self.get_mut(after)) {
            entry.older = if before.is_some() { older } else { newer };
        }
        if self.newest == index {
            self.newest = before.unwrap_or(NONE);
        }
    }

    /// The index that a link leads to; none where it leads nowhere else.
    #[inline]
    fn linked(&self, index: u64, link: u32) -> Option<u64> {
        (link != low(index)).then(|| self.first + u64::from(link.wrapping_sub(low(self.first))))
    }

    /// Those that changed after a revision, by their index; with those that are gone.
    pub(super) fn since(&self, revision: u64) -> Vec<u64> {
        let mut changed = Vec::new();
        let mut at = self.get(self.newest);
        while let Some(entry) = at.filter(|entry| entry.revision > revision) {
            changed.push(entry.index);
            at = self.linked(entry.index, entry.older).and_then(|older| self.get(older));
        }
        // Heaps are needed elsewhere too; another way of sorting is a lot of code for modules that are downloaded.
        BinaryHeap::from(changed).into_sorted_vec()
    }

    /// Takes an entry out; its place stays empty.
    pub(super) fn remove(&mut self, index: u64, revision: u64) {
        let Some(entry) = self.get_mut(index).filter(|entry| !entry.is_gone()) else { return };
        let (kind, id, was_full) = (entry.kind, entry.id.take(), !entry.is_trimmed());
        entry.leave();
        self.full -= usize::from(was_full);
        self.take(kind, id.as_deref(), index);
        if self.run == index {
            self.run = NONE;
        }
        self.touch(index, revision, false);
    }

    #[inline]
    pub(super) fn is_over(&self, bounds: Bounds) -> bool {
        let stubs = self.entries.len() - self.full;
        self.full > bounds.entries || self.bytes > bounds.bytes || stubs > bounds.entries
    }

    /// Gives up the oldest until all is within bounds, but for the entry that is being written; whether anything was.
    #[inline(never)]
    pub(super) fn fit(&mut self, bounds: Bounds, keep: u64, revision: &mut u64) -> bool {
        let mut changed = false;
        while self.full > bounds.entries || self.bytes > bounds.bytes {
            let Some(index) = self.victim(keep) else { break };
            if let Some(entry) = self.get_mut(index) {
                entry.trim();
            }
            self.full -= 1;
            self.trimmed += 1;
            *revision += 1;
            self.touch(index, *revision, true);
            changed = true;
        }
        // Ids of stubs are bytes too.
        while self.entries.len() - self.full > bounds.entries || (self.bytes > bounds.bytes && self.first < keep) {
            self.drop_first();
            changed = true;
        }
        changed
    }

    /// The oldest entry that is no stub and is finished, or the oldest of many that are not.
    fn victim(&mut self, keep: u64) -> Option<u64> {
        self.oldest = self.oldest.max(self.first);
        while self.get(self.oldest).is_some_and(Entry::is_trimmed) {
            self.oldest += 1;
        }
        let from = usize::try_from(self.oldest - self.first).ok()?;
        let mut full = self
            .entries
            .range(from.min(self.entries.len())..)
            .filter(|entry| !entry.is_trimmed() && entry.index != keep);
        let oldest = full.clone().next()?.index;
        Some(full.by_ref().take(PATIENCE).find(|entry| entry.is_finished()).map_or(oldest, |entry| entry.index))
    }

    fn drop_first(&mut self) {
        let index = self.first;
        self.unlink(index);
        let Some(entry) = self.entries.pop_front() else { return };
        self.first += 1;
        self.bytes -= entry.counted;
        self.full -= usize::from(!entry.is_trimmed());
        self.dropped += u64::from(!entry.is_gone());
        self.take(entry.kind, entry.id.as_deref(), index);
    }

    pub(super) fn begin_turn(&mut self) {
        if !self.in_turn {
            self.in_turn = true;
            self.turn += 1;
            self.turn_from = self.next();
            self.run = NONE;
            self.answered = false;
            self.again.clear();
        }
    }

    /// In a replay nothing may say where turns begin, but a message of the user's that follows something else begins one.
    pub(super) fn replay_turn(&mut self) {
        self.in_turn &= !self.answered;
        self.begin_turn();
    }

    pub(super) fn end_turn(&mut self) {
        self.in_turn = false;
        self.run = NONE;
    }

    /// The entries of the turn that runs, or ran last.
    pub(super) fn of_turn(&self) -> Vec<u64> {
        let from = usize::try_from(self.turn_from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let all = self.entries.range(from.min(self.entries.len())..);
        all.filter(|entry| entry.turn == self.turn && !entry.is_gone()).map(|entry| entry.index).collect()
    }
    /// A tool call is begun again.
    pub(super) fn begun_again(&mut self, index: u64) {
        if self.get(index).is_some_and(|entry| entry.turn != self.turn) {
            self.again.insert(index);
        }
    }

    /// Those of the turn, and the tool calls of earlier ones that it has begun again.
    pub(super) fn worked_on(&self) -> Vec<u64> {
        let mut all = self.of_turn();
        all.extend(&self.again);
        all
    }

    /// The terminals of the client's own, in order.
    pub(super) fn into_own(self) -> impl Iterator<Item = Box<Entry>> {
        self.entries.into_iter().filter(|entry| entry.own != Own::No && !entry.is_gone())
    }

    /// Adds an entry of another story at the end.
    pub(super) fn adopt(&mut self, mut entry: Box<Entry>) -> u64 {
        let index = self.next();
        self.full += usize::from(!entry.is_trimmed());
        (entry.index, entry.counted, entry.older, entry.newer) = (index, 0, low(index), low(index));
        entry.turn = entry.turn.min(self.turn);
        self.entries.push_back(entry);
        self.put(index);
        index
    }
}
