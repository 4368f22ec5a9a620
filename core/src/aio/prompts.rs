//! Prompts as the agent's handlers see them, and how their turns end.

use std::marker::PhantomData;

use super::error::Failure;
use super::handlers::{Incoming, Kind};
use super::received::Reply;
use super::turn::Turn;
use crate::schema::v1;

/// Prompts, and the results of their handlers.
pub struct Prompts<A>(PhantomData<fn() -> A>);

pub(super) type PromptsWith = Prompts<Reply<fn(v1::PromptRequest)>>;

impl<A> Prompts<A> {
    pub(super) const NEW: Self = Prompts(PhantomData);
}

impl<A: Into<Ending>> Kind for Prompts<A> {
    type Argument = Turn;
    type Answer = A;

    fn method(&self) -> &'static str {
        "session/prompt"
    }

    fn argument(&self, incoming: &Incoming) -> Result<Turn, Failure> {
        Turn::new(incoming)
    }

    fn result(&self, incoming: &Incoming, answer: A) -> Result<String, Failure> {
        let (ending, serial) = (answer.into(), incoming.serial());
        let cancelled = incoming.shared.with(|state| state.jobs.get(&serial).is_none_or(|job| job.cancelled));
        let Ending(json) = if cancelled { ending.cancelled()? } else { ending };
        Ok(json)
    }
}

/// How a turn ends: the result of a handler for prompts. `()` is a normal end of the turn.
pub struct Ending(String);

impl Ending {
    /// The result as JSON text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// What a cancelled turn ends with, whatever its handler returns.
    pub(super) fn cancelled(self) -> Result<Self, Failure> {
        let mut response: v1::PromptResponse<'_> = crate::schema::read(&self.0)?;
        response.stop_reason = v1::StopReason::Cancelled;
        Ok(Ending(crate::schema::write(&response)?))
    }
}

impl From<v1::StopReason<'_>> for Ending {
    fn from(reason: v1::StopReason<'_>) -> Self {
        Reply::from(v1::PromptResponse::new(reason)).into()
    }
}

impl From<v1::PromptResponse<'_>> for Ending {
    fn from(response: v1::PromptResponse<'_>) -> Self {
        Reply::from(response).into()
    }
}

impl From<()> for Ending {
    fn from((): ()) -> Self {
        v1::StopReason::EndTurn.into()
    }
}

impl From<Reply<fn(v1::PromptRequest)>> for Ending {
    fn from(reply: Reply<fn(v1::PromptRequest)>) -> Self {
        Ending(reply.into_json())
    }
}
