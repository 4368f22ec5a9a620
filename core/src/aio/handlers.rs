//! Handlers: a list in the type of the agent or the client that holds them, so that the one future that runs them can be
//! sent to another thread exactly if all of them can, and nothing is boxed.

use std::future::Future;
use std::sync::Arc;

use super::error::{Failure, RequestError};
use super::shared::Shared;
use crate::connection::{Advice, Notification, Request, Response, Violation};
use crate::jsonrpc::ErrorCode;

/// The handlers of an agent or of a client. Its builder methods put them together; there is nothing to implement.
pub trait Handlers {
    /// Whether there is a handler for a method.
    #[doc(hidden)]
    fn has(&self, method: &str, request: bool) -> bool;

    /// Handles a message; of a request, the result as JSON text.
    #[doc(hidden)]
    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>>;

    /// Tells the host what it may want to know.
    #[doc(hidden)]
    fn report(&self, report: &Report<'_>);
}

/// A message that waits for its handler.
#[derive(Clone)]
pub struct Incoming {
    pub(super) shared: Arc<Shared>,
    pub(super) message: Message,
    /// The session that it opens.
    pub(super) opening: Option<Arc<str>>,
}

#[derive(Clone)]
pub(super) enum Message {
    Request(Request),
    Notification(Notification),
}

impl Incoming {
    pub(super) fn method(&self) -> &str {
        match &self.message {
            Message::Request(request) => &request.method,
            Message::Notification(notification) => &notification.method,
        }
    }

    pub(super) fn is_request(&self) -> bool {
        matches!(self.message, Message::Request(_))
    }

    pub(super) fn session(&self) -> Option<&Arc<str>> {
        match &self.message {
            Message::Request(request) => request.session.as_ref(),
            Message::Notification(notification) => notification.session.as_ref(),
        }
    }

    /// The number of a request.
    pub(super) fn serial(&self) -> u64 {
        match &self.message {
            Message::Request(request) => request.serial,
            Message::Notification(_) => 0,
        }
    }

    pub(super) fn json(&self) -> &str {
        match &self.message {
            Message::Request(request) => request.params(),
            Message::Notification(notification) => notification.params(),
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
}

impl Handlers for () {
    fn has(&self, _: &str, _: bool) -> bool {
        false
    }

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        if incoming.is_request() {
            return Err(RequestError::of(ErrorCode::METHOD_NOT_FOUND).into());
        }
        Ok(String::new())
    }

    fn report(&self, _: &Report<'_>) {}
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

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        if incoming.is_request() != K::REQUEST || incoming.method() != self.kind.method() {
            return self.rest.call(incoming).await;
        }
        let answer = (self.function)(self.kind.argument(&incoming)?).await?;
        self.kind.result(&incoming, answer)
    }

    fn report(&self, report: &Report<'_>) {
        self.rest.report(report);
    }
}

/// What looks at reports.
pub trait Watch {
    fn report(&self, report: &Report<'_>);
}

/// A hook for one kind of report.
macro_rules! hook {
    ($name:ident($bound:path): $report:pat => $($argument:expr),+) => {
        pub struct $name<F>(pub(super) F);

        impl<F: $bound> Watch for $name<F> {
            fn report(&self, report: &Report<'_>) {
                if let $report = report {
                    (self.0)($($argument),+);
                }
            }
        }
    };
}

hook!(Violations(Fn(&Violation)): Report::Violation(violation) => violation);
hook!(Advices(Fn(&Advice)): Report::Advice(advice) => advice);
hook!(LateResponses(Fn(&Response)): Report::Late(response) => response);
hook!(Failures(Fn(&str, &Failure)): Report::Failure(method, failure) => method, failure);

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

    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>> {
        self.rest.call(incoming)
    }

    fn report(&self, report: &Report<'_>) {
        self.watch.report(report);
        self.rest.report(report);
    }
}
