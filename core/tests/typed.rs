//! A client and an agent on the typed connection, wired to each other.

use libacp::connection::{Event, MisuseKind};
use libacp::schema::{v1, v2};
use libacp::typed::{Agent, CallError, Client, Ticket};
use libacp::{Config, Id};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Everything that waits, there and back.
fn exchange(client: &mut Client, agent: &mut Agent) {
    let bytes = client.transmit().to_vec();
    client.consume(bytes.len());
    agent.receive(&bytes);
    let bytes = agent.transmit().to_vec();
    agent.consume(bytes.len());
    client.receive(&bytes);
}

fn asked(agent: &mut Agent) -> Option<libacp::connection::Request> {
    match agent.poll_event()? {
        Event::Request(request) => Some(request),
        other => panic!("expected a request, got {other:?}"),
    }
}

fn response(client: &mut Client) -> libacp::connection::Response {
    match client.poll_event() {
        Some(Event::Response(response)) => response,
        other => panic!("expected a response, got {other:?}"),
    }
}

fn opened() -> Result<(Client, Agent), Box<dyn std::error::Error>> {
    let (mut client, mut agent) = (Client::default(), Agent::default());
    let hello = client.call(&v1::InitializeRequest::new(v1::ProtocolVersion(1)))?;
    exchange(&mut client, &mut agent);
    let request = asked(&mut agent).ok_or("no initialize")?;
    agent.answer::<v1::InitializeRequest<'_>>(&request.id, &v1::InitializeResponse::new(v1::ProtocolVersion(1)))?;
    exchange(&mut client, &mut agent);
    assert_eq!(hello.result(&response(&mut client))?.protocol_version, v1::ProtocolVersion(1));
    Ok((client, agent))
}

#[test]
fn a_whole_turn() -> Outcome {
    let (mut client, mut agent) = opened()?;
    let session = client.call(&v1::NewSessionRequest::new("/work", vec![]))?;
    exchange(&mut client, &mut agent);
    let request = asked(&mut agent).ok_or("no session/new")?;
    match v1::ClientRequest::read(&request)? {
        v1::ClientRequest::NewSession(params) => assert_eq!(&*params.cwd, "/work"),
        other => panic!("{other:?}"),
    }
    agent.answer::<v1::NewSessionRequest<'_>>(&request.id, &v1::NewSessionResponse::new("s-1"))?;
    exchange(&mut client, &mut agent);
    let answer = response(&mut client);
    let session = session.result(&answer)?;
    assert_eq!(session.session_id.to_string(), "s-1");

    let hello = v1::ContentBlock::Text(v1::TextContent::new("Hello"));
    let turn: Ticket<_> = client.call(&v1::PromptRequest::new("s-1", vec![hello.clone()]))?;
    exchange(&mut client, &mut agent);
    let request = asked(&mut agent).ok_or("no prompt")?;
    let update = v1::SessionUpdate::AgentMessageChunk(v1::ContentChunk::new(hello.clone()));
    agent.tell(&v1::SessionNotification::new("s-1", update))?;
    agent.answer::<v1::PromptRequest<'_>>(&request.id, &v1::PromptResponse::new(v1::StopReason::EndTurn))?;
    exchange(&mut client, &mut agent);
    let Some(Event::Notification(told)) = client.poll_event() else { panic!("no update") };
    match v1::AgentNotification::read(&told)? {
        v1::AgentNotification::Session(params) => match params.update {
            v1::SessionUpdate::AgentMessageChunk(chunk) => assert_eq!(chunk.content, hello),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    assert_eq!(turn.result(&response(&mut client))?.stop_reason, v1::StopReason::EndTurn);
    Ok(())
}

#[test]
fn errors_and_extensions() -> Outcome {
    let (mut client, mut agent) = opened()?;
    let session = client.call(&v1::NewSessionRequest::new("/work", vec![]))?;
    let own = client.request("_own/method", r#"{"a":1}"#)?;
    exchange(&mut client, &mut agent);
    let request = asked(&mut agent).ok_or("no session/new")?;
    let extension = asked(&mut agent).ok_or("no extension")?;
    assert_eq!(v1::ClientRequest::read(&extension)?, v1::ClientRequest::Extension("_own/method", r#"{"a":1}"#));
    agent.respond(&own, "{}")?;
    agent.respond_error(&request.id, libacp::ErrorCode::AUTH_REQUIRED, "Log in", None)?;
    exchange(&mut client, &mut agent);
    let (first, second) = (response(&mut client), response(&mut client));
    assert!(!session.is_answered_by(&first) && matches!(session.result(&first), Err(CallError::Another)));
    match session.result(&second) {
        Err(CallError::Peer(error)) => assert_eq!(error.code, libacp::ErrorCode::AUTH_REQUIRED),
        other => panic!("{other:?}"),
    }
    Ok(())
}

#[test]
fn what_types_cannot_refuse() -> Outcome {
    let (mut client, mut agent) = opened()?;
    let misuse = client.call(&v1::NewSessionRequest::new("work", vec![])).unwrap_err();
    assert_eq!((misuse.rule.as_str(), misuse.pointer.as_str()), ("SESS-04", "/cwd"));
    let misuse = client.call(&v2::NewSessionRequest::new("/work")).unwrap_err();
    assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Method, "INIT-08"));
    assert!(client.transmit().is_empty());

    client.call(&v1::NewSessionRequest::new("/work", vec![]))?;
    exchange(&mut client, &mut agent);
    let request = asked(&mut agent).ok_or("no session/new")?;
    let wrong = v1::PromptResponse::new(v1::StopReason::EndTurn);
    let misuse = agent.answer::<v1::PromptRequest<'_>>(&request.id, &wrong).unwrap_err();
    assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Id, "RPC-15"));
    let misuse = agent.answer::<v1::PromptRequest<'_>>(&Id::Number(9), &wrong).unwrap_err();
    assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Id, "RPC-15"));
    Ok(())
}

#[test]
fn the_side_is_the_type() {
    assert_eq!(Client::new(Config::agent()).role(), libacp::Role::Client);
    assert_eq!(Agent::default().into_inner().role(), libacp::Role::Agent);
}

#[test]
fn members_of_drafts_are_not_written_where_they_say_nothing() -> Outcome {
    let mut can = v1::McpCapabilities::new();
    assert_eq!(serde_json::to_string(&can)?, r#"{"http":false,"sse":false}"#);
    can.acp = true;
    assert_eq!(serde_json::to_string(&can)?, r#"{"http":false,"sse":false,"acp":true}"#);
    Ok(())
}
