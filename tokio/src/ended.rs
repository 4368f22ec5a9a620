//! How an agent has ended.

use std::fmt;

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
            line.chars().try_for_each(|character| show(f, character))?;
        }
        Ok(())
    }
}

/// Writes out what would steer a terminal or turn the direction of writing: an error is printed by `main`.
fn show(f: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
    use fmt::Write;
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if turns || (character.is_control() && character != '\t') {
        return write!(f, "{}", character.escape_unicode());
    }
    f.write_char(character)
}
