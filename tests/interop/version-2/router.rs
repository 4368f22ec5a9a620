//! An agent of both versions behind the router of the official Rust SDK. Built as one more example beside those that
//! the SDK comes with.

use agent_client_protocol::v1::{self, schema as one};
use agent_client_protocol::v2::{self, schema as two};
use agent_client_protocol::{on_receive_request, Agent, Client, ConnectTo as _, Result, Stdio};

const SESSION: &str = "session-1";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let first = Agent
        .v1()
        .on_receive_request(
            async |request: one::InitializeRequest, responder, _client: v1::ConnectionTo<Client>| {
                let info = one::Implementation::new("router", "1.0.0");
                responder.respond(one::InitializeResponse::new(request.protocol_version).agent_info(info))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: one::NewSessionRequest, responder, _client: v1::ConnectionTo<Client>| {
                responder.respond(one::NewSessionResponse::new(SESSION))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: one::PromptRequest, responder, client: v1::ConnectionTo<Client>| {
                let chunk = one::ContentChunk::new("This is version 1.".into());
                let update = one::SessionUpdate::AgentMessageChunk(chunk);
                client.send_notification(one::SessionNotification::new(request.session_id, update))?;
                responder.respond(one::PromptResponse::new(one::StopReason::EndTurn))
            },
            on_receive_request!(),
        );
    let second = Agent
        .v2()
        .on_receive_request(
            async |request: two::InitializeRequest, responder, _client: v2::ConnectionTo<Client>| {
                let info = two::Implementation::new("router", "1.0.0");
                let capabilities = two::AgentCapabilities::new().session(two::SessionCapabilities::new());
                let response = two::InitializeResponse::new(request.protocol_version, info);
                responder.respond(response.capabilities(capabilities))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: two::NewSessionRequest, responder, _client: v2::ConnectionTo<Client>| {
                responder.respond(two::NewSessionResponse::new(SESSION))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |request: two::PromptRequest, responder, client: v2::ConnectionTo<Client>| {
                responder.respond(two::PromptResponse::new("user-1"))?;
                let chunk = two::ContentChunk::new("This is version 2.".into(), "message-1");
                let end = two::IdleStateUpdate::new().stop_reason(two::StopReason::EndTurn);
                for update in [
                    two::SessionUpdate::UserMessage(two::UserMessage::new("user-1").content(request.prompt)),
                    two::SessionUpdate::StateUpdate(two::StateUpdate::Running(two::RunningStateUpdate::new())),
                    two::SessionUpdate::AgentMessageChunk(chunk),
                    two::SessionUpdate::StateUpdate(two::StateUpdate::Idle(end)),
                ] {
                    let update = two::UpdateSessionNotification::new(request.session_id.clone(), update);
                    client.send_notification(update)?;
                }
                Ok(())
            },
            on_receive_request!(),
        );
    Agent.protocol_router().with_v1(first).with_v2(second).connect_to(Stdio::new()).await
}
