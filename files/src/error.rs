//! What goes wrong, in words that may go to the agent.

use std::io::ErrorKind;

/// Why a file was not read or not written.
///
/// Displayed it is the message of the answer to the agent: it names no path and repeats nothing that the agent sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is in no root, or leads out of them.
    #[error("The path is outside of the session's roots")]
    Outside,
    /// [`Options::may`](crate::Options::may) said no.
    #[error("The client does not allow this with this file")]
    Refused,
    /// There is no such file; or folders are missing, and the path goes up behind them.
    #[error("There is no such file")]
    NotFound,
    /// A folder, a pipe, a device.
    #[error("Not a regular file")]
    NotAFile,
    /// The path goes on behind something that is no folder.
    #[error("The path leads through something that is not a folder")]
    NotAFolder,
    /// The path goes through too many links, or up too often.
    #[error("The path goes through more than {most} links")]
    TooManyLinks {
        /// How many may be gone through.
        most: usize,
    },
    /// Too many folders are missing.
    #[error("More than {most} folders are missing")]
    TooDeep {
        /// How many are made at most.
        most: usize,
    },
    /// The path is none, on this system.
    #[error("Not a path")]
    NotAPath,
    /// The file is too large.
    #[error("The file has more than {most} bytes")]
    TooLong {
        /// What a file may have.
        most: u64,
    },
    /// The text that is to be written is too large.
    #[error("The text has more than {most} bytes")]
    TextTooLong {
        /// What a file may have.
        most: u64,
    },
    /// What was to be read is not UTF-8.
    #[error("The file is not UTF-8 text")]
    NotUtf8,
    /// The system does not open or make it.
    #[error("The file cannot be opened: {0}")]
    Open(ErrorKind),
    /// The system stopped reading.
    #[error("The file cannot be read: {0}")]
    Read(ErrorKind),
    /// The system stopped writing, as on a full disk. The file has its old text.
    #[error("The file cannot be written, and has its old text: {0}")]
    Write(ErrorKind),
    /// The system stopped writing, and the old text could not be put back.
    #[error("The file cannot be written, and its old text could not be put back: {0}")]
    Damaged(ErrorKind),
    /// A defect: something panicked, which may be the host's own `may`.
    #[error("Internal error")]
    Defect,
}

impl Error {
    /// The code of the answer to the agent, as in the protocol.
    pub fn code(&self) -> i32 {
        match self {
            Error::NotFound => -32002,
            Error::Read(_) | Error::Write(_) | Error::Damaged(_) | Error::Defect => -32603,
            _ => -32602,
        }
    }

    /// What the system said when a file or folder was to be opened or made.
    pub(crate) fn open(problem: &std::io::Error) -> Error {
        match problem.kind() {
            ErrorKind::NotFound => Error::NotFound,
            ErrorKind::NotADirectory => Error::NotAFolder,
            ErrorKind::InvalidInput => Error::NotAPath,
            kind => Error::Open(kind),
        }
    }
}
