//! The standard streams of tokio, which uses threads for them.

use std::io;

pub(super) use tokio::io::{Stdin as Input, Stdout as Output};

pub(super) struct Kept;

#[allow(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(super) fn open() -> io::Result<(Input, Output, Kept)> {
    Ok((tokio::io::stdin(), tokio::io::stdout(), Kept))
}
