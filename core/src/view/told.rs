//! What was told of an entry beside its content: its members, its `_meta`, the question about it.
//!
//! Most entries are messages of which nothing of this was told, and have none. Of tool calls there is much, and most of it is
//! short: that stands in one text, so that an entry takes few allocations, and memory that lies together.

use std::ops::Range;

use super::meta::Meta;

/// A member is short that is no longer than this: a stub keeps it.
pub(super) const SHORT: usize = 256;
/// So many members has the kind that has most of them.
pub(super) const MEMBERS: usize = 8;
/// Room that the first member makes, and each one for which there is not enough.
const FIRST: usize = 192;
const STEP: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// The short members one behind the other, in their order. No JSON is empty, so that an empty one was not told.
    text: String,
    /// Where each ends.
    ends: [u16; MEMBERS],
    /// The others.
    long: Vec<(u8, Box<str>)>,
    pub(super) meta: Meta,
    /// The open request for permission that is about the entry.
    pub(super) permission: Option<u64>,
    bytes: usize,
}

impl Told {
    /// The JSON of a member, if it was told.
    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let short = &self.text[self.start(at)..usize::from(self.ends[at])];
        if !short.is_empty() {
            return Some(short);
        }
        self.long.iter().find(|(known, _)| usize::from(*known) == at).map(|(_, value)| &**value)
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| usize::from(self.ends[before]))
    }

    /// Sets a member, or clears it; whether that changes anything.
    pub(super) fn set(&mut self, at: usize, value: Option<&str>) -> bool {
        let short = value.filter(|value| value.len() <= SHORT).unwrap_or_default();
        let place = self.start(at)..usize::from(self.ends[at]);
        // Most members are short and not among the long ones.
        let is_long = short.len() < value.map_or(0, str::len);
        let was_long = place.is_empty() && self.long.iter().any(|(known, _)| usize::from(*known) == at);
        if is_long || was_long {
            if self.get(at) == value {
                return false;
            }
            self.set_long(at, value.filter(|_| is_long));
        } else if self.text[place.clone()] == *short {
            return false;
        }
        self.write(at, place, short);
        true
    }

    #[inline(never)]
    fn set_long(&mut self, at: usize, long: Option<&str>) {
        self.long.retain(|(known, _)| usize::from(*known) != at);
        if let (Some(long), Ok(at)) = (long, u8::try_from(at)) {
            self.long.push((at, long.into()));
        }
        self.count();
    }

    fn write(&mut self, at: usize, place: Range<usize>, short: &str) {
        let (before, now) = (place.len(), short.len());
        let missing = self.text.len() - before + now;
        if self.text.capacity() < missing {
            // There are many entries, and what is short does not grow for long.
            let room = if self.text.capacity() == 0 { FIRST } else { self.text.capacity() + STEP };
            self.text.reserve_exact(room.max(missing) - self.text.len());
        }
        if place.end == self.text.len() {
            self.text.truncate(place.start);
            self.text.push_str(short);
        } else {
            self.text.replace_range(place, short);
        }
        self.bytes = self.bytes + now - before;
        if let (Ok(before), Ok(now)) = (u16::try_from(before), u16::try_from(now)) {
            let grown = now.wrapping_sub(before);
            self.ends[at..].iter_mut().for_each(|end| *end = end.wrapping_add(grown));
        }
    }

    /// Changes `_meta`.
    pub(super) fn change_meta<T>(&mut self, change: impl FnOnce(&mut Meta) -> T) -> T {
        let changed = change(&mut self.meta);
        self.count();
        changed
    }

    /// Forgets what is long.
    pub(super) fn trim(&mut self) {
        (self.long, self.meta) = (Vec::new(), Meta::default());
        self.text.shrink_to_fit();
        self.count();
    }

    fn count(&mut self) {
        let long = self.long.iter().map(|(_, value)| value.len());
        self.bytes = self.text.len() + long.sum::<usize>() + self.meta.bytes();
    }

    /// Bytes of members, and what those of `_meta` take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_what_was_told_of_each_last() {
        let (mut told, mut model) = (Told::default(), [const { None::<String> }; MEMBERS]);
        let mut state = 1u32;
        for round in 0..5_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (state >> 8) as usize % MEMBERS;
            let length = match state >> 28 {
                0 => SHORT + 1 + round % 40,
                1 => SHORT,
                few => few as usize + round % 20,
            };
            let value =
                (state >> 27 & 1 == 0 || round % 7 > 2).then(|| "é".repeat(length / 2) + &"x".repeat(length % 2));
            let value = value.filter(|value| !value.is_empty());
            assert_eq!(told.set(at, value.as_deref()), model[at] != value);
            model[at] = value;
            for (at, value) in model.iter().enumerate() {
                assert_eq!(told.get(at), value.as_deref());
            }
            assert_eq!(told.bytes(), model.iter().flatten().map(String::len).sum::<usize>());
        }
        told.trim();
        for (at, value) in model.iter().enumerate() {
            assert_eq!(told.get(at), value.as_deref().filter(|value| value.len() <= SHORT));
        }
        assert_eq!(size_of::<Told>(), 112);
    }

    #[test]
    fn no_kind_has_more_members() {
        use super::super::EntryKind::{Compaction, Message, Notice, Plan, Subagent, Terminal, ToolCall, Update};
        let kinds =
            [Message(super::super::Speaker::Session), ToolCall, Terminal, Plan, Compaction, Subagent, Notice, Update];
        assert_eq!(kinds.map(|kind| kind.members().len()).into_iter().max(), Some(MEMBERS));
    }
}
