//! Handlers whose types are forgotten, so that agents and clients that have them have a type that can be written down.

use std::future::Future;
use std::rc::Rc;

use futures::future::{FutureExt, LocalBoxFuture};

use super::error::Failure;
use super::handlers::{Handlers, Incoming, Report};

/// The handlers of an agent or a client whose type is forgotten: `Agent<Local>` is a type for members of structs, and the
/// same whatever handlers there are. [`Agent::local`](super::Agent::local) and [`Client::local`](super::Client::local)
/// make it.
///
/// What has it stays on its thread. Copies are the same handlers.
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
