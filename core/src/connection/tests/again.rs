//! Why a session is not prompted once more.

use super::*;

const PROMPT: &str = r#"{"sessionId":"s","prompt":[]}"#;

/// The words of the refusal, on the client's side.
fn why(client: &mut Connection) -> String {
    let misuse = client.request("session/prompt", PROMPT).unwrap_err();
    assert_eq!((misuse.kind, misuse.rule.as_str()), (MisuseKind::Phase, "TURN-03"));
    misuse.message.into()
}

#[test]
fn only_a_prompt_that_was_not_cancelled_is_to_be_cancelled_first() {
    let advice = "send session/cancel first";
    let patience = "was cancelled and has not ended; wait for its end";

    let (mut client, _) = session_pair();
    client.request("session/prompt", PROMPT).unwrap();
    assert!(why(&mut client).ends_with(advice));
    client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    assert!(why(&mut client).ends_with(patience));

    let (mut client, _) = session_pair();
    let id = client.request("session/prompt", PROMPT).unwrap();
    client.cancel(&id).unwrap();
    assert!(why(&mut client).ends_with(patience));

    let (mut client, _) = session_pair();
    let in_time = CallOptions { timeout: Timeout::After(10), ..CallOptions::default() };
    client.request_with("session/prompt", PROMPT, in_time).unwrap();
    assert!(why(&mut client).ends_with(advice));
    client.handle_timeout(10);
    assert!(matches!(drain(&mut client).as_slice(), [Event::Response(_)]));
    assert!(why(&mut client).ends_with(patience));
}

#[test]
fn prompts_that_wait_behind_one_another_are_all_to_be_cancelled() {
    let said = |agent: &mut Connection, frame: &str| {
        agent.receive(frame.as_bytes());
        let told = drain(agent).into_iter().find_map(|event| match event {
            Event::Violation(violation) => Some(violation.message),
            _ => None,
        });
        told.unwrap_or_default()
    };
    let prompt =
        |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/prompt\",\"params\":{PROMPT}}}\n");
    let cancel =
        |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{id}}}}}\n");
    let (_, mut agent) = session_pair();
    assert_eq!(said(&mut agent, &prompt(71)), "");
    assert!(said(&mut agent, &prompt(72)).contains("session/cancel"));
    assert_eq!(said(&mut agent, &cancel(71)), "");
    assert!(said(&mut agent, &prompt(73)).contains("session/cancel"));
    for id in [72, 73] {
        assert_eq!(said(&mut agent, &cancel(id)), "");
    }
    assert!(said(&mut agent, &prompt(74)).contains("wait for its end"));
}
