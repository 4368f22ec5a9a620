//! What has changed in a view since a revision.

use std::borrow::Cow;

use super::{Entry, EntryKind, View};
use crate::json::Writer;

/// What has changed since a revision; see [`View::since`].
#[derive(Debug, Clone)]
pub struct Changes<'v> {
    view: &'v View,
    since: u64,
    changed: Vec<u64>,
}

impl<'v> Changes<'v> {
    pub(super) fn new(view: &'v View, since: u64) -> Self {
        let since = if since < view.since { 0 } else { since };
        Changes { view, since, changed: view.story.since(since) }
    }

    /// Whether nothing has.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && !self.view.facts.changed_since(self.since)
    }

    /// Whether what was drawn is of another epoch: all entries are among the changed ones, and no others are there.
    pub fn is_reset(&self) -> bool {
        self.since == 0
    }

    fn of(&self, terminals: bool) -> impl Iterator<Item = &'v Entry> {
        let view = self.view;
        let there = self.changed.clone().into_iter().filter_map(move |index| view.entry(index));
        there.filter(move |entry| (entry.kind == EntryKind::Terminal) == terminals)
    }

    /// The entries that are new or have changed, in order.
    pub fn entries(&self) -> impl Iterator<Item = &'v Entry> {
        self.of(false)
    }

    /// The terminals that are new or have changed.
    pub fn terminals(&self) -> impl Iterator<Item = &'v Entry> {
        self.of(true)
    }

    /// The indexes of entries that were there and are not any more. Those that were dropped are not among them: they are
    /// the ones before the first.
    pub fn removed(&self) -> impl Iterator<Item = u64> + '_ {
        self.changed.iter().copied().filter(|index| self.view.entry(*index).is_none())
    }

    /// The names of the other members of [`View::to_json`] that have changed, and their JSON; after a
    /// [reset](Self::is_reset) those of all.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, Cow<'v, str>)> {
        self.view.facts.since(self.since)
    }

    /// All of it as JSON text: an object with `revision`, `epoch`, `reset`, the lists `entries`, `terminals` and `removed`,
    /// `first` (the index of the first entry that is kept), and those other members of [`View::to_json`] that have changed.
    pub fn to_json(&self) -> String {
        self.write(true)
    }

    /// The same with heads of entries and terminals ([`Entry::head_to_json`]), which lack what can be long and grows. Each
    /// has a number `end`; where that is another one than before, [`Entry::content_from`] the one before has what is new.
    pub fn heads_to_json(&self) -> String {
        self.write(false)
    }

    fn write(&self, whole: bool) -> String {
        let mut out = Writer::new();
        out.begin_object().key("revision").unsigned(self.view.revision).key("epoch").unsigned(self.view.epoch);
        out.key("reset").boolean(self.is_reset()).key("first").unsigned(self.view.story.first());
        self.members().for_each(|(name, value)| _ = out.key(name).json(&value));
        out.key("entries").begin_array();
        self.entries().for_each(|entry| entry.write(&mut out, whole));
        out.end_array().key("terminals").begin_array();
        self.terminals().for_each(|entry| entry.write(&mut out, whole));
        out.end_array().key("removed").begin_array();
        self.removed().for_each(|index| _ = out.unsigned(index));
        out.end_array().end_object();
        out.finish().unwrap_or_default()
    }
}
