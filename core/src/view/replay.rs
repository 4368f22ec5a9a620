//! A conversation that is told again: by `session/load`, or by `session/resume` with a place to replay from.
//!
//! What is replayed is a new story. Where there was none before, it is shown while it grows; otherwise it stays hidden until
//! the call has succeeded, and takes the place of the old one then. Where the call fails, the old story stays as it was.
//! So it does not matter whether the agent clears a message before it tells it again, or tells it twice.

use super::facts::Name;
use super::story::Story;
use super::View;

/// A replay that is under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replay {
    /// The call that has asked for it; `None` for a child session, whose parent is replayed.
    serial: Option<u64>,
}

impl View {
    /// A replay begins. One that is under way already is given up for it.
    pub(super) fn begin_replay(&mut self, serial: Option<u64>) {
        self.fail_replay();
        if !self.story.is_empty() {
            self.next = Some(Box::new(self.new_story()));
        }
        self.replay = Some(Replay { serial });
        self.say(Name::Replaying, Some("true"));
    }

    /// Follows a session whose replay nobody has asked for by itself.
    pub(super) fn follow_replay(&mut self, loading: bool) {
        match self.replay {
            None if loading => self.begin_replay(None),
            Some(Replay { serial: None }) if !loading => self.end_replay(None, true),
            _ => {}
        }
    }

    /// The call that has asked for a replay was answered.
    pub(super) fn end_replay(&mut self, serial: Option<u64>, succeeded: bool) {
        if self.replay.is_none_or(|replay| replay.serial != serial) {
            return;
        }
        if !succeeded {
            return self.fail_replay();
        }
        self.replay = None;
        if let Some(next) = self.next.take() {
            let before = self.show(*next);
            self.keep_terminals(before);
            self.ask_again();
        }
        if self.is_still() {
            self.story.end_turn();
        } else {
            self.story.end_run();
        }
        self.say(Name::Replaying, None);
    }

    /// What was replayed so far is forgotten.
    pub(super) fn fail_replay(&mut self) {
        if self.replay.take().is_none() {
            return;
        }
        if self.next.take().is_none() && !self.story.is_empty() {
            let story = self.new_story();
            self.show(story);
        }
        self.say(Name::Replaying, None);
    }

    /// Gives up all entries.
    pub(super) fn forget_entries(&mut self) {
        let mut story = self.new_story();
        (story.dropped, story.turn) = (self.story.dropped + self.story.len(), self.story.turn);
        self.next = None;
        self.show(story);
    }

    fn new_story(&mut self) -> Story {
        self.stories += 1;
        Story::new(self.stories)
    }

    /// Puts a story in the place of the one that is shown, and returns that.
    fn show(&mut self, story: Story) -> Story {
        let before = std::mem::replace(&mut self.story, story);
        self.revision += 1;
        self.epoch += 1;
        self.since = self.revision;
        self.count();
        before
    }
}
