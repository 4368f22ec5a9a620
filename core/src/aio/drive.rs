//! The future behind a connection: it reads, dispatches, runs the handlers and writes. Nothing runs unless it is
//! polled.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::{poll_fn, select, Either};
use futures::stream::{FuturesUnordered, StreamExt};

use super::ends::{tell_end, Ends};
use super::handlers::{Handlers, Incoming, Report};
use super::inbound::{End, Step};
use super::message::Message;
use super::shared::{Ending, Shared, State};
use super::transport::Transport;
use super::wire::Wire;
use crate::host::LEFT_OUT;

/// How many rounds of work to do before yielding to other tasks.
const ROUNDS: usize = 64;

/// Drives a connection to its end. An error of the transport ends the connection in the same way as the end of the
/// peer's stream, and is returned.
pub(super) async fn drive<H: Handlers, T: Transport>(
    shared: &Arc<Shared>,
    handlers: &H,
    transport: T,
) -> io::Result<()> {
    let _ends = Ends(shared, handlers);
    let _end = End(shared);
    let mut wire = Wire::new(transport, shared, handlers);
    let mut running = FuturesUnordered::new();
    poll_fn(|cx| {
        shared.with(|state| state.driver = Some(cx.waker().clone()));
        for _ in 0..ROUNDS {
            let mut moved = wire.tell_time(cx, shared);
            while let Some(step) = shared.with(|state| state.step(|method| handlers.has(method, false))) {
                match step {
                    Step::Serve(request) => running.push(work(shared, handlers, Message::Request(request))),
                    Step::Violation(violation) => tell(handlers, &Report::Violation(&violation)),
                    Step::Advice(advice) => tell(handlers, &Report::Advice(&advice)),
                    Step::Late(response) => tell(handlers, &Report::Late(&response)),
                    Step::Over(session, kept) => tell_end(shared, handlers, session, kept),
                }
                moved = true;
            }
            if let Some(message) = shared.with(State::notice) {
                running.push(work(shared, handlers, message));
            }
            if shared.with(|state| state.end == Some(Ending::Host)) {
                running.clear();
            }
            while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {
                moved = true;
            }
            moved |= wire.read(cx, shared);
            moved |= wire.write(cx, shared);
            let over = shared.with(|state| {
                state.wake_viewers();
                state.end.is_some() && state.notices.is_empty()
            });
            if over && running.is_empty() && wire.is_done(cx, shared) {
                return Poll::Ready(());
            }
            if !moved {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    wire.end()
}

/// Reports something to the host. An error, or what was left out, that no hook takes is printed to the standard error
/// stream.
fn tell<H: Handlers>(handlers: &H, report: &Report<'_>) {
    if handlers.report(report) {
        return;
    }
    match report {
        Report::Failure(method, failure) => eprintln!("libacp: {method}: {failure}"),
        Report::Advice(advice) if LEFT_OUT.contains(&advice.rule) => {
            eprintln!("libacp: {}: {}: {}", advice.rule, advice.method, advice.message);
        }
        _ => {}
    }
}

/// Serves one message of the peer, from the call of its handler until there is room for more.
async fn work<H: Handlers>(shared: &Arc<Shared>, handlers: &H, message: Message) {
    let incoming = Incoming { shared: Arc::clone(shared), message, opening: None };
    let Message::Request(request) = &incoming.message else {
        let method = incoming.method().to_owned();
        if let Err(failure) = handlers.call(incoming).await {
            tell(handlers, &Report::Failure(&method, &failure));
        }
        return shared.with(|state| {
            state.noticing = None;
            state.unpark();
            state.kick();
        });
    };
    let request = request.clone();
    let answer = {
        let stopped = pin!(stopped(shared, request.serial));
        let served = async {
            poll_fn(|cx| shared.with(|state| state.admitted(request.serial, cx))).await;
            poll_fn(|cx| shared.with(|state| state.preceded(&request, cx))).await;
            handlers.call(incoming).await
        };
        match select(stopped, pin!(served)).await {
            Either::Left(_) => None,
            Either::Right((answer, _)) => Some(answer),
        }
    };
    let problem = shared.with(|state| {
        let bytes = answer.as_ref().and_then(|answer| answer.as_ref().ok()).map_or(0, String::len);
        state.charge(request.serial, bytes);
        state.answer(&request, answer)
    });
    if let Some(failure) = &problem {
        tell(handlers, &Report::Failure(&request.method, failure));
    }
    poll_fn(|cx| shared.with(|state| state.room(cx))).await;
    shared.with(|state| state.served(request.serial));
}

/// Resolves when the request is cancelled and its handler did not opt into handling cancellation.
pub(super) fn stopped(shared: &Shared, serial: u64) -> impl Future<Output = ()> + use<'_> {
    poll_fn(move |cx| shared.with(|state| state.cancelled(serial, cx, false)))
}

impl State {
    /// Waits until one of the peer's requests is cancelled. `kept` says whether to wait as its handler, which then ends
    /// by itself, or on behalf of all other handlers.
    pub(super) fn cancelled(&mut self, serial: u64, cx: &Context<'_>, kept: bool) -> Poll<()> {
        let Some(job) = self.jobs.get_mut(&serial) else { return Poll::Ready(()) };
        if job.cancelled && job.kept == kept {
            return Poll::Ready(());
        }
        super::shared::add(&mut job.watchers, cx);
        Poll::Pending
    }
}
