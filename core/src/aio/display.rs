//! A terminal of the agent, which the client shows.

use serde_json::json;

use super::agent_session::AgentSession;
use super::call::Tell;
use super::error::Error;
use super::tool_call::new_id;
use super::turn::Turn;
use crate::schema::{v1, v2, IntoOwned, Patch};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A terminal of the agent: what a command prints that the agent runs itself. Started by
/// [`Turn::display_terminal`](super::Turn::display_terminal). A tool call [shows](super::ToolCall::show) it.
///
/// In version 1, which has no such terminals, each tool call that shows it has the end of what was printed as text.
///
/// End it with [`exit`](Self::exit). If it is dropped before, it is reported as ended, without a status.
#[derive(Debug)]
pub struct DisplayTerminal {
    session: AgentSession,
    id: String,
    over: bool,
}

impl Turn {
    /// Reports a command that the agent runs, for the client to show. What it prints is
    /// [written](DisplayTerminal::write) to the terminal that this returns. ([`terminal`](Self::terminal) has the client run
    /// a command, which version 2 does not have.)
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn display_terminal(&self, command: &str) -> Result<DisplayTerminal, Error> {
        let mut update = v2::TerminalUpdate::new("");
        update.command = Patch::Value(command.into());
        self.display_terminal_with(update).await
    }

    /// Like [`display_terminal`](Self::display_terminal), with all fields: an id (an empty one is replaced by a generated
    /// one), the directory, the size.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn display_terminal_with(&self, update: v2::TerminalUpdate<'_>) -> Result<DisplayTerminal, Error> {
        DisplayTerminal::start(self.session(), update).await
    }
}

impl DisplayTerminal {
    async fn start(session: &AgentSession, update: v2::TerminalUpdate<'_>) -> Result<Self, Error> {
        let mut update = update.into_owned();
        if update.terminal_id.as_str().is_empty() {
            update.terminal_id = new_id("terminal").into();
        }
        // Until it was reported, there is nothing to end.
        let mut started = DisplayTerminal { session: session.clone(), id: update.terminal_id.to_string(), over: true };
        session.update_of_2("terminal_update", &update).await?;
        started.over = false;
        Ok(started)
    }

    /// The terminal's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Reports what the command has printed: the next bytes, which may end within a character.
    pub fn write(&self, printed: impl AsRef<[u8]>) -> Tell {
        let chunk = v2::TerminalOutputChunk::new(self.id(), base64(printed.as_ref()));
        self.session.update_of_2("terminal_output_chunk", &chunk)
    }

    /// Reports that the command has ended, with this code.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn exit(self, code: i64) -> Result<(), Error> {
        let mut status = v2::TerminalExitStatus::new();
        status.exit_code = Some(code);
        self.exit_with(status).await
    }

    /// Like [`exit`](Self::exit), with the signal that has ended the command, or with nothing that is known of its end.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn exit_with(mut self, status: v2::TerminalExitStatus<'_>) -> Result<(), Error> {
        let mut update = v2::TerminalUpdate::new(self.id().to_owned());
        update.exit_status = Patch::Value(status);
        self.session.update_of_2("terminal_update", &update).await?;
        self.over = true;
        Ok(())
    }
}

impl Drop for DisplayTerminal {
    fn drop(&mut self) {
        if !self.over {
            let update = json!({"sessionUpdate": "terminal_update", "terminalId": self.id, "exitStatus": {}});
            // If this fails too, the reason for which the terminal was dropped matters more.
            let _ = self.session.update_now(&update);
        }
    }
}

impl<'a> From<&'a DisplayTerminal> for v1::Terminal<'a> {
    fn from(terminal: &'a DisplayTerminal) -> Self {
        v1::Terminal::new(terminal.id())
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().enumerate().fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_base64() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(cases.map(|text| super::base64(text.as_bytes())), expected);
        assert_eq!(super::base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
