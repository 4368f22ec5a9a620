//! What the message types promise: they borrow, keep what they do not know, and are exact.

use libacp::schema::{decode, v1, v2, DecodeError, IntoOwned, Map, Message, Patch, Policy, Raw, Request, Str};
use libacp::validation::table::From as Sender;
use libacp::validation::{Mode, Part};
use libacp::Id;

fn policy(drafts: u32) -> Policy {
    Policy { mode: Mode::Tolerant, part: Part::Response, drafts }
}

/// Whether a text is a piece of another, by address.
fn within(part: &str, whole: &str) -> bool {
    whole.as_bytes().as_ptr_range().contains(&part.as_ptr())
}

/// Reads a text and writes it again.
fn again<'a, T: Message<'a>>(json: &'a str) -> String {
    let value: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    serde_json::to_string(&value).unwrap()
}

#[test]
fn text_is_borrowed_wherever_it_stands() {
    let json = r#"{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Read",
        "rawInput":{"path":"/x"},"locations":[{"path":"/x/y","line":3}],"_meta":{"a":[1]}}}"#;
    let notification: v1::SessionNotification = serde_json::from_str(json).unwrap();
    let v1::SessionUpdate::ToolCall(call) = &notification.update else { panic!("{notification:?}") };
    assert!(notification.session_id.0.is_borrowed());
    let texts = [
        notification.session_id.as_str(),
        call.tool_call_id.as_str(),
        &call.title,
        call.raw_input.as_ref().unwrap().as_str(),
        &call.locations[0].path,
        call.meta.as_ref().unwrap().as_str(),
    ];
    for text in texts {
        assert!(within(text, json), "{text} was copied");
    }

    let json = r#"{"type":"stdio","name":"n","command":"c","args":["a","b\n"],"env":[{"name":"K","value":"V"}]}"#;
    let v2::McpServer::Stdio(server) = serde_json::from_str(json).unwrap() else { panic!("another variant") };
    assert!(server.args[0].is_borrowed() && within(&server.env[0].value, json));
    assert!(!server.args[1].is_borrowed(), "an escape has to be undone in a copy");
    assert_eq!(server.args[1], "b\n");

    let json = r#"{"z":"last","a":"first"}"#;
    let map: Map<'_, Option<Str<'_>>> = serde_json::from_str(json).unwrap();
    assert!(within(map.get("z").unwrap().as_ref().unwrap(), json));
    assert_eq!(serde_json::to_string(&map).unwrap(), json, "the order stays");
}

#[test]
fn values_outlive_their_text_when_they_are_made_to() {
    let owned: v2::ContentBlock<'static> = {
        let json = String::from(r#"{"type":"text","text":"hello","annotations":{"audience":["user","robot"]}}"#);
        serde_json::from_str::<v2::ContentBlock>(&json).unwrap().into_owned()
    };
    let v2::ContentBlock::Text(text) = owned else { panic!("another variant") };
    assert_eq!(text.text, "hello");
    let audience = text.annotations.unwrap().audience.unwrap();
    assert_eq!(audience, [v2::Role::User, v2::Role::Unrecognized("robot".into())]);
}

#[test]
fn unknown_variants_are_written_as_they_were_sent() {
    for json in [
        r#"{"type":"hologram","size": 1.50,"big":12345678901234567890,"z":{"b":1,"a":[ ]}}"#,
        r#"{ "a": "\u00e9\ud83d\ude00", "type": "_vendor" }"#,
        r#"{"x":"\ud800","type":"hologram"}"#,
    ] {
        assert_eq!(again::<v2::ContentBlock>(json), json);
        assert_eq!(again::<v1::ContentBlock>(json), json);
        let v2::ContentBlock::Unrecognized { tag, json: raw } = serde_json::from_str(json).unwrap() else {
            panic!("{json} is known")
        };
        assert!(!tag.is_empty() && within(raw.as_str(), json));
        let whole = format!(r#"{{"sessionId":"s","update":{{"sessionUpdate":"new","block":{json}}}}}"#);
        assert_eq!(again::<v2::UpdateSessionNotification>(&whole), whole);
    }
    assert_eq!(again::<v1::ToolKind>("\"juggle\""), "\"juggle\"");
}

#[test]
fn unknown_variants_beside_other_members_lose_nothing_and_repeat_nothing() {
    let json = r#"{"message":"m","mode":"voice","lang":"de","sessionId":"s","_meta":{"a":1}}"#;
    let request: v2::CreateElicitationRequest = serde_json::from_str(json).unwrap();
    assert!(matches!(&request.mode, v2::CreateElicitationRequestMode::Unrecognized { tag, .. } if tag == "voice"));
    let written = serde_json::to_string(&request).unwrap();
    assert_eq!(written, r#"{"message":"m","_meta":{"a":1},"mode":"voice","lang":"de","sessionId":"s"}"#);

    let json = r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"bored","why":[1]}"#;
    let written = again::<v2::SessionUpdate>(json);
    assert_eq!(written.matches("sessionUpdate").count(), 1, "{written}");
    assert_eq!(written.matches("\"state\"").count(), 1, "{written}");
    assert!(written.contains(r#""stopReason":"bored","why":[1]"#), "{written}");
}

#[test]
fn leaving_out_null_and_a_value_are_three_things() {
    let states = [
        (r#"{"messageId":"m"}"#, None),
        (r#"{"messageId":"m","content":null}"#, Some(0)),
        (r#"{"messageId":"m","content":[]}"#, Some(1)),
    ];
    for (json, state) in states {
        let message: v2::UserMessage = serde_json::from_str(json).unwrap();
        let seen = match &message.content {
            Patch::Absent => None,
            Patch::Null => Some(0),
            Patch::Value(_) => Some(1),
        };
        assert_eq!(seen, state, "{json}");
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
    }
    let mut title = Some("old");
    Patch::Absent.apply(&mut title);
    assert_eq!(title, Some("old"));
    Patch::Value("new").apply(&mut title);
    assert_eq!(title, Some("new"));
    Patch::Null.apply(&mut title);
    assert_eq!(title, None);
}

#[test]
fn ids_are_exact() {
    for json in
        ["9007199254740993", "-9223372036854775808", "9223372036854775807", "\"9007199254740993\"", "null", "\"\""]
    {
        let id: Id = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), json);
        assert_eq!(Some(id), Id::from_json(json));
    }
    for json in ["1.5", "1.0", "9223372036854775808", "true", "{}", "[]"] {
        assert!(serde_json::from_str::<Id>(json).is_err(), "{json}");
    }
    let json = r#"{"requestId":9007199254740993}"#;
    assert_eq!(again::<v1::CancelRequestNotification>(json), json);
    assert!(serde_json::from_str::<v1::CancelRequestNotification>("{}").is_err(), "null is an id, absence is not");
}

#[test]
fn numbers_are_exact() {
    let json = r#"{"used":18446744073709551615,"size":9007199254740993}"#;
    assert_eq!(again::<v2::UsageUpdate>(json), json);
    for json in [r#"{"used":-1,"size":1}"#, r#"{"used":1.0,"size":1}"#, r#"{"used":18446744073709551616,"size":1}"#] {
        assert!(serde_json::from_str::<v2::UsageUpdate>(json).is_err(), "{json}");
    }
}

#[test]
fn line_separators_are_text() {
    let json = "{\"type\":\"text\",\"text\":\"a\u{2028}b\"}";
    assert_eq!(again::<v2::ContentBlock>(json), json);
    let escaped = r#"{"type":"text","text":"a\u2028b"}"#;
    assert_eq!(again::<v2::ContentBlock>(escaped), json);
}

#[test]
fn half_a_surrogate_pair_is_no_text_but_stays_in_raw_json() {
    let json = r#"{"type":"text","text":"\ud800"}"#;
    assert!(serde_json::from_str::<v2::ContentBlock>(json).is_err());
    let json = r#"{"toolCallId":"c","rawInput":{"a":"\ud800"}}"#;
    assert_eq!(again::<v2::ToolCallUpdate>(json), json);

    let json = r#"{"type":"text","text":"a\ud800b"}"#;
    let decoded = decode::<v2::TextContent>(json, policy(0)).unwrap();
    assert_eq!(decoded.value.text, "a\u{FFFD}b", "the check puts the usual mark in its place");
}

#[test]
fn untrusted_json_is_repaired_and_every_repair_is_told() {
    let json = r#"{"toolCallId":"c","title":"t","kind":5,"content":[{"type":"content"},{"type":"terminal","terminalId":"x"}]}"#;
    let decoded = decode::<v1::ToolCall>(json, policy(0)).unwrap();
    assert_eq!((decoded.value.kind, decoded.value.content.len()), (None, 1));
    let places: Vec<_> = decoded.problems.iter().map(libacp::validation::Problem::pointer).collect();
    assert_eq!(places, ["/kind", "/content/0/content"]);

    let json = r#"{"toolCallId":"c","title":"t"}"#;
    let decoded = decode::<v1::ToolCall>(json, policy(0)).unwrap();
    assert!(decoded.problems.is_empty() && within(&decoded.value.title, json));

    let refused = decode::<v1::ToolCall>(r#"{"toolCallId":"c"}"#, policy(0)).unwrap_err();
    assert!(matches!(&refused, DecodeError::Rejected(_)) && refused.to_string().contains("/title"), "{refused}");
    assert_eq!(decode::<v1::CloseSessionResponse>(" null ", policy(0)).unwrap().value, v1::CloseSessionResponse::new());
    assert!(decode::<v1::NewSessionResponse>("null", policy(0)).is_err());
}

#[test]
fn members_of_drafts_that_are_off_do_no_harm() {
    let json = r#"{"loadSession":true,"nes":"mine","positionEncoding":[]}"#;
    let decoded = decode::<v1::AgentCapabilities>(json, policy(0)).unwrap();
    assert!(decoded.value.load_session && decoded.value.nes.is_none() && decoded.problems.is_empty());
    let json = r#"{"type":"acp","vendor":1}"#;
    let decoded = decode::<v2::McpServer>(json, policy(0)).unwrap();
    assert_eq!(serde_json::to_string(&decoded.value).unwrap(), json);
}

#[test]
fn constructors_take_what_must_be_there() {
    let mut request = v1::NewSessionRequest::new("/home/a", Vec::new());
    assert_eq!(serde_json::to_string(&request).unwrap(), r#"{"cwd":"/home/a","mcpServers":[]}"#);
    request.additional_directories.push("/tmp".into());
    let written = serde_json::to_string(&request).unwrap();
    assert!(written.contains(r#""additionalDirectories":["/tmp"]"#), "{written}");
    let prompt = v1::PromptRequest::new("s", vec![v1::TextContent::new("hi").into()]);
    assert_eq!(serde_json::to_string(&prompt).unwrap(), r#"{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#);
    assert!(Raw::new("{} x").is_err() && Raw::from_string("[1, 2]".to_owned()).is_ok());
}

#[test]
fn params_know_their_method_and_its_result() {
    fn call<'a, R: Request<'a>>(answer: &'a str) -> (&'static str, Sender, R::Result<'a>) {
        (R::METHOD, R::FROM, serde_json::from_str(answer).unwrap())
    }
    let (method, from, result) = call::<v1::NewSessionRequest>(r#"{"sessionId":"s"}"#);
    assert_eq!((method, from, result.session_id.as_str()), ("session/new", Sender::Client, "s"));
    let names = v2::NewSessionRequest::TABLES.names;
    let at = names.binary_search_by_key(&v2::NewSessionRequest::NAME, |(name, _)| name).unwrap();
    assert_eq!(names[at].1, v2::NewSessionRequest::TYPE);
}
