//! A terminal of the client, as the agent uses it.

use std::future::{poll_fn, Future};
use std::pin::pin;

use super::agent_session::AgentSession;
use super::call::Call;
use super::error::Error;
use crate::schema::v1;

/// A command that the client runs. Started by [`Turn::terminal`](super::Turn::terminal).
///
/// The terminal is released when this is dropped. If the call that creates it is dropped, the terminal is released as
/// soon as the client has created it.
#[derive(Debug)]
pub struct Terminal {
    session: AgentSession,
    id: String,
    released: bool,
}

impl Terminal {
    pub(super) async fn start(session: &AgentSession, request: v1::CreateTerminalRequest<'_>) -> Result<Self, Error> {
        let created = session.client().call(&request).await?;
        Ok(Terminal { session: session.clone(), id: created.terminal_id.to_string(), released: false })
    }

    /// The terminal's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits until the command has ended, and returns how.
    pub fn wait(&self) -> Call<v1::WaitForTerminalExitResponse<'static>> {
        self.session.client().call(&v1::WaitForTerminalExitRequest::new(self.session.id(), self.id()))
    }

    /// The output so far, and how the command ended if it has.
    pub fn output(&self) -> Call<v1::TerminalOutputResponse<'static>> {
        self.session.client().call(&v1::TerminalOutputRequest::new(self.session.id(), self.id()))
    }

    /// Kills the command. Its output can still be read.
    pub fn kill(&self) -> Call<v1::KillTerminalResponse<'static>> {
        self.session.client().call(&v1::KillTerminalRequest::new(self.session.id(), self.id()))
    }

    /// Releases the terminal, and waits for the client's response.
    ///
    /// # Errors
    /// [`Error`] of the call.
    pub async fn release(mut self) -> Result<(), Error> {
        let release = self.session.client().call(&v1::ReleaseTerminalRequest::new(self.session.id(), self.id()));
        let mut release = pin!(release);
        let released = &mut self.released;
        poll_fn(|cx| {
            let answer = release.as_mut().poll(cx);
            // Once the request was sent, `drop` must not send another.
            *released = release.is_sent();
            answer
        })
        .await
        .map(drop)
    }
}

impl<'a> From<&'a Terminal> for v1::Terminal<'a> {
    fn from(terminal: &'a Terminal) -> Self {
        v1::Terminal::new(terminal.id())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.released {
            let client = self.session.client();
            client.shared.with(|state| state.release_terminal(self.session.id(), &self.id));
        }
    }
}
