//! Answering the peer's requests.

use std::mem;
use std::sync::Arc;

use super::error::{Error, Failure, RequestError};
use super::kept::Kept;
use super::name::Name;
use super::shared::State;
use crate::connection::Request;
use crate::json;
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

/// Problems to report to the host: what was left out of a response, and why there was none.
pub(super) type Problems = [Option<Failure>; 2];

impl State {
    /// Answers a request with the outcome of its handler, or as cancelled if there is none.
    pub(super) fn answer(&mut self, request: &Request, answer: Option<Result<String, Failure>>) -> Problems {
        let Some(job) = self.jobs.get_mut(&request.serial) else { return [None, None] };
        let (cancelled, answered) = (job.cancelled, mem::replace(&mut job.answered, true));
        let opening = job.opening.take();
        self.kick();
        if answered {
            return [None, None];
        }
        let mut problems = [None, None];
        let failure = match answer {
            Some(Ok(result)) => {
                let (result, left_out) = self.fitted(&request.method, result);
                problems[0] = left_out;
                let opened = opening.map(|name| (name, result.clone()));
                match self.host.respond_with(request.into(), result.into()) {
                    Ok(()) => {
                        if let Some(session) = &request.session {
                            self.ended(&request.method, session);
                        }
                        if let Some((name, result)) = opened {
                            self.opened(&name, &result);
                        }
                        return problems;
                    }
                    Err(misuse) => Failure::from(misuse),
                }
            }
            Some(Err(failure)) => failure,
            None if &*request.method == "session/prompt" => {
                problems[1] = self.host.respond(request, CANCELLED).err().map(Failure::from);
                return problems;
            }
            None => return [None, self.refuse(request, &RequestError::of(ErrorCode::REQUEST_CANCELLED))],
        };
        problems[1] = self.failed(request, failure, cancelled);
        problems
    }

    /// Called when the response that opens a session was sent: what is stored with the session takes effect.
    fn opened(&mut self, name: &Arc<Name>, answer: &str) {
        let Some(opening) = &name.opening else { return };
        let kept = Kept { data: opening.data(), name: Some(Arc::clone(name)), ..Kept::default() };
        self.kept.insert(Arc::clone(name.settle(answer)), kept);
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

    /// Removes what this client does not support: authentication methods in a terminal, and boolean options.
    fn fitted(&mut self, method: &str, answer: String) -> (String, Option<Failure>) {
        let (list, kind, capability, what) = match method {
            "initialize" => ("/authMethods", "terminal", "/clientCapabilities/auth/terminal", "logins in a terminal"),
            "session/new" | "session/load" | "session/resume" | "session/fork" | "session/set_config_option" => (
                "/configOptions",
                "boolean",
                "/clientCapabilities/session/configOptions/boolean",
                "options that are switches",
            ),
            _ => return (answer, None),
        };
        let items = json::pointer(&answer, list).map_or_else(Vec::new, json::items);
        let is = |item: &str| json::pointer(item, "/type").and_then(json::unescape).is_some_and(|found| found == kind);
        let (place, of_kind) =
            (|index| format!("{list}/{index}"), items.iter().enumerate().filter(|(_, item)| is(item)));
        let places: Vec<String> = of_kind.map(|(index, _)| place(index)).collect();
        let taken = |can: &str| json::pointer(can, capability).is_some_and(|value| value != "false" && value != "null");
        if places.is_empty() || taken(self.hello.as_deref().unwrap_or("{}")) {
            return (answer, None);
        }
        let told = mem::replace(&mut self.told_left_out, true);
        let failure = (!told).then(|| Failure::new(format!("this client takes no {what}, which were left out")));
        (json::without(&answer, &places), failure)
    }
}

/// The misuse that a handler returned, or that refused its result.
fn refusal(failure: &Failure) -> Option<&Misuse> {
    match failure.downcast_ref::<Error>() {
        Some(Error::Misuse(misuse)) => Some(misuse),
        _ => failure.downcast_ref(),
    }
}
