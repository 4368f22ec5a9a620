//! The workloads on the official Rust SDK, and on its message types alone. Read `turns.rs` next.
#![forbid(unsafe_code)]

mod turns;

use std::future::poll_fn;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};

use agent_client_protocol::v1::schema::SessionNotification;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{
    Agent, ByteStreams, Client, JsonRpcMessage, RawJsonRpcMessage, RawJsonRpcParams, TransportFrame,
};
use futures::executor::{block_on, LocalPool};
use futures::task::{AtomicWaker, LocalSpawnExt};
use futures::{AsyncRead, AsyncWriteExt};
use libacp_bench_measure::{none, timed, Inputs, Pass, Work, PIECE};
use serde::Deserialize;

/// Connections of W5, and its simulated seconds.
const CONNECTIONS: usize = 10_000;
const SECONDS: usize = 10;

const WORKS: &[Work] = &[
    ("none", none),
    ("w1", turns::chunks),
    ("w2", turns::diffs),
    ("w3", turns::files),
    ("w4-small", |inputs| decode(inputs.bytes("small.jsonl"), PIECE)),
    ("w4-mix", |inputs| decode(inputs.bytes("mix.jsonl"), PIECE)),
    ("w4-small-alone", |inputs| alone(&inputs.bytes("small.jsonl"))),
    ("w4-mix-alone", |inputs| alone(&inputs.bytes("mix.jsonl"))),
    ("w4-small-schema", |inputs| structs(&inputs.bytes("small.jsonl"))),
    ("w4-mix-schema", |inputs| structs(&inputs.bytes("mix.jsonl"))),
    ("w5", many),
    ("w6-whole", |inputs| decode(inputs.bytes("big.jsonl"), usize::MAX)),
    ("w6-4096", |inputs| decode(inputs.bytes("big.jsonl"), 4096)),
    ("w6-100", |inputs| decode(inputs.bytes("big.jsonl"), 100)),
    ("w6-1", |inputs| decode(inputs.bytes("big.jsonl"), 1)),
];

fn main() {
    libacp_bench_measure::main(WORKS);
}

/// Bytes that are there, in pieces of at most some size; then nothing more comes.
struct Source {
    bytes: Vec<u8>,
    at: usize,
    piece: usize,
}

impl AsyncRead for Source {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let rest = &self.bytes[self.at..];
        let count = rest.len().min(buffer.len()).min(self.piece);
        if count == 0 {
            return Poll::Pending;
        }
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Poll::Ready(Ok(count))
    }
}

/// How many updates have come, and at how many a connection may end.
struct Seen {
    count: AtomicUsize,
    goal: usize,
    waker: AtomicWaker,
}

impl Seen {
    fn new(goal: usize) -> Arc<Self> {
        Arc::new(Seen { count: AtomicUsize::new(0), goal, waker: AtomicWaker::new() })
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn add(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == self.goal {
            self.waker.wake();
        }
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        self.waker.register(context.waker());
        if self.count() == self.goal {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// A client of the SDK that takes updates until there are enough.
async fn client(input: impl AsyncRead + Send + 'static, seen: Arc<Seen>) {
    let counted = seen.clone();
    Client
        .v1()
        .on_receive_notification(
            async move |update: SessionNotification, _cx| {
                black_box(update);
                counted.add();
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(ByteStreams::new(futures::io::sink(), input), async |_: ConnectionTo<Agent>| {
            poll_fn(|context| seen.poll(context)).await;
            Ok(())
        })
        .await
        .expect("a connection");
}

fn decode(bytes: Vec<u8>, piece: usize) -> Pass {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    let source = Source { bytes, at: 0, piece };
    let seen = Seen::new(lines);
    timed(|| {
        block_on(client(source, seen.clone()));
        seen.count()
    })
}

/// The SDK's way from a line to a message with its type, without its connection.
fn alone(bytes: &[u8]) -> Pass {
    let lines: Vec<&str> = std::str::from_utf8(bytes).expect("text").lines().collect();
    timed(|| {
        for line in &lines {
            let TransportFrame::Single(RawJsonRpcMessage::Notification(message)) = TransportFrame::parse_json(line)
            else {
                panic!("{line}")
            };
            let Some(RawJsonRpcParams::Object(params)) = message.params else { panic!("{line}") };
            let params = params.into();
            black_box(SessionNotification::parse_message(&message.method, &params).expect("an update"));
        }
        lines.len()
    })
}

/// A notification as text is read into the official types, without anything around.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    method: String,
    params: SessionNotification,
}

fn structs(bytes: &[u8]) -> Pass {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    timed(|| {
        for line in &lines {
            let Envelope { jsonrpc, method, params } = serde_json::from_slice(line).expect("an update");
            black_box((jsonrpc, method, params));
        }
        lines.len()
    })
}

fn many(inputs: &Inputs) -> Pass {
    let mut pool = LocalPool::new();
    let seen = Seen::new(usize::MAX);
    let mut writers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (reader, writer) = piper::pipe(1024);
        pool.spawner().spawn_local(client(reader, seen.clone())).expect("a task");
        writers.push(writer);
    }
    pool.run_until_stalled();
    let lines = inputs.bytes("small.jsonl");
    let mut lines = lines.split_inclusive(|byte| *byte == b'\n');
    timed(|| {
        for second in 1..=SECONDS {
            let line = lines.next().expect("a line for each second");
            for writer in &mut writers {
                block_on(writer.write_all(line)).expect("a pipe");
            }
            pool.run_until_stalled();
            assert_eq!(seen.count(), second * CONNECTIONS);
        }
        seen.count()
    })
}
