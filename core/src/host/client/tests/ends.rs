//! How prompts end otherwise: errors, cancels, time, the end of the session and of the connection.

use super::{Pair, DONE, RUNNING};
use crate::connection::{CallOptions, Timeout};

const CANCELLED: &str = r#"{"stopReason":"cancelled","messageId":"m"}"#;

#[test]
fn failed_work_is_an_error() {
    for (error, end) in [
        (r#","error":{"code":-32000,"message":"log in","data":{"x":1}}"#, "-32000 log in"),
        ("", "-32603 Internal error"),
    ] {
        let mut pair = Pair::open(2);
        let prompt = pair.prompt();
        pair.begin_turn("m");
        pair.tell(&format!(r#"{{"sessionUpdate":"state_update","state":"idle","stopReason":"error"{error}}}"#));
        assert_eq!(pair.end(prompt).as_deref(), Some(end));
    }
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    pair.refuse(-32602);
    assert_eq!(pair.end(prompt).as_deref(), Some("-32602 no"));
    pair.tell(RUNNING);
    pair.tell(DONE);
}

#[test]
fn a_reason_of_the_agents_own_is_an_ordinary_end() {
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    pair.begin_turn("m");
    pair.tell(r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"_budget"}"#);
    assert_eq!(pair.end(prompt).as_deref(), Some(r#"{"stopReason":"end_turn","messageId":"m"}"#));
}

/// Takes a prompt as far as `point`: sent, echoed, answered, running.
fn until(pair: &mut Pair, point: usize) {
    let steps: [&dyn Fn(&mut Pair); 3] =
        [&|pair| pair.echo("m"), &|pair| pair.answer(r#"{"messageId":"m"}"#), &|pair| pair.tell(RUNNING)];
    steps.iter().take(point).for_each(|step| step(pair));
}

#[test]
fn a_prompt_is_cancelled_once_at_any_point() {
    for point in 0..4 {
        for by in ["cancel", "abandon", "notify"] {
            let mut pair = Pair::open(2);
            let prompt = pair.prompt();
            until(&mut pair, point);
            pair.clear();
            for _ in 0..2 {
                match by {
                    "cancel" => pair.client.cancel(prompt).unwrap(),
                    "abandon" => pair.client.abandon(prompt),
                    _ if pair.heard().is_empty() => {
                        pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
                    }
                    _ => {}
                }
                pair.pump();
            }
            let before = point < 2 && by != "notify";
            assert_eq!(pair.heard(), [if before { "$/cancel_request" } else { "session/cancel" }], "{point} {by}");
            assert_eq!(pair.end(prompt), None);
            if point == 0 {
                pair.refuse(-32800);
                assert_eq!(pair.end(prompt).as_deref(), Some(r#"{"stopReason":"cancelled"}"#));
                continue;
            }
            // The message is in the conversation already, and a cancel of the request stops nothing.
            if point == 1 {
                pair.answer(r#"{"messageId":"m"}"#);
                assert_eq!(pair.heard().last(), Some(&"session/cancel"), "{by}");
            }
            if point < 3 {
                pair.tell(RUNNING);
            }
            assert_eq!(pair.end(prompt), None);
            pair.end_turn("cancelled");
            assert_eq!(pair.end(prompt).as_deref(), Some(CANCELLED), "{point} {by}");
            assert!(pair.client.poll_timeout().is_none());
        }
    }
}

#[test]
fn work_that_was_cancelled_before_anything_was_told_of_it_ends_in_time() {
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    until(&mut pair, 2);
    pair.client.abandon(prompt);
    pair.pump();
    pair.elapse(prompt);
    assert_eq!(pair.end(prompt).as_deref(), Some(CANCELLED));
    // The next prompt is not touched by it (CANCEL-23), and was not held back.
    assert!(!pair.client.holds_back("s") && pair.client.poll_timeout().is_none());
    let next = pair.prompt();
    pair.begin_turn("n");
    pair.end_turn("end_turn");
    assert_eq!(pair.end(next).as_deref(), Some(r#"{"stopReason":"end_turn","messageId":"n"}"#));
}

#[test]
fn the_next_prompt_ends_work_that_was_cancelled_and_never_told_of() {
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    until(&mut pair, 2);
    pair.client.abandon(prompt);
    pair.pump();
    let next = pair.prompt();
    assert_eq!((pair.end(prompt).as_deref(), pair.end(next)), (Some(CANCELLED), None));
}

#[test]
fn a_time_limit_holds_until_the_work_ends() {
    for point in [2, 3] {
        let mut pair = Pair::open(2);
        let params = r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#;
        let options = CallOptions::default().timeout(Timeout::After(50));
        let id = pair.client.request_with("session/prompt", params, options).unwrap();
        let prompt = pair.client.connection().pending_by_id(&id).unwrap().serial;
        pair.pump();
        until(&mut pair, point);
        assert_eq!(pair.client.poll_timeout(), Some(50));
        pair.client.handle_timeout(49);
        pair.pump();
        assert_eq!(pair.end(prompt), None);
        pair.client.handle_timeout(50);
        pair.pump();
        assert_eq!((pair.end(prompt).as_deref(), pair.heard()), (Some("timeout"), vec!["session/cancel"]));
        if point == 2 {
            pair.tell(RUNNING);
        }
        pair.end_turn("cancelled");
        assert_eq!(pair.client.poll_timeout(), None);
    }
}

#[test]
fn a_prompt_that_is_inserted_after_its_time_is_stopped() {
    let mut pair = Pair::open(2);
    let params = r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#;
    let options = CallOptions::default().timeout(Timeout::After(50));
    pair.client.request_with("session/prompt", params, options).unwrap();
    pair.pump();
    pair.client.handle_timeout(50);
    pair.pump();
    pair.answer(r#"{"messageId":"m"}"#);
    assert_eq!(pair.told.last().map(|(event, _)| event.name()), Some("late_response"));
    assert_eq!(pair.heard(), ["$/cancel_request", "session/cancel"]);
}

#[test]
fn prompts_end_with_their_session() {
    // The work has begun, and ends before the session does (SESS-79).
    let mut pair = Pair::open(2);
    let prompt = pair.prompt();
    pair.begin_turn("m");
    let held = pair.prompt();
    let close = pair.call("session/close", r#"{"sessionId":"s"}"#);
    pair.refuse(-32800);
    pair.end_turn("cancelled");
    pair.answer("{}");
    assert_eq!(pair.end(prompt).as_deref(), Some(CANCELLED));
    assert_eq!(pair.end(held).as_deref(), Some(r#"{"stopReason":"cancelled"}"#));
    let order: Vec<u64> = pair.ended().map(|response| response.serial).collect();
    assert_eq!(order, [held, prompt, close]);
}

#[test]
fn prompts_end_with_their_session_if_nothing_was_told_of_their_work() {
    for (method, point) in [("session/close", 2), ("session/delete", 2), ("session/delete", 3)] {
        let mut pair = Pair::open(2);
        let prompt = pair.prompt();
        until(&mut pair, point);
        let close = pair.call(method, r#"{"sessionId":"s"}"#);
        assert_eq!(pair.end(prompt), None, "{method}");
        pair.answer("{}");
        assert_eq!(pair.end(prompt).as_deref(), Some(CANCELLED), "{method} {point}");
        assert_eq!(pair.ended().last().map(|response| response.serial), Some(close));
    }
}

#[test]
fn prompts_end_with_the_connection() {
    for version in [1, 2] {
        let mut pair = Pair::open(version);
        let prompt = pair.prompt();
        pair.begin_turn("m");
        pair.client.connection_mut().receive_eof();
        pair.pump();
        assert_eq!(pair.end(prompt).as_deref(), Some("closed"));
        assert_eq!(pair.told.last().map(|(event, _)| event.name()), Some("closed"));
        assert!(pair.client.poll_timeout().is_none());
    }
}
