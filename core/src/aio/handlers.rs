//! Handlers: a list in the type of the agent or client that has them. Nothing is boxed, and the future that runs them
//! can be sent to another thread exactly if all of them can.

use std::future::Future;
use std::sync::Arc;

use futures::future::Either;

use super::agent_session::AgentSession;
use super::client_session::ClientSession;
use super::error::{Failure, RequestError};
use super::message::{Message, LEFT};
use super::name::Name;
use super::shared::Shared;
use super::trace::Traced;
use crate::connection::{Advice, Response, Violation};
use crate::host::Decision;
use crate::Id;

/// The handlers of an agent or a client. The builder methods compose them; there is nothing to implement.
pub trait Handlers {
    /// Whether there is a handler for a method.
    #[doc(hidden)]
    fn has(&self, method: &str, request: bool) -> bool;

    /// Visits the methods that have a handler, and whether it handles requests.
    #[doc(hidden)]
    fn each(&self, visit: &mut dyn FnMut(&str, bool));

    /// Handles a message. Returns the result of a request as JSON text.
    #[doc(hidden)]
    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>>;

    /// Reports something to the hooks. Returns whether one took it.
    #[doc(hidden)]
    fn report(&self, report: &Report<'_>) -> bool;

    /// Whether a hook wants to see all messages.
    #[doc(hidden)]
    fn traces(&self) -> bool;
}

/// A message for a handler, with what the handler needs to serve it.
#[derive(Clone)]
pub struct Incoming {
    pub(super) shared: Arc<Shared>,
    pub(super) message: Message,
    /// The session that it opens.
    pub(super) opening: Option<Arc<Name>>,
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

    /// The serial number of a request.
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

/// Something that is reported to the host.
pub enum Report<'r> {
    Violation(&'r Violation),
    Advice(&'r Advice),
    Late(&'r Response),
    /// A handler of a method failed, or its result cannot be sent.
    Failure(&'r str, &'r Failure),
    /// A session has ended.
    AgentSession(&'r AgentSession),
    ClientSession(&'r ClientSession),
    Traced(&'r Traced<'r>),
    Decision(&'r Decision),
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

/// What a handler is called with, and what happens to its result.
///
/// The types in a handler's type, this one included, have no lifetimes, not even `'static`: the compiler erases
/// lifetimes in asynchronous blocks and could then no longer tell whether a block that contains an agent can be sent to
/// another thread.
pub trait Kind {
    type Argument;
    type Answer;

    /// Whether it handles requests.
    const REQUEST: bool = true;

    fn method(&self) -> &str;

    fn argument(&self, incoming: &Incoming) -> Result<Self::Argument, Failure>;

    /// The result as JSON text.
    fn result(&self, incoming: &Incoming, answer: Self::Answer) -> Result<String, Failure>;
}

/// A handler, followed by others.
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

    // Two alternatives rather than nested futures, because the compiler limits how deeply types are nested.
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

/// A hook that sees reports.
pub trait Watch {
    /// Whether it wants to see all messages.
    const TRACES: bool = false;

    fn report(&self, report: &Report<'_>) -> bool;
}

/// Defines a hook for one kind of report.
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
hook!(Decisions(Fn(&Decision)): Report::Decision(decision) => decision);
hook!(Traces(Fn(&Traced<'_>)): Report::Traced(message) => message; true);

/// A hook, followed by other handlers.
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
