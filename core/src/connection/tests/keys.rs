//! Requests that are named by their ids, their numbers, or their events.

use super::*;

fn listed(agent: &mut Connection) -> Request {
    agent.receive(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_x/list\"}\n");
    match drain(agent).pop() {
        Some(Event::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_that_was_answered_is_not_taken_for_a_later_one_with_its_id() {
    let (_, mut agent) = ready_pair();
    let first = listed(&mut agent);
    agent.respond(&first, r#"{"of":"first"}"#).unwrap();
    let second = listed(&mut agent);
    assert_eq!(first.id, second.id);
    for misuse in [
        agent.respond(&first, "{}").unwrap_err(),
        agent.respond(first.serial, "{}").unwrap_err(),
        agent.respond((&crate::Id::from(8), second.serial), "{}").unwrap_err(),
        agent.respond_error(&first, ErrorCode::INTERNAL_ERROR, "x", None).unwrap_err(),
    ] {
        assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Id, "RPC-15"));
    }
    let open = agent.unanswered().next().unwrap().clone();
    agent.respond(&open, r#"{"of":"second"}"#).unwrap();
    let sent = take(&mut agent);
    assert!(sent.contains("first") && sent.contains("second") && sent.lines().count() == 2, "{sent}");
    // The id alone means whatever is open under it.
    let third = listed(&mut agent);
    agent.respond(&third.id, "{}").unwrap();
    let misuse = agent.respond(third.serial, "{}").unwrap_err();
    assert_eq!(misuse.message, format!("no request with the number {} waits for an answer", third.serial));
}

#[test]
fn an_own_request_is_cancelled_by_its_number() {
    let (mut client, _) = session_pair();
    let id = client.request("session/prompt", r#"{"sessionId":"s","prompt":[]}"#).unwrap();
    take(&mut client);
    let serial = client.pending_by_id(&id).unwrap().serial;
    let misuse = client.cancel(serial + 1).unwrap_err();
    assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Id, "CANCEL-08"));
    assert!(take(&mut client).is_empty());
    client.cancel(serial).unwrap();
    assert!(take(&mut client).contains(r#""method":"$/cancel_request","params":{"requestId":"#));
}
