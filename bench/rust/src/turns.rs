//! W1, W2 and W3: both ends of a conversation in one process, with the types of the protocol.

use libacp::schema::v1::{
    ContentBlock, ContentChunk, Diff, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, ProtocolVersion, ReadTextFileRequest, ReadTextFileResponse, SessionNotification,
    SessionUpdate, StopReason, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
};
use libacp::typed::{Agent, Client};
use libacp::{Connection, Event, Id};
use libacp_bench_measure::{timed, Inputs, Pass};

const CHUNKS: usize = 20_000;
const DIFFS: usize = 2_000;
const FILES: usize = 5_000;
const SESSION: &str = "s-0";

/// W1.
pub(crate) fn chunks(inputs: &Inputs) -> Pass {
    let text = inputs.text("chunk.txt");
    turn(|pair| {
        for _ in 0..CHUNKS {
            let content = ContentBlock::from(TextContent::new(text.as_str()));
            pair.tell(SessionUpdate::AgentMessageChunk(ContentChunk::new(content)));
        }
        assert_eq!(pair.seen, CHUNKS * text.len());
        CHUNKS
    })
}

/// W2.
pub(crate) fn diffs(inputs: &Inputs) -> Pass {
    let (old, new) = (inputs.text("old.txt"), inputs.text("new.txt"));
    turn(|pair| {
        pair.tell(SessionUpdate::ToolCall(ToolCall::new("call", "Edit")));
        for number in 1..=DIFFS {
            let mut diff = Diff::new("/work/main.rs", new.as_str());
            diff.old_text = Some(old.as_str().into());
            let mut update = ToolCallUpdate::new("call");
            update.content = Some(vec![ToolCallContent::Diff(diff)]);
            update.status = (number == DIFFS).then_some(ToolCallStatus::Completed);
            pair.tell(SessionUpdate::ToolCallUpdate(update));
        }
        assert_eq!(pair.seen, DIFFS * new.len());
        DIFFS
    })
}

/// W3.
pub(crate) fn files(inputs: &Inputs) -> Pass {
    let text = inputs.text("file.txt");
    turn(|pair| {
        for _ in 0..FILES {
            let asked = pair.agent.call(&ReadTextFileRequest::new(SESSION, "/work/main.rs")).expect("a question");
            carry(&mut pair.agent, &mut pair.client);
            let Some(Event::Request(request)) = pair.client.poll_event() else { panic!("no request") };
            let params: ReadTextFileRequest<'_> = request.params_as().expect("params");
            assert_eq!(&*params.path, "/work/main.rs");
            let answer = ReadTextFileResponse::new(text.as_str());
            pair.client.answer::<ReadTextFileRequest<'_>>(&request.id, &answer).expect("an answer");
            carry(&mut pair.client, &mut pair.agent);
            let Some(Event::Response(response)) = pair.agent.poll_event() else { panic!("no answer") };
            assert_eq!(asked.result(&response).expect("a result").content.len(), text.len());
        }
        FILES
    })
}

struct Pair {
    client: Client,
    agent: Agent,
    /// Bytes of text that have come to the client.
    seen: usize,
}

/// Does a turn of the agent's, from the prompt to its end.
fn turn(work: impl FnOnce(&mut Pair) -> usize) -> Pass {
    let mut pair = Pair { client: Client::default(), agent: Agent::default(), seen: 0 };
    let mut hello = InitializeRequest::new(ProtocolVersion(1));
    hello.client_capabilities.fs.read_text_file = true;
    pair.client.call(&hello).expect("a greeting");
    let id = pair.asked();
    pair.agent.answer::<InitializeRequest<'_>>(&id, &InitializeResponse::new(ProtocolVersion(1))).expect("a greeting");
    pair.answered();
    pair.client.call(&NewSessionRequest::new("/work", vec![])).expect("a session");
    let id = pair.asked();
    pair.agent.answer::<NewSessionRequest<'_>>(&id, &NewSessionResponse::new(SESSION)).expect("a session");
    pair.answered();
    timed(|| {
        let prompt = vec![TextContent::new("Go").into()];
        pair.client.call(&PromptRequest::new(SESSION, prompt)).expect("a prompt");
        let id = pair.asked();
        let count = work(&mut pair);
        pair.agent.answer::<PromptRequest<'_>>(&id, &PromptResponse::new(StopReason::EndTurn)).expect("an end");
        pair.answered();
        count
    })
}

impl Pair {
    /// Carries a request to the agent; its id.
    fn asked(&mut self) -> Id {
        carry(&mut self.client, &mut self.agent);
        let Some(Event::Request(request)) = self.agent.poll_event() else { panic!("no request") };
        request.id
    }

    /// Carries the agent's answer to the client.
    fn answered(&mut self) {
        carry(&mut self.agent, &mut self.client);
        let event = self.client.poll_event();
        assert!(matches!(&event, Some(Event::Response(response)) if response.outcome.result().is_some()), "{event:?}");
    }

    /// The agent sends an update, and the client reads it.
    fn tell(&mut self, update: SessionUpdate<'_>) {
        self.agent.tell(&SessionNotification::new(SESSION, update)).expect("an update");
        carry(&mut self.agent, &mut self.client);
        while let Some(event) = self.client.poll_event() {
            let Event::Notification(notification) = &event else { panic!("{event:?}") };
            let params: SessionNotification<'_> = notification.params_as().expect("params");
            self.seen += match &params.update {
                SessionUpdate::AgentMessageChunk(ContentChunk { content: ContentBlock::Text(text), .. }) => {
                    text.text.len()
                }
                SessionUpdate::ToolCallUpdate(ToolCallUpdate { content: Some(content), .. }) => {
                    let news = content.iter().map(|item| match item {
                        ToolCallContent::Diff(diff) => diff.new_text.len(),
                        _ => 0,
                    });
                    news.sum()
                }
                _ => 0,
            };
        }
    }
}

/// Moves what one side has written to the other.
fn carry(from: &mut Connection, to: &mut Connection) {
    let bytes = from.transmit();
    to.receive(bytes);
    let count = bytes.len();
    from.consume(count);
}
