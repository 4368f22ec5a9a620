//! A command that runs for an agent: a process, and its output.

use std::io;
use std::process::{ChildStdout, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libacp::schema::v1;
use tokio::io::AsyncReadExt;
use tokio::sync::{watch, Notify, OwnedSemaphorePermit};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::output::Output;
use crate::process::{signal_name, Exit, Help, Orphaned, Process};

const READ: usize = 64 * 1024;
/// How long to wait for more output after a command has ended, because its children may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long a command may take to end after it was killed.
const END: Duration = Duration::from_secs(2);

/// Called with output as it is printed.
pub(crate) type Hear = Box<dyn Fn(&str) + Send>;

pub(crate) struct Command {
    id: String,
    process: Arc<Process>,
    output: Arc<Mutex<Output>>,
    exit: watch::Receiver<Option<Exit>>,
    given_up: Arc<Notify>,
    reading: AbortHandle,
    place: Arc<Place>,
}

/// The command's share of the limit, until it is given back.
type Place = Mutex<Option<OwnedSemaphorePermit>>;

impl Command {
    /// Starts a command and keeps the end of its output. It counts towards the limit (`place`) until it has ended and
    /// was released.
    pub(crate) fn start(
        id: String,
        command: &mut std::process::Command,
        output: Output,
        hear: Option<Hear>,
        place: OwnedSemaphorePermit,
    ) -> io::Result<Arc<Self>> {
        let (ours, theirs) = os_pipe::pipe()?;
        command.stdin(Stdio::null()).stderr(theirs.try_clone()?).stdout(theirs);
        let started = Process::start(command, true, Orphaned::Ends);
        // Only the command may hold the other end of the pipe, or its end would not be seen.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = Arc::new(started?.0);
        let output = Arc::new(Mutex::new(output));
        let printed = tokio::process::ChildStdout::from_std(pipe(ours))?;
        let reading = tokio::spawn(read(printed, Arc::clone(&output), hear));
        let abort = reading.abort_handle();
        let (say, exit) = watch::channel(None);
        let (given_up, place) = (Arc::new(Notify::new()), Arc::new(Mutex::new(Some(place))));
        tokio::spawn({
            let (process, given_up, place) = (Arc::clone(&process), Arc::clone(&given_up), Arc::clone(&place));
            async move {
                let ended = process.exited().await;
                drop(timeout(LAST_WORDS, reading).await);
                say.send_replace(Some(ended));
                given_up.notified().await;
                process.let_go();
                give_back(&place);
            }
        });
        Ok(Arc::new(Command { id, process, output, exit, given_up, reading: abort, place }))
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The output so far, and how the command ended if it has.
    pub(crate) fn output(&self) -> v1::TerminalOutputResponse<'static> {
        let status = *self.exit.borrow();
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, truncated) = output.shown();
        let mut answer = v1::TerminalOutputResponse::new(text.to_owned(), truncated);
        answer.exit_status = status.map(|exit| {
            let (code, signal) = parts(exit);
            let mut status = v1::TerminalExitStatus::default();
            (status.exit_code, status.signal) = (code, signal.map(Into::into));
            status
        });
        answer
    }

    /// Waits until the command has ended.
    pub(crate) async fn wait(&self) -> v1::WaitForTerminalExitResponse<'static> {
        let mut exit = self.exit.clone();
        let exit = exit.wait_for(Option::is_some).await.ok().and_then(|exit| *exit);
        let (code, signal) = parts(exit.unwrap_or(Exit::Unknown));
        let mut answer = v1::WaitForTerminalExitResponse::default();
        (answer.exit_code, answer.signal) = (code, signal.map(Into::into));
        answer
    }

    /// Kills the command, and the processes that stayed in its group.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.process.signal(Help::Kill)
    }

    /// Kills the command and waits for its end, for at most [`END`]. Returns whether it has ended.
    pub(crate) async fn killed(&self) -> bool {
        self.kill().is_ok() && timeout(END, self.process.exited()).await.is_ok() || self.process.exit().is_some()
    }

    /// Kills the command, and releases its process id once it has ended.
    pub(crate) fn end(&self) {
        // A command that this process may not kill counts until it ends.
        drop(self.kill());
        self.reading.abort();
        self.given_up.notify_one();
        if self.process.exit().is_some() {
            // At once, because the agent may start another one right after the release.
            give_back(&self.place);
        }
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.end();
    }
}

fn give_back(place: &Place) {
    drop(place.lock().unwrap_or_else(PoisonError::into_inner).take());
}

#[cfg(unix)]
fn pipe(ours: os_pipe::PipeReader) -> ChildStdout {
    std::os::fd::OwnedFd::from(ours).into()
}

#[cfg(windows)]
fn pipe(ours: os_pipe::PipeReader) -> ChildStdout {
    std::os::windows::io::OwnedHandle::from(ours).into()
}

fn parts(exit: Exit) -> (Option<u32>, Option<String>) {
    match exit {
        Exit::Code(code) => (Some(u32::from_ne_bytes(code.to_ne_bytes())), None),
        Exit::Signal(signal) => (None, Some(signal_name(signal))),
        Exit::Unknown => (None, None),
    }
}

async fn read(mut printed: tokio::process::ChildStdout, output: Arc<Mutex<Output>>, hear: Option<Hear>) {
    let mut buffer = vec![0; READ];
    loop {
        let count = printed.read(&mut buffer).await.unwrap_or(0);
        let new = {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            if count > 0 {
                output.add(&buffer[..count])
            } else {
                output.finish()
            }
        };
        if let Some(hear) = hear.as_ref().filter(|_| !new.is_empty()) {
            hear(&new);
        }
        if count == 0 {
            return;
        }
    }
}
