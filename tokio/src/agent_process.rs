//! An agent in a child process, for clients that live in more than one function.

use std::ops::Deref;

use libacp::aio::{AgentPeer, Connecting, Error, Failure};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::ended::AgentEnded;
use crate::process::Exit;
use crate::spawn::Spawn;

/// An agent that was started and whose connection is not open yet; see [`Spawn::connect`].
#[must_use = "the connection is opened by `open`"]
pub struct Starting {
    pub(crate) connecting: Connecting,
    pub(crate) id: u32,
    pub(crate) ended: watch::Receiver<Option<AgentEnded>>,
    pub(crate) spawn: Spawn,
}

impl Starting {
    /// Opens the connection with `initialize`. The future of [`Spawn::connect`] has to be polled meanwhile.
    ///
    /// # Errors
    /// If `initialize` fails; [`AgentEnded`] if the agent ended before it answered.
    pub async fn open(self) -> Result<AgentProcess, Failure> {
        let Starting { connecting, id, mut ended, spawn } = self;
        match timeout(spawn.timeout, connecting.open()).await {
            Ok(Ok(agent)) => Ok(AgentProcess { agent, id, ended }),
            Ok(Err(Error::Closed { .. })) => Err(wait(&mut ended).await.into()),
            Ok(Err(problem)) => Err(problem.into()),
            Err(_) => Err(spawn.too_late()),
        }
    }
}

impl std::fmt::Debug for Starting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Starting").field("id", &self.id).finish_non_exhaustive()
    }
}

/// An agent in a child process, as its client sees it: an [`AgentPeer`] whose process can be ended.
#[derive(Debug)]
pub struct AgentProcess {
    agent: AgentPeer,
    id: u32,
    ended: watch::Receiver<Option<AgentEnded>>,
}

impl AgentProcess {
    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Waits until the agent has ended, and returns how.
    pub async fn ended(&self) -> AgentEnded {
        wait(&mut self.ended.clone()).await
    }

    /// Closes the connection, which ends the agent's input, and waits until the agent has ended. If it does not end by
    /// itself, it is terminated and then killed; see [`Spawn::grace`].
    pub async fn close(mut self) -> AgentEnded {
        self.agent.close();
        wait(&mut self.ended).await
    }
}

impl Deref for AgentProcess {
    type Target = AgentPeer;

    fn deref(&self) -> &AgentPeer {
        &self.agent
    }
}

async fn wait(ended: &mut watch::Receiver<Option<AgentEnded>>) -> AgentEnded {
    let ended = ended.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
    // The connection is no longer driven, so the agent was killed.
    ended.unwrap_or(AgentEnded { exit: Exit::Unknown, stderr: Vec::new() })
}
