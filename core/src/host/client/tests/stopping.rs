//! Which call an update belongs to, and how calls are given up.

use super::Pair;

#[test]
fn an_update_belongs_to_the_load_or_to_the_newest_prompt() {
    let mut pair = Pair::new(1);
    let load = pair.call("session/load", r#"{"sessionId":"s","cwd":"/w","mcpServers":[]}"#);
    pair.chunk();
    pair.answer("{}");
    let prompt = pair.prompt();
    pair.chunk();
    pair.answer(r#"{"stopReason":"end_turn"}"#);
    pair.tell(r#"{"sessionUpdate":"session_info_update","title":"t"}"#);
    let belongs: Vec<_> = pair.told.iter().map(|(event, call)| (event.name(), *call)).collect();
    let expected = [("notification", Some(load)), ("response", None), ("notification", Some(prompt))];
    assert_eq!(belongs[..3], expected);
    assert_eq!(belongs[3..], [("response", None), ("notification", None)]);
}

#[test]
fn a_prompt_is_given_up_once() {
    let mut pair = Pair::open(1);
    let prompt = pair.prompt();
    for _ in 0..2 {
        pair.client.abandon(prompt);
        pair.pump();
    }
    assert_eq!(pair.heard(), ["session/cancel"]);
    assert!(pair.client.holds_back("s") && pair.end(prompt).is_none());
    pair.answer(r#"{"stopReason":"cancelled"}"#);
    assert!(!pair.client.holds_back("s"));
    pair.client.abandon(prompt);
    pair.pump();
    assert_eq!((pair.heard().len(), pair.end(prompt).as_deref()), (1, Some(r#"{"stopReason":"cancelled"}"#)));
}

#[test]
fn other_calls_are_given_up_by_their_id() {
    let mut pair = Pair::open(1);
    let load = pair.call("session/load", r#"{"sessionId":"t","cwd":"/w","mcpServers":[]}"#);
    for _ in 0..2 {
        pair.client.abandon(load);
        pair.pump();
    }
    assert_eq!(pair.heard(), ["$/cancel_request"]);
    pair.refuse(-32800);
    assert_eq!(pair.end(load).as_deref(), Some("-32800 no"));
}
