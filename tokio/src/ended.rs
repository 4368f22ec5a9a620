//! How an agent has ended.

use std::fmt;

use libacp::printable;

use crate::process::Exit;

/// An agent that is a child process has ended: how, and what it said last.
///
/// As an error it says that this was before its client wanted it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentEnded {
    /// How it ended.
    pub exit: Exit,
    /// The last lines that it printed to standard error, as it printed them.
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
