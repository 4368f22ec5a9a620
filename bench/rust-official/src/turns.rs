//! W1, W2 and W3: both ends of a conversation in one process, on one thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Diff, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, ReadTextFileRequest, ReadTextFileResponse, SessionNotification, SessionUpdate,
    StopReason, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{
    on_receive_notification, on_receive_request, Agent, ByteStreams, Client, ConnectTo, Error,
};
use futures::executor::block_on;
use futures::future::{select, Either};
use libacp_bench_measure::{Inputs, Pass};

const CHUNKS: usize = 20_000;
const DIFFS: usize = 2_000;
const FILES: usize = 5_000;
const SESSION: &str = "s-0";
/// Bytes of a pipe, as much as one of the system's holds.
const PIPE: usize = 64 * 1024;

/// What the agent does in its turn.
#[derive(Clone)]
enum Job {
    /// Says this.
    Chunks(String),
    /// Reports a change from the first text to the second.
    Diffs(String, String),
    /// Reads files, which have this text.
    Files(String),
}

/// W1.
pub(crate) fn chunks(inputs: &Inputs) -> Pass {
    turn(Job::Chunks(inputs.text("chunk.txt")))
}

/// W2.
pub(crate) fn diffs(inputs: &Inputs) -> Pass {
    turn(Job::Diffs(inputs.text("old.txt"), inputs.text("new.txt")))
}

/// W3.
pub(crate) fn files(inputs: &Inputs) -> Pass {
    turn(Job::Files(inputs.text("file.txt")))
}

impl Job {
    /// How many messages that is, and how many bytes of text in updates.
    fn size(&self) -> (usize, usize) {
        match self {
            Job::Chunks(text) => (CHUNKS, CHUNKS * text.len()),
            Job::Diffs(_, new) => (DIFFS, DIFFS * new.len()),
            Job::Files(_) => (FILES, 0),
        }
    }

    async fn work(&self, client: &ConnectionTo<Client>) -> Result<(), Error> {
        match self {
            Job::Chunks(text) => {
                for _ in 0..CHUNKS {
                    let content = ContentBlock::Text(TextContent::new(text.as_str()));
                    tell(client, SessionUpdate::AgentMessageChunk(ContentChunk::new(content))).await?;
                }
            }
            Job::Diffs(old, new) => {
                tell(client, SessionUpdate::ToolCall(ToolCall::new("call", "Edit"))).await?;
                for number in 1..=DIFFS {
                    let diff = Diff::new("/work/main.rs", new.as_str()).old_text(old.clone());
                    let status = (number == DIFFS).then_some(ToolCallStatus::Completed);
                    let fields = ToolCallUpdateFields::new().content(vec![ToolCallContent::Diff(diff)]).status(status);
                    tell(client, SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("call", fields))).await?;
                }
            }
            Job::Files(text) => {
                for _ in 0..FILES {
                    let request = ReadTextFileRequest::new(SESSION, "/work/main.rs");
                    let answer = client.send_request(request).block_task().await?;
                    assert_eq!(answer.content.len(), text.len());
                }
            }
        }
        Ok(())
    }
}

/// Sends an update, and lets others run: what an agent says comes piece by piece.
async fn tell(client: &ConnectionTo<Client>, update: SessionUpdate) -> Result<(), Error> {
    client.send_notification(SessionNotification::new(SESSION, update))?;
    let mut waited = false;
    futures::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    Ok(())
}

/// How many bytes of text an update brings.
fn size(update: &SessionUpdate) -> usize {
    match update {
        SessionUpdate::AgentMessageChunk(ContentChunk { content: ContentBlock::Text(text), .. }) => text.text.len(),
        SessionUpdate::ToolCallUpdate(update) => {
            let content = update.fields.content.as_deref().unwrap_or_default();
            let news = content.iter().map(|item| match item {
                ToolCallContent::Diff(diff) => diff.new_text.len(),
                _ => 0,
            });
            news.sum()
        }
        _ => 0,
    }
}

/// Does a turn of the agent's, from the prompt to its end.
fn turn(job: Job) -> Pass {
    let (agent_reads, client_writes) = piper::pipe(PIPE);
    let (client_reads, agent_writes) = piper::pipe(PIPE);
    let serving = Box::pin(serve(job.clone(), ByteStreams::new(agent_writes, agent_reads)));
    let asking = Box::pin(ask(job, ByteStreams::new(client_writes, client_reads)));
    match block_on(select(asking, serving)) {
        Either::Left((pass, _)) => pass.expect("a turn"),
        Either::Right((ended, _)) => panic!("the agent is gone: {ended:?}"),
    }
}

async fn serve(job: Job, transport: impl ConnectTo<Agent>) -> Result<(), Error> {
    Agent
        .v1()
        .on_receive_request(
            async move |hello: InitializeRequest, responder, _cx| {
                responder.respond(InitializeResponse::new(hello.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _cx| responder.respond(NewSessionResponse::new(SESSION)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: PromptRequest, responder, client: ConnectionTo<Client>| {
                let (job, peer) = (job.clone(), client.clone());
                // Beside the dispatching, which answers to the agent's own requests need.
                client.spawn(async move {
                    job.work(&peer).await?;
                    responder.respond(PromptResponse::new(StopReason::EndTurn))
                })
            },
            on_receive_request!(),
        )
        .connect_to(transport)
        .await
}

async fn ask(job: Job, transport: impl ConnectTo<Client>) -> Result<Pass, Error> {
    let (count, bytes) = job.size();
    let seen = Arc::new(AtomicUsize::new(0));
    let sum = seen.clone();
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _cx| {
                sum.fetch_add(size(&notification.update), Ordering::Relaxed);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |_: ReadTextFileRequest, responder, _cx| match &job {
                Job::Files(text) => responder.respond(ReadTextFileResponse::new(text.as_str())),
                _ => responder.respond_with_error(Error::method_not_found()),
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            agent.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            agent.send_request(NewSessionRequest::new("/work")).block_task().await?;
            let begun = Instant::now();
            let prompt = vec![ContentBlock::Text(TextContent::new("Go"))];
            agent.send_request(PromptRequest::new(SESSION, prompt)).block_task().await?;
            let spent = begun.elapsed();
            assert_eq!(seen.load(Ordering::Relaxed), bytes);
            Ok((spent, count))
        })
        .await
}
