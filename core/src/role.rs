//! The two sides of a connection.

/// One side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The editor, page or bot that a person uses.
    Client,
    /// The program that drives a language model.
    Agent,
}

impl Role {
    /// The side that the peer plays.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Role::Client => Role::Agent,
            Role::Agent => Role::Client,
        }
    }

    /// `client` or `agent`.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Client => "client",
            Role::Agent => "agent",
        }
    }
}
