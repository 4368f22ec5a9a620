//! Threads for one session's operations. They are as few as the queue lets run at once, and leave when there is nothing
//! to do for a while.

use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a thread waits for more.
const PATIENCE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// Runs a job on a thread, one more if none is free.
    pub(crate) fn run(self: &Arc<Self>, job: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.jobs.push_back(Box::new(job));
        if state.idle >= state.jobs.len() {
            self.more.notify_one();
            return;
        }
        drop(state);
        let pool = self.clone();
        if thread::Builder::new().name("acp-files".to_owned()).spawn(move || pool.work()).is_err() {
            // Better late in this thread than never.
            let job = self.state.lock().unwrap_or_else(PoisonError::into_inner).jobs.pop_back();
            if let Some(job) = job {
                job();
            }
        }
    }

    fn work(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // What panics here is what calls back into the host; the thread is for others too.
                drop(catch_unwind(AssertUnwindSafe(job)));
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.idle += 1;
            let (back, waited) = self.more.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            state = back;
            state.idle -= 1;
            if waited.timed_out() && state.jobs.is_empty() {
                return;
            }
        }
    }
}
