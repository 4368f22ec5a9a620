//! What is said on standard error. It has numbers, rules and reasons; no message, no header, no token.

use std::fmt::Arguments;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Says errors alone from now on.
pub(crate) fn quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

pub(crate) fn say(what: Arguments<'_>) {
    if !QUIET.load(Ordering::Relaxed) {
        eprintln!("acp: {what}");
    }
}
