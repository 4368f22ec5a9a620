//! W7 and W8 on libacp: both ends of a conversation in one process and one thread, over sockets of the system's.
//!
//! `floor` is the same without it.
#![forbid(unsafe_code)]

mod floor;

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use libacp::aio::{Agent, Client, Failure, Turn};
use libacp::schema::v1::{ReadTextFileRequest, ReadTextFileResponse};
use libacp_bench_measure::{none, Inputs, Pass, Work};
use libacp_tokio::http::{connect, serve, AgentService, ServerOptions, Target};
use tokio::net::TcpListener;

const CHUNKS: usize = 20_000;
const FILES: usize = 2_000;

const WORKS: &[Work] = &[
    ("none", none),
    ("w7-http", |inputs| chunks(inputs, Way::Http)),
    ("w7-http2", |inputs| chunks(inputs, Way::Http2)),
    ("w7-ws", |inputs| chunks(inputs, Way::WebSocket)),
    ("w8-http", |inputs| files(inputs, Way::Http)),
    ("w8-http2", |inputs| files(inputs, Way::Http2)),
    ("w8-ws", |inputs| files(inputs, Way::WebSocket)),
    ("w7-http-floor", floor::chunks_http),
    ("w7-ws-floor", floor::chunks_ws),
    ("w8-http-floor", floor::files_http),
    ("w8-ws-floor", floor::files_ws),
];

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Http,
    Http2,
    WebSocket,
}

/// What the agent does in its turn.
#[derive(Clone)]
enum Job {
    /// Says this.
    Chunks(String),
    /// Reads files, which have this text.
    Files(String),
}

fn main() {
    libacp_bench_measure::main(WORKS);
}

/// W7.
fn chunks(inputs: &Inputs, way: Way) -> Pass {
    turn(way, Job::Chunks(inputs.text("chunk.txt")))
}

/// W8.
fn files(inputs: &Inputs, way: Way) -> Pass {
    turn(way, Job::Files(inputs.text("file.txt")))
}

impl Job {
    /// How many messages that is, and how many bytes of text in updates.
    fn size(&self) -> (usize, usize) {
        match self {
            Job::Chunks(text) => (CHUNKS, CHUNKS * text.len()),
            Job::Files(_) => (FILES, 0),
        }
    }

    async fn work(&self, turn: &Turn) -> Result<(), Failure> {
        match self {
            Job::Chunks(text) => {
                for _ in 0..CHUNKS {
                    turn.message(text.as_str()).await?;
                }
            }
            Job::Files(text) => {
                for _ in 0..FILES {
                    let read = turn.read_text_file("/work/main.rs").await?;
                    assert_eq!(read.len(), text.len());
                }
            }
        }
        Ok(())
    }
}

/// Runs it as a task, as tokio advises: what wakes a runtime's first future does so through the kernel.
fn run(work: impl Future<Output = Pass> + Send + 'static) -> Pass {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::spawn(work).await.expect("a pass") })
}

/// Does a turn of the agent's, from the prompt to its end.
fn turn(way: Way, job: Job) -> Pass {
    run(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let service = service(job.clone());
        tokio::spawn(serve(listener, service.clone()));
        let pass = ask(way, &address.to_string(), job).await.expect("a turn");
        service.close().await;
        pass
    })
}

fn service(job: Job) -> AgentService {
    let job = Arc::new(job);
    AgentService::new(ServerOptions::default(), move |pipe| {
        let job = Arc::clone(&job);
        async move {
            let answer = {
                let job = Arc::clone(&job);
                move |turn: Turn| {
                    let job = Arc::clone(&job);
                    async move { job.work(&turn).await }
                }
            };
            Agent::new("bench", "1").prompt(answer).serve(pipe).await
        }
    })
}

async fn ask(way: Way, address: &str, job: Job) -> Result<Pass, Failure> {
    let (count, bytes) = job.size();
    let scheme = if way == Way::WebSocket { "ws" } else { "http" };
    let Target::Remote(remote) = connect(&format!("{scheme}://{address}/acp"))? else { panic!("an address") };
    let remote = if way == Way::Http2 { remote.http2() } else { *remote };
    let file = if let Job::Files(text) = job { text } else { String::new() };
    let client = Client::new("bench", "1").on::<fn(ReadTextFileRequest), _>(move |_| {
        // Each answer has a text of its own, as a client's has that reads files.
        std::future::ready(Ok(ReadTextFileResponse::new(file.clone()).into()))
    });
    remote
        .run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            let begun = Instant::now();
            let mut turn = session.prompt("Go");
            let mut seen = 0;
            while let Some(update) = turn.update().await? {
                seen += update.text().map_or(0, str::len);
            }
            let spent = begun.elapsed();
            assert_eq!(seen, bytes);
            Ok((spent, count))
        })
        .await
}
