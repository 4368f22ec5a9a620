//! Prompts that were answered in version 2. Each has become a message, and cancelling its request stops nothing (CANCEL-19).
//!
//! The ids of the newest are kept, to tell a cancel of one from a cancel of a request that never was.

use std::collections::VecDeque;

use crate::jsonrpc::Id;

/// Maximum number of ids. A cancel that crosses an answer on its way is about one of the last few prompts.
const KEPT: usize = 64;

/// The ids of prompts that have become messages, oldest first; each with the serial number of the newest request when it
/// was answered.
#[derive(Debug, Default)]
pub(super) struct Inserted(VecDeque<(Id, u64)>);

impl Inserted {
    /// A request was answered: a prompt with the message that it has become, or another one, which may have used the id of
    /// an earlier prompt.
    pub(super) fn answered(&mut self, id: &Id, is_prompt: bool, newest: u64) {
        self.0.retain(|(known, _)| known != id);
        if is_prompt {
            if self.0.len() == KEPT {
                self.0.pop_front();
            }
            self.0.push_back((id.clone(), newest));
        }
    }

    /// Whether a request of this id was such a prompt.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.0.iter().any(|(known, _)| known == id)
    }

    /// Whether the peer knew that when it cancelled: it has answered the request of this number, or a later one, which it
    /// cannot have read before the answer to its prompt.
    pub(super) fn was_read(&self, id: &Id, answered: u64) -> bool {
        self.0.iter().any(|(known, newest)| known == id && answered > *newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_prompts_are_known_until_their_ids_mean_something_else() {
        let mut inserted = Inserted::default();
        for number in 0..200 {
            inserted.answered(&Id::Number(number), number % 2 == 0, 7);
        }
        let known: Vec<i64> = (0..200).filter(|number| inserted.has(&Id::Number(*number))).collect();
        let newest: Vec<i64> = (0..200).filter(|number| number % 2 == 0).skip(100 - KEPT).collect();
        assert_eq!(known, newest);
        assert!(inserted.was_read(&Id::Number(198), 8) && !inserted.was_read(&Id::Number(198), 7));
        assert!(!inserted.was_read(&Id::Number(0), 8));
        inserted.answered(&Id::Number(198), false, 7);
        assert!(!inserted.has(&Id::Number(198)) && !inserted.has(&Id::from("196")) && inserted.has(&Id::Number(196)));
    }
}
