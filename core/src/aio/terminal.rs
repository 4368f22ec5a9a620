//! A terminal of the client's, as the agent uses it.

use std::future::{poll_fn, Future};
use std::pin::pin;

use super::agent_session::AgentSession;
use super::call::Call;
use super::error::Error;
use crate::schema::v1;

/// A command that the client runs; [`Turn::terminal`](super::Turn::terminal) starts it.
///
/// It is released when it is dropped; one whose start was given up is released when the client has started it.
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

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits until the command has ended, and says how.
    pub fn wait(&self) -> Call<v1::WaitForTerminalExitResponse<'static>> {
        self.session.client().call(&v1::WaitForTerminalExitRequest::new(self.session.id(), self.id()))
    }

    /// What it has printed, and how it ended, once it has.
    pub fn output(&self) -> Call<v1::TerminalOutputResponse<'static>> {
        self.session.client().call(&v1::TerminalOutputRequest::new(self.session.id(), self.id()))
    }

    /// Stops the command. What it has printed can still be read.
    pub fn kill(&self) -> Call<v1::KillTerminalResponse<'static>> {
        self.session.client().call(&v1::KillTerminalRequest::new(self.session.id(), self.id()))
    }

    /// Gives the terminal back, and waits until the client has taken it.
    pub async fn release(mut self) -> Result<(), Error> {
        let release = self.session.client().call(&v1::ReleaseTerminalRequest::new(self.session.id(), self.id()));
        let mut release = pin!(release);
        let released = &mut self.released;
        poll_fn(|cx| {
            let answer = release.as_mut().poll(cx);
            // Once it was sent, the drop has nothing to do.
            *released = release.is_sent();
            answer
        })
        .await
        .map(drop)
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
