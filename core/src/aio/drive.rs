//! The one future behind a connection: it reads, hands over, runs the handlers and writes. Whoever polls it drives the
//! connection, and nothing runs without it.

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::{poll_fn, select, Either};
use futures::stream::{FuturesUnordered, StreamExt};

use super::error::{Error, Failure, RequestError};
use super::handlers::{Handlers, Incoming, Message, Report};
use super::inbound::{End, Step};
use super::shared::{Ending, Held, Shared, State};
use super::transport::Transport;
use super::wire::Wire;
use crate::connection::Request;
use crate::json;
use crate::jsonrpc::ErrorCode;

/// Rounds of work before others get a turn.
const ROUNDS: usize = 64;

/// Drives a connection to its end. The error is the transport's, which ends it as the peer's end of the stream does.
pub(super) async fn drive<H: Handlers, T: Transport>(
    shared: &Arc<Shared>,
    handlers: &H,
    transport: T,
) -> io::Result<()> {
    let _end = End(shared);
    let mut wire = Wire::new(transport, shared);
    let mut running = FuturesUnordered::new();
    poll_fn(|cx| {
        shared.with(|state| state.driver = Some(cx.waker().clone()));
        for _ in 0..ROUNDS {
            let mut moved = wire.tell_time(cx, shared);
            while let Some(step) = shared.with(|state| state.step(|method| handlers.has(method, false))) {
                match step {
                    Step::Serve(request) => running.push(work(shared, handlers, Message::Request(request))),
                    Step::Violation(violation) => handlers.report(&Report::Violation(&violation)),
                    Step::Advice(advice) => handlers.report(&Report::Advice(&advice)),
                    Step::Late(response) => handlers.report(&Report::Late(&response)),
                }
                moved = true;
            }
            if let Some(notification) = shared.with(State::notice) {
                running.push(work(shared, handlers, Message::Notification(notification)));
            }
            if shared.with(|state| state.end == Some(Ending::Host)) {
                running.clear();
            }
            while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {
                moved = true;
            }
            moved |= wire.read(cx, shared);
            moved |= wire.write(cx, shared);
            let over = shared.with(|state| state.end.is_some() && state.notices.is_empty());
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

/// Serves one message of the peer's, from the call of its handler until there is room for more.
async fn work<H: Handlers>(shared: &Arc<Shared>, handlers: &H, message: Message) {
    let incoming = Incoming { shared: Arc::clone(shared), message, opening: None };
    let Message::Request(request) = &incoming.message else {
        let method = incoming.method().to_owned();
        if let Err(failure) = handlers.call(incoming).await {
            handlers.report(&Report::Failure(&method, &failure));
        }
        return shared.with(|state| {
            state.noticing = false;
            state.kick();
        });
    };
    let request = request.clone();
    let answer = {
        let stopped = pin!(stopped(shared, request.serial));
        let served = async {
            poll_fn(|cx| shared.with(|state| state.admitted(request.serial, cx))).await;
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
    if let Some(failure) = problem {
        handlers.report(&Report::Failure(&request.method, &failure));
    }
    poll_fn(|cx| shared.with(|state| state.room(cx))).await;
    shared.with(|state| {
        state.charge(request.serial, 0);
        state.jobs.remove(&request.serial);
        state.unpark();
        state.kick();
    });
}

/// Is over when a request is cancelled whose handler does not end by itself then.
fn stopped(shared: &Shared, serial: u64) -> impl Future<Output = ()> + use<'_> {
    poll_fn(move |cx| shared.with(|state| state.cancelled(serial, cx, false)))
}

impl State {
    /// Waits until a request of the peer's is cancelled: one whose handler ends by itself then, or any other.
    pub(super) fn cancelled(&mut self, serial: u64, cx: &Context<'_>, kept: bool) -> Poll<()> {
        let Some(job) = self.jobs.get_mut(&serial) else { return Poll::Ready(()) };
        if job.cancelled && job.kept == kept {
            return Poll::Ready(());
        }
        super::shared::add(&mut job.watchers, cx);
        Poll::Pending
    }

    /// Answers a request with what its handler has come to, or with that it was cancelled. What is returned is for the
    /// host to know.
    fn answer(&mut self, request: &Request, answer: Option<Result<String, Failure>>) -> Option<Failure> {
        let job = self.jobs.get_mut(&request.serial)?;
        let (cancelled, answered) = (job.cancelled, std::mem::replace(&mut job.answered, true));
        self.kick();
        let opened = self.held.iter().find(|(_, held)| held.serial == request.serial).map(|(id, _)| Arc::clone(id));
        let held = opened.and_then(|id| self.held.remove_entry(&id));
        if answered {
            return None;
        }
        let failure = match answer {
            Some(Ok(result)) => {
                let opened = held.map(|held| (held, result.clone()));
                match self.connection.respond_with(&request.id, Cow::Owned(result)) {
                    Ok(()) => {
                        return opened.and_then(|(held, result)| self.let_out(held, &result).err()).map(Failure::from)
                    }
                    Err(misuse) => Failure::from(misuse),
                }
            }
            Some(Err(failure)) => failure,
            None => return self.refuse(request, &RequestError::of(ErrorCode::REQUEST_CANCELLED)),
        };
        if let Some(error) = failure.downcast_ref::<RequestError>() {
            return self.refuse(request, error);
        }
        if cancelled {
            return self.refuse(request, &RequestError::of(ErrorCode::REQUEST_CANCELLED));
        }
        let internal = ErrorCode::INTERNAL_ERROR;
        self.refuse(request, &RequestError::of(internal)).or(Some(failure))
    }

    /// Says what was said of a session while it was opened.
    fn let_out(&mut self, (id, held): (Arc<str>, Held), opened: &str) -> Result<(), Error> {
        let named = json::pointer(opened, "/sessionId").and_then(json::unescape);
        held.updates.iter().try_for_each(|update| self.update(named.as_deref().unwrap_or(&id), update))
    }

    fn refuse(&mut self, request: &Request, error: &RequestError) -> Option<Failure> {
        let data = error.data.as_ref().map(crate::schema::Raw::as_str);
        let refused = self.connection.respond_error(&request.id, error.code, &error.message, data);
        // When the connection is over, nobody is there to be told.
        refused.err().filter(|_| self.end.is_none()).map(|misuse| {
            let internal = ErrorCode::INTERNAL_ERROR;
            let again = self.connection.respond_error(&request.id, internal, internal.message(), None);
            Failure::from(again.err().unwrap_or(misuse))
        })
    }
}
