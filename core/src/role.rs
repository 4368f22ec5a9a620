//! The two sides of a connection.

/// One side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The program that a person uses: an editor, a web page, a bot.
    Client,
    /// The program that drives a language model.
    Agent,
}

impl Role {
    /// The other side.
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
