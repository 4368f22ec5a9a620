//! Options of a request.

use crate::jsonrpc::Id;

/// Options of a request beside its method and params.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// The id of the request. `None` (the default) takes the next free number.
    pub id: Option<Id>,
    /// How long to wait for the answer.
    pub timeout: Timeout,
}

impl CallOptions {
    /// Sets the id.
    #[must_use]
    pub fn id(mut self, id: impl Into<Option<Id>>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets how long to wait for the answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Timeout) -> Self {
        self.timeout = timeout;
        self
    }
}

/// How long a request waits for its answer before it ends with [`Outcome::Timeout`](super::Outcome::Timeout).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Timeout {
    /// As long as [`Config::timeout`](super::Config::timeout) says.
    #[default]
    Configured,
    /// Without a limit, whatever the configuration says.
    Never,
    /// This many milliseconds from the time that [`handle_timeout`](super::Connection::handle_timeout) was last given.
    After(u64),
}

impl Timeout {
    /// How long the request may take; `None` for ever.
    pub(super) fn milliseconds(self, configured: Option<u64>) -> Option<u64> {
        match self {
            Timeout::Configured => configured,
            Timeout::Never => None,
            Timeout::After(milliseconds) => Some(milliseconds),
        }
    }
}
