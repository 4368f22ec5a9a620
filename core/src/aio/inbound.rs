//! Handling the events of a connection in their order.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::kept::Kept;
use super::message::{Message, LEFT};
use super::shared::{Ending, Job, Notice, Shared, State};
use crate::connection::{Advice, CloseReason, Notification, Request, Response, Violation};
use crate::host::Budget;
use crate::Event;

/// What the answer to a large request is taken for: the largest file that `libacp-files` returns.
const UNKNOWN: usize = 10_000_000;

/// Something that the driver has to do.
pub(super) enum Step {
    Serve(Request),
    Violation(Violation),
    Advice(Advice),
    Late(Response),
    /// A session has ended.
    Over(Arc<str>, Kept),
}

impl State {
    /// Processes events until the driver has something to do; `None` if there are no more, or there is no room for
    /// more.
    pub(super) fn step(&mut self, heard: impl Fn(&str) -> bool) -> Option<Step> {
        loop {
            if let Some((session, kept)) = self.over.pop_front() {
                return Some(Step::Over(session, kept));
            }
            match self.host.poll_event()? {
                Event::Request(request) => {
                    if Budget::is_large(&request.method) {
                        // It looks by itself whether it has to wait.
                        let _ = self.budget.ask(request.serial, UNKNOWN);
                    }
                    self.jobs.insert(request.serial, Job::new(&request, self.came));
                    self.greeted(&request.method, request.params());
                    return Some(Step::Serve(request));
                }
                Event::Notification(notification) => self.notified(notification, &heard),
                Event::Response(response) => self.settle(response),
                Event::LateResponse(response) => {
                    self.unpark();
                    return Some(Step::Late(response));
                }
                Event::Cancel(cancel) => self.stop(|serial, _| serial == cancel.serial),
                Event::Answered(answered) => {
                    if let Some(job) = self.jobs.get_mut(&answered.serial) {
                        job.answered = true;
                    }
                    self.stop(|serial, _| serial == answered.serial);
                }
                Event::Violation(violation) => {
                    // It may explain why the next response cannot be used.
                    self.broken = violation.id.is_some().then(|| Box::new(violation.clone()));
                    return Some(Step::Violation(violation));
                }
                Event::Advice(advice) => return Some(Step::Advice(advice)),
                Event::Closed(closed) => {
                    self.end = Some(Ending::Peer);
                    if closed.reason != CloseReason::EndOfStream {
                        self.end = Some(Ending::Host);
                        self.notices.clear();
                    }
                    self.stop(|_, _| true);
                    self.unpark();
                }
            }
        }
    }

    /// Whether there is room for more of the peer's bytes.
    pub(super) fn hungry(&mut self) -> bool {
        self.end.is_none() && !self.host.pace().is_paused()
    }

    fn notified(&mut self, notification: Notification, heard: &impl Fn(&str) -> bool) {
        self.came += 1;
        let size = notification.params().len();
        if heard(&notification.method) {
            self.put_off(Message::Notification(notification.clone()), size);
        }
        if &*notification.method != "session/update" {
            return;
        }
        self.titled(&notification);
        let slot = self.host.exchange().and_then(|serial| self.calls.get_mut(&serial));
        if let Some((updates, waker)) = slot.and_then(|slot| Some((slot.updates.as_mut()?, &mut slot.waker))) {
            updates.push_back((notification, self.came));
            let waker = waker.take();
            self.wake(waker);
            self.host.pace().keep(size);
        } else if heard(LEFT) {
            self.put_off(Message::Left(notification), size);
        }
    }

    /// Queues a notification for its handler.
    fn put_off(&mut self, message: Message, size: usize) {
        self.notices.push_back(Notice { message, number: self.came });
        self.host.pace().keep(size);
    }

    /// Waits until the updates before a permission request were handed over, because they show what it is about.
    pub(super) fn preceded(&mut self, request: &Request, cx: &Context<'_>) -> Poll<()> {
        let Some(job) = self.jobs.get(&request.serial).filter(|_| &*request.method == "session/request_permission")
        else {
            return Poll::Ready(());
        };
        let before = |number: u64| number <= job.after;
        let in_streams = self.calls.values().filter(|slot| slot.exchange == request.session);
        let mut first = in_streams.filter_map(|slot| slot.updates.as_ref()?.front());
        let noticed = |notice: &Notice| before(notice.number) && notice.message.session() == request.session.as_ref();
        let handled = self.noticing.as_ref().is_some_and(|(number, of)| before(*number) && *of == request.session);
        if handled || first.any(|(_, number)| before(*number)) || self.notices.iter().any(noticed) {
            return self.fall_behind(cx);
        }
        Poll::Ready(())
    }

    /// The next notification, if no other is being handled.
    pub(super) fn notice(&mut self) -> Option<Message> {
        if self.noticing.is_some() {
            return None;
        }
        let notice = self.notices.pop_front()?;
        if let Message::Notification(taken) | Message::Left(taken) = &notice.message {
            self.free(taken, self.notices.is_empty());
        }
        self.noticing = Some((notice.number, notice.message.session().cloned()));
        Some(notice.message)
    }

    fn settle(&mut self, response: Response) {
        self.unpark();
        let serial = response.serial;
        let about = |broken: &Violation| {
            broken.id.as_ref() == Some(&response.id) && broken.method.as_ref() == Some(&response.method)
        };
        let violation = self.broken.take().filter(|broken| about(broken));
        let wanted = self.calls.get(&serial).is_some_and(|slot| !slot.abandoned);
        if let Some(result) = response.outcome.result() {
            self.greeted(&response.method, result);
        }
        self.lived(&response, wanted);
        let Some(slot) = self.calls.get_mut(&serial) else { return };
        if slot.abandoned {
            self.calls.remove(&serial);
            self.host.give_back(&response);
        } else {
            let waker = slot.waker.take();
            slot.answer = Some(response);
            slot.violation = violation;
            self.wake(waker);
        }
    }

    /// Keeps what the peer says of itself.
    fn greeted(&mut self, method: &str, hello: &str) {
        if method == "initialize" {
            self.hello = Some(hello.to_owned());
        }
    }

    /// Remembers the title of a tool call from an update.
    fn titled(&mut self, update: &Notification) {
        // Most updates are chunks of messages; parsing those again would be a waste.
        if matches!(update.update, Some("tool_call" | "tool_call_update")) {
            if let Some(kept) = update.session.as_ref().and_then(|session| self.kept.get_mut(session)) {
                kept.titles.take(update.params());
            }
        }
    }

    /// Cancels requests that are being served.
    pub(super) fn stop(&mut self, which: impl Fn(u64, &Job) -> bool) {
        let mut watchers = Vec::new();
        for (serial, job) in &mut self.jobs {
            if which(*serial, job) {
                job.cancelled = true;
                watchers.append(&mut job.watchers);
            }
        }
        self.wake(watchers);
    }
}

/// In the place of a method: work that no request has asked for.
const WORK: &str = "";

impl Job {
    /// Work without a prompt.
    pub(super) fn of_work(session: &str, after: u64) -> Self {
        Job { session: Some(session.into()), ..Job::of(WORK.into(), after) }
    }

    /// Whether it is what a session does in the foreground.
    pub(super) fn is_turn(&self) -> bool {
        matches!(&*self.method, "session/prompt" | WORK)
    }

    fn of(method: Cow<'static, str>, after: u64) -> Self {
        Job {
            method,
            session: None,
            cancelled: false,
            kept: false,
            answered: false,
            after,
            opening: None,
            turn: None,
            watchers: Vec::new(),
        }
    }

    fn new(request: &Request, after: u64) -> Self {
        Job { session: request.session.clone(), ..Job::of(request.method.clone(), after) }
    }
}

/// When a connection is no longer driven, wakes everything that waits for it.
pub(super) struct End<'s>(pub(super) &'s Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.host.close();
            state.end = Some(Ending::Host);
            // Ended sessions are reported later, when `Ends` is dropped.
            let mut over = VecDeque::new();
            while let Some(step) = state.step(|_| false) {
                if let Step::Over(session, kept) = step {
                    over.push_back((session, kept));
                }
            }
            over.extend(state.kept.drain());
            state.over = over;
            state.wake_viewers();
            state.unpark();
            let calls = state.calls.values_mut().filter_map(|slot| slot.waker.take());
            let wakers: Vec<_> = calls.collect();
            state.wake(wakers);
            let watchers = state.jobs.drain().flat_map(|(_, mut job)| mem::take(&mut job.watchers));
            let watchers: Vec<_> = watchers.collect();
            state.wake(watchers);
        });
    }
}
