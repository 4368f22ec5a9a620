//! What an agent does without a prompt: work in the foreground of a session, and what runs beside it. Also when a prompt
//! becomes a message, which the host decides for both.

use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::Arc;
use std::task::Context;

use futures::future::{select, Either};

use super::agent_session::AgentSession;
use super::answer::told;
use super::display::DisplayTerminal;
use super::drive::stopped;
use super::error::{Error, Failure};
use super::prompts::Ending;
use super::shared::{Job, Shared, State};
use super::tool_call::ToolCall;
use super::turn::Turn;
use crate::jsonrpc::ErrorCode;
use crate::schema::{v1, v2, IntoOwned};
use crate::Misuse;

impl AgentSession {
    /// Works in the foreground of the session without a prompt, as to follow up on something that has ended in the
    /// background. The [`Turn`] of the work has no prompt; everything else is as in a handler of prompts. It ends with the
    /// stop reason that `body` returns, or with its error, which is returned here, too; returned is how it has ended. Prompts
    /// of the session wait until then.
    ///
    /// When the client cancels the work or closes the session, or disconnects, `body` is dropped at its current await point,
    /// unless it awaits [`Turn::cancelled`]. This is no error: the work has ended as `cancelled` then, whatever `body`
    /// returns. Only an error that is not about the cancellation is returned all the same. Nothing is spawned: the work is done while this is polled, and dropping it ends the work.
    ///
    /// In version 2, the client is told when the work begins and how it ends. In version 1, it sees the updates only.
    ///
    /// # Errors
    /// [`Error::Misuse`] when a prompt of the session is being served or other work goes on there (LIFE-25), or the session
    /// is not open (SESS-01, TURN-20). The error of `body`.
    pub async fn work<F, A>(&self, body: F) -> Result<v1::PromptResponse<'static>, Failure>
    where
        F: AsyncFnOnce(Turn) -> Result<A, Failure>,
        A: Into<Ending>,
    {
        let shared = &self.client().shared;
        let serial = shared.with(|state| state.begin_work(self.id())).map_err(Failure::from)?;
        let mut working = Working { shared, serial, over: false };
        let turn = Turn::without_prompt(self.clone(), serial);
        let answer = {
            let stopped = pin!(stopped(shared, serial));
            match select(stopped, pin!(body(turn))).await {
                Either::Left(_) => Ok(v1::StopReason::Cancelled.into()),
                Either::Right((answer, _)) => answer.map(Into::into),
            }
        };
        let ended = working.end(answer);
        poll_fn(|cx| shared.with(|state| state.room(cx))).await;
        ended
    }

    /// Puts a tool call or a terminal of the agent into the background of the session: it runs beside the work in the
    /// foreground and goes on when that is cancelled. It leaves the background when its end is reported. Version 1 has no
    /// background, and nothing is sent.
    ///
    /// # Errors
    /// [`Error::Misuse`] when it was not reported (LIFE-32), or the session is not open (SESS-01).
    pub async fn background<'a>(&self, what: impl Into<v2::BackgroundWork<'a>>) -> Result<(), Error> {
        let item = crate::schema::write(&what.into());
        let item = item.map_err(|error| Error::Unreadable { method: "session/update".into(), error })?;
        let shared = &self.client().shared;
        poll_fn(|cx| shared.with(|state| state.room(cx))).await;
        shared.with(|state| state.host_says(|host| host.background(self.id(), &item)))
    }
}

impl Turn {
    /// Keeps the prompt out of the conversation until [`insert`](Self::insert), the first update about the work on it, or
    /// the end of its handler. An error that the handler returns before refuses the prompt: it answers the request, and no
    /// message is left (LIFE-18). Without this, the prompt is a message once its handler awaits something for the first
    /// time, and an error ends the work on it. Version 1 knows no difference, and this does nothing.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the prompt is a message already (LIFE-24): call this before anything is awaited.
    pub fn hold(&self) -> Result<(), Error> {
        self.client().shared.with(|state| state.host_says(|host| host.hold(self.serial())))
    }

    /// Puts the prompt that was [held](Self::hold) into the conversation. Nothing is done if it is there already.
    ///
    /// # Errors
    /// [`Error::Misuse`] when the client has cancelled the prompt (LIFE-21).
    pub async fn insert(&self) -> Result<(), Error> {
        let shared = &self.client().shared;
        poll_fn(|cx| shared.with(|state| state.room(cx))).await;
        shared.with(|state| state.host_says(|host| host.insert(self.serial())))
    }
}

impl<'a> From<&'a ToolCall> for v2::BackgroundWork<'a> {
    fn from(call: &'a ToolCall) -> Self {
        v2::BackgroundToolCall::new(call.id()).into()
    }
}

impl<'a> From<&'a DisplayTerminal> for v2::BackgroundWork<'a> {
    fn from(terminal: &'a DisplayTerminal) -> Self {
        v2::BackgroundTerminal::new(terminal.id()).into()
    }
}

/// Whether an error says that something was cancelled.
fn is_cancellation(failure: &Failure) -> bool {
    matches!(failure.downcast_ref::<Error>(), Some(Error::Cancelled { .. }))
}

/// A handler of a prompt, whose first step makes the prompt a message unless it holds it.
pub(super) async fn stepping<T>(shared: &Arc<Shared>, serial: u64, handling: impl Future<Output = T>) -> T {
    let mut handling = pin!(handling);
    let mut first = true;
    poll_fn(|cx: &mut Context<'_>| {
        let polled = Pin::as_mut(&mut handling).poll(cx);
        if std::mem::take(&mut first) {
            // It fails once the connection is over, and its handler ends then, too.
            let _ = shared.with(|state| state.host_says(|host| host.stepped(serial)));
        }
        polled
    })
    .await
}

/// Work that has not ended. If it is dropped, it ends with an error.
struct Working<'s> {
    shared: &'s Shared,
    serial: u64,
    over: bool,
}

impl Working<'_> {
    fn end(&mut self, answer: Result<Ending, Failure>) -> Result<v1::PromptResponse<'static>, Failure> {
        self.over = true;
        self.shared.with(|state| state.end_work(self.serial, answer))
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if !self.over {
            // Nobody is left who would want to know why.
            let _ = self.end(Err(Failure::new("the work was given up")));
        }
    }
}

impl State {
    fn begin_work(&mut self, session: &str) -> Result<u64, Error> {
        let serial = self.host_says(|host| host.begin_work(session))?;
        self.jobs.insert(serial, Job::of_work(session, self.came));
        Ok(serial)
    }

    /// Ends work, and returns what its owner learns of it.
    fn end_work(
        &mut self,
        serial: u64,
        answer: Result<Ending, Failure>,
    ) -> Result<v1::PromptResponse<'static>, Failure> {
        let cancelled = self.jobs.remove(&serial).is_none_or(|job| job.cancelled);
        let answer = match answer {
            answer if !cancelled => answer,
            Ok(ending) => ending.cancelled(),
            Err(failure) if is_cancellation(&failure) => Ok(v1::StopReason::Cancelled.into()),
            answer => answer,
        };
        let told = match &answer {
            Ok(ending) => self.host.end_work(serial, ending.as_str()).err().map(Failure::from),
            Err(failure) => {
                let (error, _) = told(failure, cancelled, self.expose);
                let data = error.data.as_ref().map(crate::schema::Raw::as_str);
                self.host.fail_work(serial, error.code, &error.message, data).err().map(Failure::from)
            }
        };
        let is_over = self.end.is_some();
        // What could not be told has ended all the same.
        if told.is_some() {
            let _ = self.host.fail_work(serial, ErrorCode::INTERNAL_ERROR, ErrorCode::INTERNAL_ERROR.message(), None);
        }
        self.unpark();
        self.kick();
        let ending = answer?;
        if let Some(failure) = told.filter(|_| !is_over) {
            return Err(failure);
        }
        let response: v1::PromptResponse<'_> = crate::schema::read(ending.as_str())?;
        Ok(response.into_owned())
    }

    /// Has the host say something.
    pub(super) fn host_says<T>(
        &mut self,
        say: impl FnOnce(&mut crate::host::Host) -> Result<T, Misuse>,
    ) -> Result<T, Error> {
        self.tell_time();
        let said = say(&mut self.host).map_err(|misuse| self.refused("session/update", misuse));
        self.kick();
        said
    }
}
