//! Handlers with an erased type, so that the type of the agent or client that has them can be written down.

use std::future::Future;
use std::rc::Rc;

use futures::future::{FutureExt, LocalBoxFuture};

use super::error::Failure;
use super::handlers::{Handlers, Incoming, Report};

/// The handlers of an agent or a client, with their type erased: `Agent<Local>` can be the type of a field, and does
/// not depend on the handlers. Created by [`Agent::local`](super::Agent::local) and
/// [`Client::local`](super::Client::local).
///
/// It is confined to its thread. Clones share the handlers.
#[derive(Clone)]
pub struct Local(Rc<dyn Erased>);

trait Erased {
    fn has(&self, method: &str, request: bool) -> bool;
    fn each(&self, visit: &mut dyn FnMut(&str, bool));
    fn call(&self, incoming: Incoming) -> LocalBoxFuture<'_, Result<String, Failure>>;
    fn report(&self, report: &Report<'_>) -> bool;
    fn traces(&self) -> bool;
}

impl<H: Handlers> Erased for H {
    fn has(&self, method: &str, request: bool) -> bool {
        Handlers::has(self, method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        Handlers::each(self, visit);
    }

    fn call(&self, incoming: Incoming) -> LocalBoxFuture<'_, Result<String, Failure>> {
        Handlers::call(self, incoming).boxed_local()
    }

    fn report(&self, report: &Report<'_>) -> bool {
        Handlers::report(self, report)
    }

    fn traces(&self) -> bool {
        Handlers::traces(self)
    }
}

impl Local {
    pub(super) fn new(handlers: impl Handlers + 'static) -> Self {
        Local(Rc::new(handlers))
    }
}

impl Handlers for Local {
    fn has(&self, method: &str, request: bool) -> bool {
        self.0.has(method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        self.0.each(visit);
    }

    fn call(&self, incoming: Incoming) -> impl Future<Output = Result<String, Failure>> {
        self.0.call(incoming)
    }

    fn report(&self, report: &Report<'_>) -> bool {
        self.0.report(report)
    }

    fn traces(&self) -> bool {
        self.0.traces()
    }
}
