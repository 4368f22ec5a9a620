//! What the page has said and the agent has not read yet. A thread of its own writes it, since that may take for ever.

use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::socket::MESSAGE;

/// Bytes that may wait: a message that is being written and the next one, however long they are.
const WAITING: usize = 2 * MESSAGE;

/// Bytes on their way to an agent. It gets no more, and its input ends, when this is dropped.
pub(crate) struct Inbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// How many bytes the thread has taken and is writing.
    under_way: usize,
    ended: bool,
    /// The agent has closed its input.
    closed: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits, as soon as something does; nothing at the end.
    fn take(&self) -> Vec<u8> {
        let mut state = self.state();
        state.under_way = 0;
        while state.waiting.is_empty() && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.under_way = state.waiting.len();
        std::mem::take(&mut state.waiting)
    }
}

impl Inbox {
    /// Starts the thread that writes.
    pub(crate) fn open(mut input: ChildStdin) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let inbox = Self(Arc::clone(&shared));
        thread::Builder::new().spawn(move || loop {
            let bytes = shared.take();
            if bytes.is_empty() {
                return;
            }
            if input.write_all(&bytes).is_err() {
                shared.state().closed = true;
                return;
            }
        })?;
        Ok(inbox)
    }

    /// Puts a line behind what waits.
    pub(crate) fn put(&self, line: &[u8]) -> Result<(), String> {
        let mut state = self.0.state();
        if state.closed {
            return Err("the agent is ended: it has closed its input".to_owned());
        }
        if state.waiting.len() + state.under_way + line.len() > WAITING {
            return Err(format!("the agent is ended: it left more than {} MiB unread", WAITING >> 20));
        }
        state.waiting.extend_from_slice(line);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_one();
    }
}
