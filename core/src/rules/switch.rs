//! Switching off a rule in one direction, so that `cargo xtask rules --prove` can show that the tests of each rule fail
//! without it.
//!
//! All code that enforces or follows a rule asks [`RuleId::is_on`] first. The answer can be false only with the feature
//! `prove`; otherwise it is a constant that costs nothing.

use super::RuleId;

/// A direction in which a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// The host's messages are checked against it.
    Send,
    /// The peer's messages are checked against it.
    Receive,
    /// The connection itself follows it.
    Track,
}

impl Way {
    /// The direction of a message.
    pub(crate) const fn of(from_host: bool) -> Way {
        if from_host {
            Way::Send
        } else {
            Way::Receive
        }
    }

    /// The word for it in the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Send => "send",
            Way::Receive => "receive",
            Way::Track => "track",
        }
    }
}

#[cfg(not(feature = "prove"))]
impl RuleId {
    /// Whether the rule holds in this direction, which it always does.
    #[inline]
    pub(crate) const fn is_on(self, way: Way) -> bool {
        let _ = (self, way);
        true
    }
}

#[cfg(feature = "prove")]
pub use proving::{asked, without};

#[cfg(feature = "prove")]
mod proving {
    use std::cell::RefCell;
    use std::collections::HashSet;

    use super::{RuleId, Way};

    thread_local! {
        static OFF: RefCell<Vec<(RuleId, Way)>> = const { RefCell::new(Vec::new()) };
        static ASKED: RefCell<HashSet<(RuleId, Way)>> = RefCell::default();
    }

    impl RuleId {
        /// Whether the rule holds in this direction on this thread.
        pub(crate) fn is_on(self, way: Way) -> bool {
            ASKED.with_borrow_mut(|asked| asked.insert((self, way)));
            OFF.with_borrow(|off| !off.contains(&(self, way)))
        }
    }

    /// Runs something on this thread with rules switched off in the given directions.
    pub fn without<T>(rules: &[(RuleId, Way)], run: impl FnOnce() -> T) -> T {
        struct On;
        impl Drop for On {
            fn drop(&mut self) {
                OFF.with_borrow_mut(Vec::clear);
            }
        }
        OFF.with_borrow_mut(|off| off.extend_from_slice(rules));
        let _on = On;
        run()
    }

    /// The rules and directions that code on this thread has asked for since the last call.
    pub fn asked() -> HashSet<(RuleId, Way)> {
        ASKED.take()
    }
}
