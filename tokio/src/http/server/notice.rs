//! What a server tells its host of the connections and of the messages that it does not carry.

use libacp::http::{Closed, Report};
use libacp::rules::RuleId;

/// What happened on a server. It has no text of a client's or of an agent's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Notice {
    /// A client has opened a connection.
    Opened {
        /// The number of the connection.
        connection: u64,
    },
    /// A connection is over.
    Closed {
        /// The number of the connection.
        connection: u64,
        /// Why.
        why: Closed,
    },
    /// A client broke a rule.
    Violation(Report),
    /// An agent did what is allowed and will not work well.
    Advice(Report),
    /// A message of an agent cannot be sent and was dropped.
    Dropped {
        /// The number of the connection.
        connection: u64,
        /// The rule that does not allow it.
        rule: RuleId,
        /// What is wrong.
        message: &'static str,
    },
    /// The program of a connection could not be started, or has ended before its client.
    AgentEnded {
        /// The number of the connection.
        connection: u64,
        /// How, with what it said last.
        how: String,
    },
}
