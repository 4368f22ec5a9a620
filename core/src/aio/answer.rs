//! Answering the peer's requests.

use std::mem;
use std::sync::Arc;

use super::error::{Error, Failure, RequestError};
use super::kept::Kept;
use super::name::Name;
use super::shared::State;
use crate::connection::Request;
use crate::jsonrpc::ErrorCode;
use crate::Misuse;

/// The response to a prompt that the client has cancelled.
const CANCELLED: &str = r#"{"stopReason":"cancelled"}"#;

/// The error that the peer learns of, and whether it hides what has failed, so that the host is to learn of that.
pub(super) fn told(failure: &Failure, cancelled: bool, expose: bool) -> (RequestError, bool) {
    if let Some(error) = failure.downcast_ref::<RequestError>() {
        return (error.clone(), false);
    }
    if cancelled {
        return (RequestError::of(ErrorCode::REQUEST_CANCELLED), false);
    }
    let error = RequestError::of(ErrorCode::INTERNAL_ERROR);
    let error = match refusal(failure) {
        Some(misuse) => error.about("rule", misuse.rule.as_str()),
        None if expose => error.about("details", &failure.to_string()),
        None => error,
    };
    (error, true)
}

impl State {
    /// Answers a request with the outcome of its handler, or as cancelled if there is none. Returns what to report to the
    /// host.
    pub(super) fn answer(&mut self, request: &Request, answer: Option<Result<String, Failure>>) -> Option<Failure> {
        let job = self.jobs.get_mut(&request.serial)?;
        let (cancelled, answered) = (job.cancelled, mem::replace(&mut job.answered, true));
        let opening = job.opening.take();
        self.kick();
        if answered {
            return None;
        }
        let failure = match answer {
            Some(Ok(result)) => {
                let opened = opening.map(|name| (name, result.clone()));
                match self.host.respond_with(request.into(), result.into()) {
                    Ok(()) => {
                        if let Some(session) = &request.session {
                            self.ended(&request.method, session);
                        }
                        if let Some((name, result)) = opened {
                            self.opened(&name, &result);
                        }
                        return None;
                    }
                    Err(misuse) => Failure::from(misuse),
                }
            }
            Some(Err(failure)) => failure,
            None if &*request.method == "session/prompt" => {
                return self.host.respond(request, CANCELLED).err().map(Failure::from);
            }
            None => return self.refuse(request, &RequestError::of(ErrorCode::REQUEST_CANCELLED)),
        };
        self.failed(request, failure, cancelled)
    }

    /// Called when the response that opens a session was sent: what is stored with the session takes effect.
    fn opened(&mut self, name: &Arc<Name>, answer: &str) {
        let Some(opening) = &name.opening else { return };
        let kept = Kept { data: opening.data(), name: Some(Arc::clone(name)), ..Kept::default() };
        let id = name.settle(answer);
        // It takes the place of one that was open.
        let before = self.kept.insert(Arc::clone(id), kept);
        self.over.extend(before.map(|before| (Arc::clone(id), before)));
    }

    fn failed(&mut self, request: &Request, failure: Failure, cancelled: bool) -> Option<Failure> {
        let (error, is_hidden) = told(&failure, cancelled, self.expose);
        self.refuse(request, &error).or(Some(failure).filter(|_| is_hidden))
    }

    fn refuse(&mut self, request: &Request, error: &RequestError) -> Option<Failure> {
        let data = error.data.as_ref().map(crate::schema::Raw::as_str);
        let refused = self.host.respond_error(request, error.code, &error.message, data);
        // After the end of the connection, refusing to answer is not a problem.
        refused.err().filter(|_| self.end.is_none()).map(|misuse| {
            let internal = ErrorCode::INTERNAL_ERROR;
            let again = self.host.respond_error(request, internal, internal.message(), None);
            Failure::from(again.err().unwrap_or(misuse))
        })
    }
}

/// The misuse that a handler returned, or that refused its result.
fn refusal(failure: &Failure) -> Option<&Misuse> {
    match failure.downcast_ref::<Error>() {
        Some(Error::Misuse(misuse)) => Some(misuse),
        _ => failure.downcast_ref(),
    }
}
