//! What an agent prints to standard error: passed on line by line, with the last lines kept.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Lines that are kept, and bytes of each.
const LINES: usize = 20;
const KEPT: usize = 1024;
/// Bytes of a line at most; what is longer comes in several.
const LINE: u64 = 64 * 1024;

/// Is called with each line.
pub(crate) type Hook = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Said {
    lines: Arc<Mutex<VecDeque<String>>>,
    hearing: JoinHandle<()>,
}

impl Said {
    /// Hears it, on a task that ends with it.
    pub(crate) fn hear(stderr: ChildStderr, hook: Option<Hook>) -> Self {
        let lines = Arc::default();
        Said { hearing: tokio::spawn(hear(stderr, hook, Arc::clone(&lines))), lines }
    }

    /// The last lines, when there are no more, or so much time has passed: others may hold the pipe.
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
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(LINE).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            _ => return,
        }
        if hook.is_none() {
            // As it would be if the agent had this process's standard error.
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
