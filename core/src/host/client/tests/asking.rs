//! What the agent asks.

use super::Pair;
use crate::Event;

const OPTIONS: &str = r#""options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]"#;

/// The agent asks for permission.
fn ask(pair: &mut Pair, params: &str) {
    let id = pair.agent.request("session/request_permission", &format!(r#"{{"sessionId":"s",{params}}}"#));
    id.unwrap_or_else(|misuse| panic!("{params}: {misuse}"));
    pair.pump();
}

fn permission(pair: &Pair) -> Option<(u64, serde_json::Value)> {
    pair.told.iter().find_map(|(event, _)| match event {
        Event::Request(request) => Some((request.serial, request.params_as().unwrap())),
        _ => None,
    })
}

fn answer(pair: &Pair) -> Option<&str> {
    pair.asked.iter().find_map(|event| match event {
        Event::Response(response) => response.outcome.result(),
        _ => None,
    })
}

#[test]
fn a_permission_is_asked_for_and_given_in_either_version() {
    let call = r#"{"toolCallId":"t","title":"Run","status":"pending"}"#;
    for version in [1, 2] {
        let mut pair = Pair::open(version);
        pair.prompt();
        pair.begin_turn("m");
        let what = match version {
            1 => format!(r#""toolCall":{call}"#),
            _ => format!(r#""title":"Run it?","subject":{{"type":"tool_call","toolCall":{call}}}"#),
        };
        ask(&mut pair, &format!("{what},{OPTIONS}"));
        let (serial, params) = permission(&pair).expect("a request");
        assert_eq!(params["toolCall"], serde_json::from_str::<serde_json::Value>(call).unwrap());
        assert_eq!(params["title"].as_str(), (version == 2).then_some("Run it?"));
        let chosen = r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#;
        pair.client.respond(serial, chosen).unwrap();
        pair.pump();
        assert_eq!(answer(&pair), Some(chosen));
    }
}

#[test]
fn nothing_is_chosen_where_version_1_has_no_option_to_choose() {
    let mut pair = Pair::open(2);
    pair.prompt();
    pair.begin_turn("m");
    ask(&mut pair, r#""title":"T","options":[{"optionId":"y","name":"Y","kind":"_some"}]"#);
    assert_eq!((permission(&pair), answer(&pair)), (None, Some(r#"{"outcome":{"outcome":"cancelled"}}"#)));
}

#[test]
fn a_question_of_a_cancelled_turn_is_dismissed() {
    for version in [1, 2] {
        let mut pair = Pair::open(version);
        let prompt = pair.prompt();
        pair.begin_turn("m");
        let what = match version {
            1 => r#""toolCall":{"toolCallId":"t"}"#,
            _ => r#""title":"T""#,
        };
        ask(&mut pair, &format!("{what},{OPTIONS}"));
        pair.client.abandon(prompt);
        pair.pump();
        assert!(pair.told.iter().any(|(event, _)| matches!(event, Event::Answered(_))));
        assert_eq!(answer(&pair), Some(r#"{"outcome":{"outcome":"cancelled"}}"#));
    }
}
