//! How far a connection is: `initialize`, `initialize` again, open, over.

use super::event::CloseReason;
use super::handshake::Earlier;
use crate::engine::State;
use crate::role::Role;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// `initialize` has not been sent, or has failed.
    Start,
    /// `initialize` has been sent and has no answer yet.
    Initializing,
    /// `initialize` has been answered; everything else can be sent.
    Ready,
    /// The connection is over: nothing is sent or received any more.
    Closed,
}

impl Phase {
    /// The name of this phase, the same in every language: `start`, `initializing`, `ready` or `closed`.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Start => "start",
            Phase::Initializing => "initializing",
            Phase::Ready => "ready",
            Phase::Closed => "closed",
        }
    }
}

/// The phase of a connection, and what decides on the next one.
#[derive(Debug)]
pub(super) struct Lifecycle {
    phase: Phase,
    /// The connection was ready once.
    was_ready: bool,
    /// The client has sent a request other than `initialize`, so `initialize` may not be repeated any more (INIT-23).
    is_settled: bool,
    /// What holds again should the `initialize` fail that is open.
    earlier: Option<Box<Earlier>>,
    close_reason: Option<CloseReason>,
}

impl Lifecycle {
    pub(super) fn new() -> Self {
        Lifecycle { phase: Phase::Start, was_ready: false, is_settled: false, earlier: None, close_reason: None }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    pub(super) fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    pub(super) fn is_initializing(&self) -> bool {
        self.phase == Phase::Initializing
    }

    /// Whether `initialize` has been answered, also when the connection is over by now.
    pub(super) fn was_ready(&self) -> bool {
        self.is_ready() || (self.is_closed() && self.was_ready)
    }

    /// Whether `initialize` may be sent now. `again` says whether the agreed version lets it be repeated.
    pub(super) fn may_initialize(&self, again: impl FnOnce() -> bool) -> bool {
        self.phase == Phase::Start || (self.is_ready() && !self.is_settled && again())
    }

    /// A side has sent a request that is not `initialize`.
    pub(super) fn other_request(&mut self, sender: Role) {
        self.is_settled |= sender == Role::Client && self.is_ready();
    }

    /// `initialize` has been sent. What was agreed on before, if anything was, holds again should it fail.
    pub(super) fn initialize(&mut self, state: &State) {
        if self.is_ready() {
            self.earlier = Some(Box::new(Earlier::of(state)));
        }
        self.phase = Phase::Initializing;
    }

    /// `initialize` has been answered, and what was agreed on before is over.
    pub(super) fn initialized(&mut self) {
        self.earlier = None;
        self.phase = Phase::Ready;
        self.was_ready = true;
    }

    /// `initialize` has failed, so it may be tried again. Returns what holds again, if anything was agreed on before.
    pub(super) fn initialize_failed(&mut self) -> Option<Earlier> {
        let earlier = self.earlier.take();
        self.phase = if earlier.is_some() { Phase::Ready } else { Phase::Start };
        earlier.map(|earlier| *earlier)
    }

    /// What was agreed on before the `initialize` that is open.
    pub(super) fn earlier(&mut self) -> Option<&mut Earlier> {
        self.earlier.as_deref_mut()
    }

    /// Whether an `initialize` is open that repeats an earlier one.
    pub(super) fn is_repeating(&self) -> bool {
        self.earlier.is_some()
    }

    /// The connection is over.
    pub(super) fn close(&mut self, reason: CloseReason) {
        self.phase = Phase::Closed;
        self.close_reason = Some(reason);
    }

    /// Why the connection is over, if it is.
    pub(super) fn close_reason(&self) -> Option<CloseReason> {
        self.close_reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Config;

    #[test]
    fn initialize_is_repeated_until_the_client_asks_for_something_else() {
        let (mut lifecycle, state) = (Lifecycle::new(), State::new(Config::client()));
        assert!(lifecycle.may_initialize(|| false));
        lifecycle.initialize(&state);
        assert!(lifecycle.is_initializing() && !lifecycle.may_initialize(|| true));
        lifecycle.initialized();
        assert!(lifecycle.was_ready() && !lifecycle.may_initialize(|| false) && lifecycle.may_initialize(|| true));
        lifecycle.other_request(Role::Agent);
        assert!(lifecycle.may_initialize(|| true));
        lifecycle.other_request(Role::Client);
        assert!(!lifecycle.may_initialize(|| true));
    }

    #[test]
    fn what_was_agreed_on_holds_again_when_a_repeated_initialize_fails() {
        let (mut lifecycle, state) = (Lifecycle::new(), State::new(Config::client()));
        lifecycle.initialize(&state);
        assert!(
            lifecycle.initialize_failed().is_none() && lifecycle.phase() == Phase::Start && !lifecycle.is_repeating()
        );
        lifecycle.initialize(&state);
        lifecycle.initialized();
        lifecycle.initialize(&state);
        assert!(lifecycle.is_repeating());
        assert!(lifecycle.initialize_failed().is_some() && lifecycle.is_ready() && !lifecycle.is_repeating());
    }

    #[test]
    fn a_connection_that_is_over_is_not_ready_unless_it_was() {
        let mut lifecycle = Lifecycle::new();
        lifecycle.close(CloseReason::Host);
        assert!(!lifecycle.was_ready() && lifecycle.is_closed() && lifecycle.close_reason() == Some(CloseReason::Host));
        let mut lifecycle = Lifecycle::new();
        lifecycle.initialized();
        lifecycle.close(CloseReason::EndOfStream);
        assert!(lifecycle.was_ready());
    }
}
