//! Prompts that version 2 has answered: each has become a message, and its request can stop nothing any more (CANCEL-19).
//!
//! The ids of the newest ones are kept, so that a cancel of one is told apart from a cancel of what never was.

use std::collections::VecDeque;

use crate::jsonrpc::Id;

/// Of so many prompts it is known. A cancel that crosses an answer on its way is about one of the last few.
const KEPT: usize = 64;

/// The ids of prompts that have become messages, oldest first.
#[derive(Debug, Default)]
pub(super) struct Inserted(VecDeque<Id>);

impl Inserted {
    /// A request was answered: a prompt with the message that it has become, or another one, which may have used the id of
    /// an earlier prompt.
    pub(super) fn answered(&mut self, id: &Id, is_prompt: bool) {
        self.0.retain(|known| known != id);
        if is_prompt {
            if self.0.len() == KEPT {
                self.0.pop_front();
            }
            self.0.push_back(id.clone());
        }
    }

    /// Whether a request of this id was such a prompt.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_prompts_are_known_until_their_ids_mean_something_else() {
        let mut inserted = Inserted::default();
        for number in 0..200 {
            inserted.answered(&Id::Number(number), number % 2 == 0);
        }
        let known: Vec<i64> = (0..200).filter(|number| inserted.has(&Id::Number(*number))).collect();
        let newest: Vec<i64> = (0..200).filter(|number| number % 2 == 0).skip(100 - KEPT).collect();
        assert_eq!(known, newest);
        inserted.answered(&Id::Number(198), false);
        assert!(!inserted.has(&Id::Number(198)) && !inserted.has(&Id::from("196")) && inserted.has(&Id::Number(196)));
    }
}
