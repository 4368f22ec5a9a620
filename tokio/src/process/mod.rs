//! A child process, and how it is ended: with everything that it has started, as far as that stays together.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::Process;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::Process;

use std::fmt;
use std::process::{ChildStderr, ChildStdin, ChildStdout};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// A signal with this number ended it.
    Signal(i32),
    /// It is not known: something else in this program waited for the process.
    Unknown,
}

/// Signals by the numbers that all systems here have in common, and the names that go with them.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

/// The name of a signal, or its number if that differs between systems.
pub(crate) fn signal_name(number: i32) -> String {
    let named = SIGNALS.iter().find(|(signal, _)| *signal == number);
    named.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

impl Exit {
    /// Whether it exited with code 0.
    pub fn is_success(self) -> bool {
        self == Exit::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {}", signal_name(signal)),
            Exit::Unknown => f.write_str("exit code unknown"),
        }
    }
}

/// How a process is made to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Help {
    Terminate,
    Kill,
}

/// What happens to a process when this one ends without ending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orphaned {
    /// It has a moment to end by itself.
    Waits,
    /// It ends.
    Ends,
}

/// The ends of its pipes, as far as the command asks for any.
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}
