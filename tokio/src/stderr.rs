//! The standard error of an agent: passed on line by line, with the last lines kept.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How many lines are kept, and how many characters of each.
const LINES: usize = 20;
const KEPT: usize = 1024;
/// The maximum length of a line in bytes; a longer one is passed on in parts.
const LINE: u64 = 64 * 1024;

/// Called with each line.
pub(crate) type Hook = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Said {
    lines: Arc<Mutex<VecDeque<String>>>,
    hearing: JoinHandle<()>,
}

impl Said {
    /// Starts a task that reads it to its end.
    pub(crate) fn hear(stderr: ChildStderr, hook: Option<Hook>) -> Self {
        let lines = Arc::default();
        Said { hearing: tokio::spawn(hear(stderr, hook, Arc::clone(&lines))), lines }
    }

    /// Waits for the end of the stream, at most for `limit` because other processes may keep the pipe open, and returns
    /// the last lines.
    pub(crate) async fn last(self, limit: Duration) -> Vec<String> {
        let Said { lines, mut hearing } = self;
        if timeout(limit, &mut hearing).await.is_err() {
            hearing.abort();
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.drain(..).collect()
    }
}

async fn hear(stderr: ChildStderr, hook: Option<Hook>, lines: Arc<Mutex<VecDeque<String>>>) {
    let mut stderr = BufReader::with_capacity(KEPT, stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LINE).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            _ => return,
        }
        if hook.is_none() {
            // Unchanged, as if the agent had inherited this process's standard error.
            drop(std::io::stderr().write_all(&line));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if let Some(hook) = &hook {
            hook(text);
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text.chars().take(KEPT).collect());
    }
}
