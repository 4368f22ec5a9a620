//! The slots of a text: where a text of the same form may have another value.

use std::ops::Range;

use super::table::TypeId;

/// Maximum number of slots that are recorded. What has more is seldom met again in the same form.
const MAX_SLOTS: usize = 24;

/// Records slots while a text is validated, for whoever keeps texts as templates.
///
/// A slot is a value whose members the model does not describe: a string with its quotes, a number, a value of any kind.
/// A text that cannot be described by its slots alone [discards](Self::discard) them: then no other text has the same form.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    list: Vec<(Range<usize>, TypeId)>,
    discarded: bool,
}

impl Slots {
    /// Adds a slot behind those that are there: its place in the text, and the type of what belongs there.
    pub(super) fn record(&mut self, place: Range<usize>, ty: TypeId) {
        if self.list.len() >= MAX_SLOTS {
            self.discard();
        } else if !self.discarded {
            self.list.push((place, ty));
        }
    }

    /// Drops all slots and records no more until [`clear`](Self::clear): something was read twice or repaired, or there
    /// are too many.
    pub(super) fn discard(&mut self) {
        self.list.clear();
        self.discarded = true;
    }

    /// Makes the value at a place a fixed part of the text.
    pub(crate) fn exclude(&mut self, place: &Range<usize>) {
        self.list.retain(|(slot, _)| slot != place);
    }

    /// Begins another text, in the same allocation.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.discarded = false;
    }

    /// The slots in the order of the text.
    pub(crate) fn as_slice(&self) -> &[(Range<usize>, TypeId)] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_kept_in_order_without_those_that_are_excluded() {
        let mut slots = Slots::default();
        slots.record(1..3, 7);
        slots.record(5..6, 8);
        slots.exclude(&(1..3));
        assert_eq!(slots.as_slice(), [(5..6, 8)]);
    }

    #[test]
    fn a_text_with_too_many_slots_has_none() {
        let mut slots = Slots::default();
        (0..=MAX_SLOTS).for_each(|at| slots.record(at..at + 1, 0));
        slots.record(90..91, 0);
        assert!(slots.as_slice().is_empty());
        slots.clear();
        slots.record(1..2, 3);
        assert_eq!(slots.as_slice(), [(1..2, 3)]);
    }
}
