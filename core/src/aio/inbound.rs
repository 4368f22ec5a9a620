//! Handling the events of a connection in their order, and deciding when to stop reading.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::kept::Kept;
use super::message::{Message, LEFT};
use super::shared::{Ending, Job, Notice, Shared, State};
use crate::connection::{Advice, CloseReason, Notification, Request, Response, Violation};
use crate::Event;

/// How many notifications may wait in calls and for handlers before reading stops.
const MOST: usize = 256;
/// How many bytes of them may wait before reading stops.
const BYTES: usize = 1024 * 1024;
/// The limits are multiplied by this while a call is open, because its response may be behind the queue.
const PATIENCE: usize = 8;
/// How many automatic responses may wait to be written before reading stops.
const REPLIES: usize = 1024;

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
            self.stalled = self.end.is_none() && self.full();
            if self.stalled {
                return None;
            }
            let before = self.connection().buffered();
            let event = self.host.poll_event()?;
            let size = before.saturating_sub(self.connection().buffered());
            match event {
                Event::Request(request) => {
                    self.budget.enter(request.serial, &request.method);
                    self.jobs.insert(request.serial, Job::new(&request, self.came));
                    self.greeted(&request.method, request.params());
                    return Some(Step::Serve(request));
                }
                Event::Notification(notification) => self.notified(notification, size, &heard),
                Event::Response(response) => self.settle(response),
                Event::LateResponse(response) => {
                    self.unpark();
                    self.give_back(&response);
                    return Some(Step::Late(response));
                }
                Event::Cancel(cancel) => self.stop(|serial, _| serial == cancel.serial),
                Event::Answered(answered) => {
                    self.replies += 1;
                    if let Some(job) = self.jobs.get_mut(&answered.serial) {
                        job.answered = true;
                    }
                    self.stop(|serial, _| serial == answered.serial);
                }
                Event::Violation(violation) => {
                    self.replies += 1;
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
    pub(super) fn hungry(&self) -> bool {
        self.end.is_none() && !self.stalled && self.replies < REPLIES
    }

    fn full(&self) -> bool {
        let patience = if self.asking > 0 { PATIENCE } else { 1 };
        let served = self.jobs.len().saturating_sub(self.works) >= self.most && self.asking == 0;
        served || self.waiting >= MOST * patience || self.bytes >= BYTES * patience
    }

    fn notified(&mut self, notification: Notification, size: usize, heard: &impl Fn(&str) -> bool) {
        self.came += 1;
        if heard(&notification.method) {
            self.put_off(Message::Notification(notification.clone()), self.came, size);
        }
        if &*notification.method != "session/update" {
            return;
        }
        self.titled(&notification);
        let slot = self.host.exchange().and_then(|serial| self.calls.get_mut(&serial));
        if let Some((updates, waker)) = slot.and_then(|slot| Some((slot.updates.as_mut()?, &mut slot.waker))) {
            updates.push_back((notification, self.came, size));
            let waker = waker.take();
            self.wake(waker);
            self.waiting += 1;
            self.bytes += size;
        } else if heard(LEFT) {
            self.put_off(Message::Left(notification), self.came, size);
        }
    }

    /// Queues a notification for its handler.
    fn put_off(&mut self, message: Message, number: u64, size: usize) {
        self.notices.push_back(Notice { message, number, size });
        self.waiting += 1;
        self.bytes += size;
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
        if handled || first.any(|(_, number, _)| before(*number)) || self.notices.iter().any(noticed) {
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
        self.free(notice.size);
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
        if slot.exchange.is_none() {
            self.asking -= 1;
        }
        if slot.abandoned {
            self.calls.remove(&serial);
            self.give_back(&response);
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
            cost: 0,
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
            state.host.connection_mut().close();
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
