//! Pipes in memory that hold little, and a peer that is written by hand on one end of them.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::channel::oneshot;
use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use serde_json::{json, Value};

/// Lets everybody else run once.
pub(crate) async fn pass() {
    let mut polled = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut polled, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// For the clock of a transport: resolves after this time.
pub(crate) fn sleep(time: Duration) -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        drop(tell);
    });
    told
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    room: usize,
    closed: bool,
    /// Bytes that have been read from it.
    read: usize,
    wakers: Vec<Waker>,
}

/// One direction.
#[derive(Clone)]
pub(crate) struct Pipe(Arc<Mutex<State>>);

impl Pipe {
    pub(crate) fn new(room: usize) -> Self {
        Pipe(Arc::new(Mutex::new(State { room, ..State::default() })))
    }

    /// Bytes that have been read from it.
    pub(crate) fn taken(&self) -> usize {
        self.0.lock().unwrap().read
    }

    fn change<R>(&self, cx: &Context<'_>, change: impl FnOnce(&mut State) -> Poll<R>) -> Poll<R> {
        let mut state = self.0.lock().unwrap();
        let result = change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        if result.is_pending() {
            state.wakers = wakers;
            state.wakers.push(cx.waker().clone());
            return result;
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        result
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.change(cx, |state| {
            if state.bytes.is_empty() && !state.closed {
                return Poll::Pending;
            }
            let count = buffer.len().min(state.bytes.len());
            for (place, byte) in buffer.iter_mut().zip(state.bytes.drain(..count)) {
                *place = byte;
            }
            state.read += count;
            Poll::Ready(Ok(count))
        })
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.change(cx, |state| {
            if state.closed {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let count = bytes.len().min(state.room - state.bytes.len());
            state.bytes.extend(&bytes[..count]);
            if count == 0 {
                return Poll::Pending;
            }
            Poll::Ready(Ok(count))
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.change(cx, |state| {
            state.closed = true;
            Poll::Ready(Ok(()))
        })
    }
}

/// A peer that says what the test says, and says what it hears.
pub(crate) struct ByHand {
    input: Pipe,
    output: Pipe,
    heard: Vec<u8>,
}

impl ByHand {
    /// With the pipes from the other side and to it.
    pub(crate) fn new(input: &Pipe, output: &Pipe) -> Self {
        ByHand { input: input.clone(), output: output.clone(), heard: Vec::new() }
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The next message; null at the end.
    pub(crate) async fn hear(&mut self) -> Value {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return serde_json::from_slice(&line).unwrap();
            }
            let mut buffer = [0; 512];
            match self.input.read(&mut buffer).await.unwrap() {
                0 => return Value::Null,
                count => self.heard.extend(&buffer[..count]),
            }
        }
    }

    /// Hears no more.
    pub(crate) async fn turn_away(&mut self) {
        self.input.close().await.unwrap();
    }

    pub(crate) async fn close(&mut self) {
        self.output.close().await.unwrap();
    }

    /// As a client: a connection with one session for each of these ids, which the agent has to be made to give.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub(crate) async fn tell(&mut self, method: &str, params: Value) {
        self.say(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// As a client: opens the connection and one session, whose id it returns.
    pub(crate) async fn open(&mut self, capabilities: Value) -> String {
        self.ask(900, "initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities})).await;
        assert_eq!(self.hear().await["result"]["protocolVersion"], 1);
        self.ask(901, "session/new", json!({"cwd": "/work", "mcpServers": []})).await;
        let answer = self.hear().await;
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// As an agent: answers `initialize`, and `session/new` with the session `s`.
    pub(crate) async fn welcome(&mut self, capabilities: Value) {
        let hello = self.hear().await;
        assert_eq!(hello["method"], "initialize");
        self.answer(&hello, json!({"protocolVersion": 1, "agentCapabilities": capabilities})).await;
        let new = self.hear().await;
        assert_eq!(new["method"], "session/new");
        self.answer(&new, json!({"sessionId": "s"})).await;
    }

    /// As a client: a prompt of one word.
    pub(crate) async fn prompt(&mut self, id: u64, session: &str, text: &str) {
        self.ask(id, "session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})).await;
    }
}
