//! A child process, and how it is ended: together with its process group or job object.

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

/// The names of signals whose numbers are the same on all supported systems.
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

/// What happens to a child process if this process ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orphaned {
    /// It gets a second to end by itself, then it is terminated and killed.
    Waits,
    /// It is killed at once.
    Ends,
}

/// The ends of the pipes that the command was configured with.
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}
