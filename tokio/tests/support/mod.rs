//! Agents that write their own lines, and processes that are found by a mark.
#![allow(dead_code, reason = "each test uses some of it")]

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libacp::aio::{AgentPeer, Client, ClientSession, Failure, Handlers};
use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// More than anything here takes, and less than anybody wants to wait.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Less than the grace that an agent is given, and more than a busy machine needs.
pub(crate) const SOON: Duration = Duration::from_secs(4);

/// A number of seconds that no other test sleeps for.
pub(crate) fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{}.{:07}", 4000 + NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// The processes that have a mark among their arguments, and run.
pub(crate) fn alive(mark: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| runs(*number) && arguments(*number).iter().any(|argument| argument == mark)).collect()
}

/// Whether a process runs.
pub(crate) fn runs(number: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/status"));
    status.is_ok_and(|status| !status.contains("\nState:\tZ"))
}

fn arguments(number: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).split('\0').map(str::to_owned).collect()
}

/// Waits until something is so.
pub(crate) async fn until(mut what: impl FnMut() -> bool) {
    within(LIMIT, &mut what).await;
    assert!(what(), "it did not come to this");
}

/// Waits for it, but not longer.
pub(crate) async fn within(limit: Duration, mut what: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !what() && begun.elapsed() < limit {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What of the marked runs still after some time.
pub(crate) async fn left(mark: &str, limit: Duration) -> Vec<u32> {
    let begun = Instant::now();
    loop {
        // What is to end them runs beside this.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let alive = alive(mark);
        if alive.is_empty() || begun.elapsed() > limit {
            return alive;
        }
    }
}

/// One of this package's examples.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples").join(name)
}

/// A folder that is removed with what is in it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = std::env::temp_dir().canonicalize().unwrap().join(format!("libacp-tokio-{}", mark()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    /// A path in it, as it goes over the wire.
    pub(crate) fn at(&self, path: &str) -> String {
        self.0.join(path).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// An agent without any library.
pub(crate) struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: Option<WriteHalf<DuplexStream>>,
    next: u64,
}

impl Raw {
    /// Writes messages, all at once.
    pub(crate) async fn send(&mut self, messages: impl IntoIterator<Item = Value>) {
        let lines = messages.into_iter().map(|mut message| {
            message["jsonrpc"] = json!("2.0");
            format!("{message}\n")
        });
        let text: String = lines.collect();
        self.writer.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await.expect("a message in time");
        serde_json::from_str(&line.unwrap().expect("another message")).unwrap()
    }

    /// The id of the client's next request of a method.
    pub(crate) async fn until(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message["id"].clone();
            }
        }
    }

    pub(crate) async fn answer(&mut self, method: &str, result: Value) {
        let id = self.until(method).await;
        self.send([json!({"id": id, "result": result})]).await;
    }

    /// The client's answers to so many requests, by their ids.
    pub(crate) async fn answers<const N: usize>(&mut self, ids: [&str; N]) -> [Value; N] {
        let mut found = HashMap::new();
        while found.len() < N {
            let message = self.next().await;
            if let Some(id) = message["id"].as_str().filter(|_| message.get("method").is_none()) {
                assert!(ids.contains(&id) && found.insert(id.to_owned(), message.clone()).is_none(), "{message}");
            }
        }
        ids.map(|id| found[id].clone())
    }

    /// Asks for one thing, and waits for the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = format!("ask-{}", self.next);
        self.send([json!({"id": id, "method": method, "params": params})]).await;
        let [answer] = self.answers([id.as_str()]).await;
        answer
    }

    /// Says no more.
    pub(crate) async fn close(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.unwrap();
        }
    }
}

/// A client and an agent that writes its own lines, until the work is done.
pub(crate) async fn talk<H: Handlers, R>(
    client: &Client<H>,
    work: impl AsyncFnOnce(AgentPeer, &mut Raw) -> Result<R, Failure>,
) -> R {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let mut raw = Raw { lines: BufReader::new(reader).lines(), writer: Some(writer), next: 0 };
    let (input, output) = tokio::io::split(ours);
    let can =
        json!({"loadSession": true, "sessionCapabilities": {"close": {}, "resume": {}, "additionalDirectories": {}}});
    let hello = json!({"protocolVersion": 1, "agentCapabilities": can});
    // The work has the agent after its greeting.
    let (give, given) = tokio::sync::oneshot::channel();
    let running = libacp_tokio::run(client, libacp_tokio::streams(input, output), async |agent| {
        let mut raw: Raw = given.await?;
        work(agent, &mut raw).await
    });
    let greeting = async {
        raw.answer("initialize", hello).await;
        drop(give.send(raw));
    };
    let both = async { tokio::join!(running, greeting).0 };
    tokio::time::timeout(LIMIT, Box::pin(both)).await.expect("an end in time").unwrap()
}

/// A session.
pub(crate) async fn opened(agent: &AgentPeer, raw: &mut Raw, cwd: &str, id: &str) -> ClientSession {
    let (session, ()) = tokio::join!(agent.new_session(cwd), raw.answer("session/new", json!({"sessionId": id})));
    session.unwrap()
}

/// The request to run a command and a child in its group, both of which sleep.
pub(crate) fn create(id: &str, session: &str, mark: &str) -> Value {
    let script = format!("sleep {mark} & exec sleep {mark}");
    let params = json!({"sessionId": session, "command": "sh", "args": ["-c", script]});
    json!({"id": id, "method": "terminal/create", "params": params})
}

pub(crate) fn terminal(session: &str, id: &Value) -> Value {
    json!({"sessionId": session, "terminalId": id})
}
