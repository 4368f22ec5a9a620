//! Events that the host has not polled yet. Most often there is one, which is kept without an allocation.

use std::collections::VecDeque;

use super::Event;

/// First in, first out.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    first: Option<Event>,
    /// What came behind it, or behind what was there before.
    others: VecDeque<Event>,
}

impl EventQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.others.is_empty()
    }

    pub(super) fn push(&mut self, event: Event) {
        if self.is_empty() {
            self.first = Some(event);
        } else {
            self.others.push_back(event);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.first.take().or_else(|| self.pop_other())
    }

    fn pop_other(&mut self) -> Option<Event> {
        let event = self.others.pop_front()?;
        if self.others.is_empty() {
            self.others = VecDeque::new();
        }
        Some(event)
    }
}

impl Extend<Event> for EventQueue {
    fn extend<T: IntoIterator<Item = Event>>(&mut self, events: T) {
        events.into_iter().for_each(|event| self.push(event));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cancel;
    use super::*;

    #[test]
    fn events_come_out_in_the_order_in_which_they_went_in() {
        let event = |serial| Event::Cancel(Cancel { id: 1.into(), serial, method: "_m".into(), session: None });
        let (mut queue, mut put, mut taken) = (EventQueue::default(), 0, 0);
        for round in 0..50u64 {
            for _ in 0..round % 4 {
                queue.push(event(put));
                put += 1;
            }
            for _ in 0..round % 3 {
                let Some(next) = queue.pop() else { break };
                assert_eq!(next, event(taken));
                taken += 1;
            }
        }
        while let Some(next) = queue.pop() {
            assert_eq!(next, event(taken));
            taken += 1;
        }
        assert!(put > 50 && put == taken && queue.others.capacity() == 0);
    }
}
