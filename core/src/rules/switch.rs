//! Rules that can be switched off, one direction at a time: so `cargo xtask rules --prove` shows that the tests of each
//! rule fail without it.
//!
//! Whatever enforces or follows a rule asks [`RuleId::is_on`] first. Only with the feature `prove` can the answer be no;
//! otherwise it is a constant and leaves nothing behind in the program.

use super::RuleId;

/// A direction in which a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// The host's messages are held to it.
    Send,
    /// The peer's messages are held to it.
    Receive,
    /// The connection does what it says.
    Track,
}

impl Way {
    /// That of a message.
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

    /// Runs something on this thread while these rules do not hold in these directions.
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

    /// What the code on this thread has asked for since this was called last: each rule and direction that it holds
    /// messages to, or follows.
    pub fn asked() -> HashSet<(RuleId, Way)> {
        ASKED.take()
    }
}
