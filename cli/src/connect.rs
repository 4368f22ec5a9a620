//! `acp connect`: a remote agent on the standard streams.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libacp::framing::{Decoder, Framing, Item};
use libacp::http::{close_reason, Action, ClosedWhy, Lost};
use libacp::{json, Id};
use libacp_tokio::http::{Ended, Remote, RemotePipe};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::exit::Failure;
use crate::log::say;
use crate::options::Connect;
use crate::serve::{signal, token};

/// Bytes of one line of the client.
const LINE: usize = 64 << 20;
/// The size of a read.
const READ: usize = 64 * 1024;
/// How long a client that says no more may wait for answers.
const LAST: Duration = Duration::from_secs(2);

/// Calls of the client that have no answer.
#[derive(Default)]
struct Open {
    calls: RefCell<BTreeSet<Id>>,
    changed: Notify,
}

impl Open {
    fn sent(&self, json: &str) {
        if json::pointer(json, "/method").is_some() {
            self.calls.borrow_mut().extend(json::pointer(json, "/id").and_then(Id::from_json));
        }
    }

    /// The call that a message answers.
    fn answers(json: &str) -> Option<Id> {
        let id = json::pointer(json, "/id").and_then(Id::from_json);
        id.filter(|_| json::pointer(json, "/method").is_none())
    }

    fn told(&self, answered: Option<Id>) {
        if answered.is_some_and(|id| self.calls.borrow_mut().remove(&id)) {
            self.changed.notify_one();
        }
    }

    async fn answered(&self) {
        while !self.calls.borrow().is_empty() {
            self.changed.notified().await;
        }
    }
}

pub(crate) async fn run(options: Connect) -> Result<(), Failure> {
    let pipe = remote(&options)?.open().map_err(|problem| Failure::Usage(problem.to_string()))?;
    let open = Open::default();
    let input = async {
        up(&pipe, &open).await;
        // Who writes everything at once wants to read the answers.
        drop(timeout(LAST, open.answered()).await);
    };
    let result = tokio::select! {
        result = down(&pipe, &open) => result,
        () = input => Ok(()),
        number = signal() => Err(Failure::Signal(number)),
    };
    pipe.close().await;
    result
}

fn remote(options: &Connect) -> Result<Remote, Failure> {
    let mut remote = Remote::new(&options.url).map_err(|problem| Failure::Usage(problem.to_string()))?;
    for header in &options.header {
        let (name, value) = header.split_once(':').ok_or_else(|| Failure::Usage("a header has no colon".into()))?;
        remote = remote.header(name.trim(), value.trim());
    }
    if let Some(file) = options.token.clone() {
        let first = token(&file)?;
        remote = remote.token(&first);
        let last = Arc::new(Mutex::new(first));
        remote = remote.renew(move |_, _| {
            let (file, last) = (file.clone(), Arc::clone(&last));
            async move {
                // Whoever writes the file may be about to.
                tokio::time::sleep(Duration::from_secs(1)).await;
                let next = token(&file).ok()?;
                let last = std::mem::replace(&mut *last.lock().unwrap_or_else(PoisonError::into_inner), next.clone());
                (next != last).then(|| format!("Bearer {next}"))
            }
        });
    }
    if options.http2 {
        remote = remote.http2();
    }
    let (give_up, resumable) = (options.give_up.saturating_mul(1000), options.resumable);
    let remote = remote.options(|it| (it.times.give_up, it.resumable) = (give_up, resumable));
    Ok(remote.first(Duration::from_secs(options.first)).on_event(tell))
}

/// Passes on what the agent says.
async fn down(pipe: &RemotePipe, open: &Open) -> Result<(), Failure> {
    let mut output = tokio::io::stdout();
    loop {
        let message = match pipe.receive().await {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(()),
            Err(problem) => return Err(ended(pipe.ended(), &problem)),
        };
        let answer = Open::answers(&message);
        let mut line = message.into_bytes();
        line.iter_mut().filter(|byte| matches!(**byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            // Nobody listens any more.
            return Ok(());
        }
        open.told(answer);
    }
}

/// Passes on what the editor says. Ends with the input.
async fn up(pipe: &RemotePipe, open: &Open) {
    let (mut input, mut buffer) = (tokio::io::stdin(), vec![0; READ]);
    let mut decoder = Decoder::new(Framing::Lines, LINE);
    loop {
        match input.read(&mut buffer).await {
            Ok(count) if count > 0 => decoder.push(&buffer[..count]),
            _ => return,
        }
        while let Some(item) = decoder.poll() {
            match item {
                Item::Frame(frame) => match std::str::from_utf8(&frame) {
                    Ok(json) => {
                        open.sent(json);
                        if pipe.send(json).await.is_err() {
                            return std::future::pending().await;
                        }
                    }
                    Err(_) => dropped(pipe, "is not UTF-8").await,
                },
                Item::TooLong { .. } => dropped(pipe, "is over the limit").await,
                _ => {}
            }
        }
    }
}

/// Says why a line of the client is dropped, and lets the client have the error for what is no message.
async fn dropped(pipe: &RemotePipe, why: &str) {
    say(format_args!("a line of the client {why} and was dropped"));
    drop(pipe.send("").await);
}

fn ended(ended: Option<Ended>, problem: &io::Error) -> Failure {
    let Some(ended) = ended else { return Failure::Unreachable(problem.to_string()) };
    let text = ended.to_string();
    match ended.why {
        ClosedWhy::Refused { status: 401 | 403 } => Failure::Refused(text),
        ClosedWhy::Refused { .. } | ClosedWhy::NotServed { .. } | ClosedWhy::NotInitialized | ClosedWhy::Protocol => {
            Failure::NoAgent(text)
        }
        _ => Failure::Unreachable(text),
    }
}

/// A call may be lost alone, when its request broke, or with a session, or with the connection.
fn tell_lost(lost: &Lost) {
    if let Some(code) = lost.code {
        say(format_args!("the server closed the WebSocket: {} ({code})", close_reason(code)));
    }
    match (lost.calls.len(), lost.sessions.len()) {
        (0, 0) => say(format_args!("the connection was lost")),
        (calls, 0) => say(format_args!("calls without an answer, whose outcome is unknown: {calls}")),
        (0, sessions) => say(format_args!("sessions that are opened again: {sessions}")),
        (calls, sessions) => say(format_args!(
            "calls without an answer, whose outcome is unknown: {calls}; sessions that are opened again: {sessions}"
        )),
    }
}

fn tell(event: &Action) {
    match event {
        Action::Connected { .. } => say(format_args!("connected")),
        Action::Lost(lost) => tell_lost(lost),
        Action::Retrying { .. } => say(format_args!("connecting")),
        Action::Attached { .. } => say(format_args!("a session is open again")),
        Action::Detached { .. } => say(format_args!("a session cannot be opened again")),
        Action::Gap { .. } => say(format_args!("a stream broke; messages may be missing")),
        Action::Silent(silence) => say(format_args!("{} seconds: {}", silence.waited / 1000, silence.message)),
        Action::Unauthorized { status, .. } => say(format_args!("the server wants other credentials ({status})")),
        Action::Refused { status, message: None, .. } => say(format_args!("the server refused a message ({status})")),
        Action::Refused { status, message: Some(message), .. } => {
            say(format_args!("the server refused a message ({status}): {}", libacp::printable(message)));
        }
        Action::Violation(report) => say(format_args!("{}: {}", report.rule, report.message)),
        _ => {}
    }
}
