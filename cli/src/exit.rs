//! What the program ends with.

use std::fmt;
use std::process::ExitCode;

/// Why a command has failed, by its exit code. `options` documents the codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// What was given cannot be used: 2, as clap has it.
    Usage(String),
    /// The address cannot be listened on, or the server cannot be reached: 3.
    Unreachable(String),
    /// The server wants other credentials: 4.
    Refused(String),
    /// What is there is no agent, or refused `initialize`: 5.
    NoAgent(String),
    /// A signal has ended it: 128 and its number.
    Signal(u8),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Unreachable(_) => 3,
            Failure::Refused(_) => 4,
            Failure::NoAgent(_) => 5,
            Failure::Signal(number) => 128 + number,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Unreachable(text) | Failure::Refused(text) | Failure::NoAgent(text) => {
                f.write_str(text)
            }
            Failure::Signal(number) => write!(f, "ended by signal {number}"),
        }
    }
}

/// Says what has failed, and returns the code.
pub(crate) fn code(result: Result<(), Failure>) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    if !matches!(failure, Failure::Signal(_)) {
        eprintln!("acp: {failure}");
    }
    failure.code().into()
}
