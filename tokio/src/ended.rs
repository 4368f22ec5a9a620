//! How an agent ended.

use std::fmt;

use libacp::printable;

use crate::process::Exit;

/// How an agent in a child process ended, and its last output.
///
/// As an error, it means that the agent ended before its client closed the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentEnded {
    /// How it ended.
    pub exit: Exit,
    /// The last lines that it printed to standard error: at most 20, each cut to 1,024 characters. They may contain
    /// control characters for a terminal.
    pub stderr: Vec<String>,
}

impl std::error::Error for AgentEnded {}

impl fmt::Display for AgentEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the agent has ended: {}", self.exit)?;
        for (number, line) in self.stderr.iter().enumerate() {
            f.write_str(if number == 0 { "; its last lines on standard error:\n  " } else { "\n  " })?;
            f.write_str(&printable(line))?;
        }
        Ok(())
    }
}
