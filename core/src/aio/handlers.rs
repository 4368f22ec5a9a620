//! Handlers: a list in the type of the agent or the client that holds them, so that the one future that runs them can be
//! sent to another thread exactly if all of them can, and nothing is boxed.

use std::future::Future;
use std::sync::Arc;

use futures::future::Either;

use super::agent_session::AgentSession;
use super::client_session::ClientSession;
use super::error::{Failure, RequestError};
use super::opening::Name;
use super::shared::Shared;
use super::trace::Traced;
use crate::connection::{Advice, Notification, Request, Response, Violation};
use crate::Id;

/// The handlers of an agent or of a client. Its builder methods put them together; there is nothing to implement.
pub trait Handlers {
    /// Whether there is a handler for a method.
    #[doc(hidden)]
    fn has(&self, method: &str, request: bool) -> bool;

    /// Goes through the methods that have a handler, and whether it is one of requests.
    #[doc(hidden)]
    fn each(&self, visit: &mut dyn FnMut(&str, bool));

    /// Handles a message; of a request, the result as JSON text.
    #[doc(hidden)]
    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>>;

    /// Tells the host what it may want to know; whether a hook took it.
    #[doc(hidden)]
    fn report(&self, report: &Report<'_>) -> bool;

    /// Whether a hook wants to see all messages.
    #[doc(hidden)]
    fn traces(&self) -> bool;
}

/// A message that waits for its handler.
#[derive(Clone)]
pub struct Incoming {
    pub(super) shared: Arc<Shared>,
    pub(super) message: Message,
    /// The session that it opens.
    pub(super) opening: Option<Arc<Name>>,
}

#[derive(Debug, Clone)]
pub(super) enum Message {
    Request(Request),
    Notification(Notification),
    /// An update that no stream of updates takes.
    Left(Notification),
}

/// What stands in place of a method for the handler of updates that no stream takes.
pub(super) const LEFT: &str = "session/update that no stream takes";

impl Message {
    pub(super) fn session(&self) -> Option<&Arc<str>> {
        match self {
            Message::Request(request) => request.session.as_ref(),
            Message::Notification(notification) | Message::Left(notification) => notification.session.as_ref(),
        }
    }
}

impl Incoming {
    pub(super) fn method(&self) -> &str {
        match &self.message {
            Message::Request(request) => &request.method,
            Message::Notification(notification) => &notification.method,
            Message::Left(_) => LEFT,
        }
    }

    pub(super) fn is_request(&self) -> bool {
        matches!(self.message, Message::Request(_))
    }

    pub(super) fn session(&self) -> Option<&Arc<str>> {
        self.message.session()
    }

    /// The number of a request.
    pub(super) fn serial(&self) -> u64 {
        match &self.message {
            Message::Request(request) => request.serial,
            Message::Notification(_) | Message::Left(_) => 0,
        }
    }

    /// The id of a request.
    pub(super) fn id(&self) -> Option<&Id> {
        match &self.message {
            Message::Request(request) => Some(&request.id),
            Message::Notification(_) | Message::Left(_) => None,
        }
    }

    pub(super) fn json(&self) -> &str {
        match &self.message {
            Message::Request(request) => request.params(),
            Message::Notification(notification) | Message::Left(notification) => notification.params(),
        }
    }
}

/// What the host may want to know.
pub enum Report<'r> {
    Violation(&'r Violation),
    Advice(&'r Advice),
    Late(&'r Response),
    /// The handler of a method failed, or what it returned cannot be sent.
    Failure(&'r str, &'r Failure),
    /// A session is over.
    AgentSession(&'r AgentSession),
    ClientSession(&'r ClientSession),
    Traced(&'r Traced<'r>),
}

impl Handlers for () {
    fn has(&self, _: &str, _: bool) -> bool {
        false
    }

    fn each(&self, _: &mut dyn FnMut(&str, bool)) {}

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        if incoming.is_request() {
            return Err(RequestError::not_found(incoming.method()).into());
        }
        Ok(String::new())
    }

    fn report(&self, _: &Report<'_>) -> bool {
        false
    }

    fn traces(&self) -> bool {
        false
    }
}

/// What a handler is called with, and what becomes of what it returns.
///
/// Neither these types nor any others in the type of a handler have lifetimes, not even `'static`: the compiler forgets
/// lifetimes in what it finds in asynchronous blocks, and could no longer tell that a block with an agent in it can be
/// sent to another thread.
pub trait Kind {
    type Argument;
    type Answer;

    /// Whether it is about requests.
    const REQUEST: bool = true;

    fn method(&self) -> &str;

    fn argument(&self, incoming: &Incoming) -> Result<Self::Argument, Failure>;

    /// The result as JSON text.
    fn result(&self, incoming: &Incoming, answer: Self::Answer) -> Result<String, Failure>;
}

/// A handler in front of others.
pub struct Handler<H, K, F> {
    rest: H,
    kind: K,
    function: F,
}

impl<H, K, F> Handler<H, K, F> {
    pub(super) fn new(rest: H, kind: K, function: F) -> Self {
        Handler { rest, kind, function }
    }
}

impl<H, K, F> Handlers for Handler<H, K, F>
where
    H: Handlers,
    K: Kind,
    F: AsyncFn(K::Argument) -> Result<K::Answer, Failure>,
{
    fn has(&self, method: &str, request: bool) -> bool {
        (request == K::REQUEST && method == self.kind.method()) || self.rest.has(method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        visit(self.kind.method(), K::REQUEST);
        self.rest.each(visit);
    }

    // Side by side, not one within the other: how deep types may be nested is limited.
    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>> {
        if incoming.is_request() != K::REQUEST || incoming.method() != self.kind.method() {
            return Either::Left(self.rest.call(incoming));
        }
        Either::Right(async move {
            let answer = (self.function)(self.kind.argument(&incoming)?).await?;
            self.kind.result(&incoming, answer)
        })
    }

    fn report(&self, report: &Report<'_>) -> bool {
        self.rest.report(report)
    }

    fn traces(&self) -> bool {
        self.rest.traces()
    }
}

/// What looks at reports.
pub trait Watch {
    /// Whether it wants to see all messages.
    const TRACES: bool = false;

    fn report(&self, report: &Report<'_>) -> bool;
}

/// A hook for one kind of report.
macro_rules! hook {
    ($name:ident($bound:path): $report:pat => $($argument:expr),+ $(; $traces:expr)?) => {
        pub struct $name<F>(pub(super) F);

        impl<F: $bound> Watch for $name<F> {
            $(const TRACES: bool = $traces;)?

            fn report(&self, report: &Report<'_>) -> bool {
                if let $report = report {
                    (self.0)($($argument),+);
                    return true;
                }
                false
            }
        }
    };
}

hook!(Violations(Fn(&Violation)): Report::Violation(violation) => violation);
hook!(Advices(Fn(&Advice)): Report::Advice(advice) => advice);
hook!(LateResponses(Fn(&Response)): Report::Late(response) => response);
hook!(Failures(Fn(&str, &Failure)): Report::Failure(method, failure) => method, failure);
hook!(AgentSessions(Fn(&AgentSession)): Report::AgentSession(session) => session);
hook!(ClientSessions(Fn(&ClientSession)): Report::ClientSession(session) => session);
hook!(Traces(Fn(&Traced<'_>)): Report::Traced(message) => message; true);

/// What looks at reports, in front of others.
pub struct Watching<H, W> {
    rest: H,
    watch: W,
}

impl<H, W> Watching<H, W> {
    pub(super) fn new(rest: H, watch: W) -> Self {
        Watching { rest, watch }
    }
}

impl<H: Handlers, W: Watch> Handlers for Watching<H, W> {
    fn has(&self, method: &str, request: bool) -> bool {
        self.rest.has(method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        self.rest.each(visit);
    }

    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>> {
        self.rest.call(incoming)
    }

    fn report(&self, report: &Report<'_>) -> bool {
        let taken = self.watch.report(report);
        self.rest.report(report) || taken
    }

    fn traces(&self) -> bool {
        W::TRACES || self.rest.traces()
    }
}
