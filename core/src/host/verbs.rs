//! What an agent says beside messages: when a prompt becomes one, what it does without a prompt, and what runs in the
//! background.

use super::agent::Ending;
use super::Host;
use crate::connection::{Misuse, MisuseKind};
use crate::ErrorCode;

impl Host {
    /// From now on the host sees a prompt of version 2 before its message is in the conversation, so that its handler can
    /// refuse it. It becomes a message, which answers its request (LIFE-01), by [`insert`](Self::insert), by
    /// [`stepped`](Self::stepped), by the first update or question about its session, or by [`respond`](Self::respond); where
    /// its handler [holds](Self::hold) it, only by `insert`, the first update about the work on it, or `respond`. Until then
    /// [`respond_error`](Self::respond_error) sends its error (LIFE-18), and a cancel is answered with
    /// [`ErrorCode::REQUEST_CANCELLED`] whatever the host answers (LIFE-21).
    ///
    /// Without this, a prompt is a message before the host sees it. In version 1 there is no difference.
    pub fn hold_prompts(&mut self) {
        if let Some((agent, ..)) = self.agent_mut() {
            agent.hold_prompts();
        }
    }

    /// The handler of a prompt, named by its serial, says itself when the prompt becomes a message, so that
    /// [`stepped`](Self::stepped) does nothing. In version 1 this does nothing.
    ///
    /// # Errors
    /// [`Misuse`] when it is a message already (LIFE-24), was cancelled (LIFE-21), or is not being served (RPC-15).
    pub fn hold(&mut self, prompt: u64) -> Result<(), Misuse> {
        self.agent_mut().map_or(Ok(()), |(agent, connection, _)| agent.hold(connection, prompt))
    }

    /// The handler of a prompt, named by its serial, has made its first step: the prompt becomes a message, unless its
    /// handler [holds](Self::hold) it or it was cancelled. Whoever runs handlers calls this for each prompt, also when the
    /// first step was the last. Nothing is done for a prompt that is a message already, and in version 1.
    ///
    /// # Errors
    /// As [`Connection::respond`](crate::Connection::respond), once the connection is over.
    pub fn stepped(&mut self, prompt: u64) -> Result<(), Misuse> {
        self.agent_mut().map_or(Ok(()), |(agent, connection, ready)| agent.stepped(connection, prompt, ready))
    }

    /// A prompt, named by its serial, becomes a message: its request is answered with the id of the message, the message is
    /// told, and so is the state `running` (LIFE-01, LIFE-03, LIFE-04). Nothing is done for one that is a message already,
    /// and in version 1.
    ///
    /// # Errors
    /// [`Misuse`] when it was cancelled (LIFE-21), or is not being served (RPC-15).
    pub fn insert(&mut self, prompt: u64) -> Result<(), Misuse> {
        self.agent_mut().map_or(Ok(()), |(agent, connection, ready)| agent.insert(connection, prompt, ready))
    }

    /// Begins work in the foreground of a session that no prompt has asked for (LIFE-25), and returns its number. In
    /// version 2 it is told as the state `running`, and `requires_action` while a question of the session is open (LIFE-06);
    /// in version 1 nothing is told of it but its updates.
    ///
    /// Until [`end_work`](Self::end_work) or [`fail_work`](Self::fail_work), prompts of the session wait, at most 64 of them.
    /// `session/cancel` and `session/close` cancel it: an [`Event::Cancel`](crate::Event::Cancel) has its number as the
    /// serial, a null id and no method. It goes on until its end all the same.
    ///
    /// # Errors
    /// [`Misuse`] when a prompt of the session is being served or other work goes on there (LIFE-25), the session is not
    /// open (SESS-01) or not set up yet (TURN-20), or this is no agent.
    pub fn begin_work(&mut self, session: &str) -> Result<u64, Misuse> {
        let Some((agent, connection, _)) = self.agent_mut() else { return Err(no_agent()) };
        agent.begin_work(connection, session)
    }

    /// Ends work with a result like that of a prompt, `{"stopReason": "end_turn"}`. In version 2 it is told as the state
    /// `idle` (LIFE-05), with the stop reason `cancelled` if the client has cancelled it (LIFE-15). What waited for that
    /// goes on. Nothing is told if the session was closed before.
    ///
    /// # Errors
    /// [`Misuse`] when the result is none (TURN-01, ENUM-01), no such work goes on (LIFE-25), or the connection is over.
    pub fn end_work(&mut self, work: u64, result: &str) -> Result<(), Misuse> {
        self.over(work, Ending::Result(result))
    }

    /// Ends work that has failed. In version 2 it is told as the stop reason `error` with the error (LIFE-29), or as
    /// `cancelled` if that is what the code says.
    ///
    /// # Errors
    /// As [`end_work`](Self::end_work); also when `data` is not JSON (RPC-21).
    pub fn fail_work(&mut self, work: u64, code: ErrorCode, message: &str, data: Option<&str>) -> Result<(), Misuse> {
        self.over(work, Ending::Error(code, message, data))
    }

    /// Puts something into the background of a session: `{"type": "tool_call", "toolCallId": …}` or
    /// `{"type": "terminal", "terminalId": …}`. Updates have shown it before (LIFE-32). It is listed in the states of the
    /// session, first in one that is sent at once and that is the state as it was, until an update of it tells its end: a
    /// final `status`, or an `exitStatus` (LIFE-33). A cancel leaves it alone (CANCEL-24). Nothing is done if it is listed,
    /// and in version 1.
    ///
    /// # Errors
    /// [`Misuse`] when it was not shown (LIFE-32), is no such object (LIFE-36), there are too many (LIMIT-03), or the session
    /// is not open (SESS-01) or not set up yet (TURN-20).
    pub fn background(&mut self, session: &str, item: &str) -> Result<(), Misuse> {
        let Some((agent, connection, _)) = self.agent_mut() else { return Err(no_agent()) };
        agent.background(connection, session, item)
    }

    fn over(&mut self, work: u64, ending: Ending<'_>) -> Result<(), Misuse> {
        let Some((agent, connection, ready)) = self.agent_mut() else { return Err(no_agent()) };
        agent.end_work(connection, work, ending, ready)
    }
}

fn no_agent() -> Misuse {
    Misuse::new(MisuseKind::Method, id!("EXT-07"), "only the host of an agent with handlers has work of its own")
}
