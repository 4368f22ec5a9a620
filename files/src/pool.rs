//! Threads for the operations of one session. There are at most as many as the queue lets run at once, and each ends
//! after it was idle for a while.

use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long an idle thread waits for work before it ends.
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
    /// Runs a job on an idle thread, or on a new one.
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
            // No thread can be started: run the job here rather than never.
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
                // Only the host's `done` can panic here, and the thread has other jobs to do.
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
