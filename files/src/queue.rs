//! The order of a session's operations: a few reads at once, each write alone, in the order of the calls.
//!
//! There is one queue for all files of a session, because a file can have many names: through links, through case,
//! through folders that are created.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many reads run at once.
const AT_ONCE: usize = 4;

type Go = Box<dyn FnOnce(Pass) + Send>;

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(bool, Go)>,
    reading: usize,
    writing: bool,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Permission to run. Ends when dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    queue: Arc<Queue>,
    writing: bool,
}

impl Queue {
    /// Calls `go` when it is the operation's turn: now, or on the thread that ends the last operation before it. `go`
    /// must not do the work itself.
    pub(crate) fn enter(self: &Arc<Self>, writing: bool, go: impl FnOnce(Pass) + Send + 'static) {
        self.change(|state| state.waiting.push_back((writing, Box::new(go))));
    }

    fn change(self: &Arc<Self>, change: impl FnOnce(&mut State)) {
        let mut granted = Vec::new();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut state);
            while let Some(&(writing, _)) = state.waiting.front() {
                let room = if writing { state.reading == 0 } else { state.reading < AT_ONCE };
                if state.writing || !room {
                    break;
                }
                if writing {
                    state.writing = true;
                } else {
                    state.reading += 1;
                }
                granted.extend(state.waiting.pop_front());
            }
        }
        for (writing, go) in granted {
            go(Pass { queue: self.clone(), writing });
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let writing = self.writing;
        self.queue.change(|state| {
            if writing {
                state.writing = false;
            } else {
                state.reading -= 1;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_run_together_and_writes_alone_in_their_order() {
        let queue = Arc::new(Queue::default());
        let running: Arc<Mutex<Vec<(usize, Pass)>>> = Arc::default();
        let numbers = || running.lock().unwrap().iter().map(|(number, _)| *number).collect::<Vec<_>>();
        for (number, writing) in [false, false, true, false, true, true].into_iter().enumerate() {
            let running = running.clone();
            queue.enter(writing, move |pass| running.lock().unwrap().push((number, pass)));
        }
        let end = |at: usize| {
            let pass = running.lock().unwrap().remove(at);
            drop(pass);
        };
        assert_eq!(numbers(), [0, 1]);
        end(0);
        assert_eq!(numbers(), [1]);
        for last in [[2], [3], [4], [5]] {
            end(0);
            assert_eq!(numbers(), last);
        }
        end(0);
        for number in 0..9 {
            let running = running.clone();
            queue.enter(false, move |pass| running.lock().unwrap().push((number, pass)));
        }
        assert_eq!(numbers(), [0, 1, 2, 3]);
        end(1);
        assert_eq!(numbers(), [0, 2, 3, 4]);
    }
}
