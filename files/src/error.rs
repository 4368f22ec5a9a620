//! What can go wrong, in words that may go to the agent.

use std::io::ErrorKind;

/// Why a file was not read or not written.
///
/// Its text is meant for the answer to the agent: it names no path and repeats nothing that the agent sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is not absolute, lies in none of the roots, or leads out of them.
    #[error("The path is outside of the session's roots")]
    Outside,
    /// [`Options::may`](crate::Options::may) refused.
    #[error("The client does not allow this with this file")]
    Refused,
    /// The file does not exist; or a folder does not exist and the path goes up (`..`) after it.
    #[error("There is no such file")]
    NotFound,
    /// The path names a folder, a pipe or a device, or ends like that of a folder.
    #[error("Not a regular file")]
    NotAFile,
    /// A part of the path that is not the last one is not a folder.
    #[error("The path leads through something that is not a folder")]
    NotAFolder,
    /// Following the path takes too many links and steps up (`..`).
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
    /// The system does not accept the path.
    #[error("Not a path")]
    NotAPath,
    /// The file is too large.
    #[error("The file has more than {most} bytes")]
    TooLong {
        /// What a file may have.
        most: u64,
    },
    /// The text to write is too large.
    #[error("The text has more than {most} bytes")]
    TextTooLong {
        /// What a file may have.
        most: u64,
    },
    /// The file is not UTF-8.
    #[error("The file is not UTF-8 text")]
    NotUtf8,
    /// The system refused to open or create the file or a folder.
    #[error("The file cannot be opened: {0}")]
    Open(ErrorKind),
    /// Reading failed.
    #[error("The file cannot be read: {0}")]
    Read(ErrorKind),
    /// Writing failed, for example because the disk is full. The file has its old text.
    #[error("The file cannot be written, and has its old text: {0}")]
    Write(ErrorKind),
    /// Writing failed, and the old text could not be restored.
    #[error("The file cannot be written, and its old text could not be put back: {0}")]
    Damaged(ErrorKind),
    /// Something panicked: a defect of this library, or of the host's `may`.
    #[error("Internal error")]
    Defect,
}

impl Error {
    /// The JSON-RPC error code to answer the agent with.
    pub fn code(&self) -> i32 {
        match self {
            Error::NotFound => -32002,
            Error::Read(_) | Error::Write(_) | Error::Damaged(_) | Error::Defect => -32603,
            _ => -32602,
        }
    }

    /// The error for what the system reported when a file or folder was to be opened or created.
    pub(crate) fn open(problem: &std::io::Error) -> Error {
        match problem.kind() {
            ErrorKind::NotFound => Error::NotFound,
            ErrorKind::NotADirectory => Error::NotAFolder,
            ErrorKind::InvalidInput => Error::NotAPath,
            kind => Error::Open(kind),
        }
    }
}
