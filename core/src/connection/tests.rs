//! Two connections wired together, and the promises of the module's documentation.

mod again;
mod followed;
mod keys;
mod known;
mod twice;

use super::*;
use crate::framing::Framing;
use crate::jsonrpc::ErrorCode;

const CAPABLE: &str = r#"{"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}"#;

fn drain(connection: &mut Connection) -> Vec<Event> {
    std::iter::from_fn(|| connection.poll_event()).collect()
}

fn take(connection: &mut Connection) -> String {
    let bytes = connection.transmit().to_vec();
    connection.consume(bytes.len());
    String::from_utf8(bytes).unwrap()
}

/// Moves everything that waits, in pieces of `piece` bytes, until both sides are at rest; what each side was told.
fn pump(client: &mut Connection, agent: &mut Connection, piece: usize) -> (Vec<Event>, Vec<Event>) {
    let (mut to_client, mut to_agent) = (Vec::new(), Vec::new());
    while !client.transmit().is_empty() || !agent.transmit().is_empty() {
        for chunk in take(client).as_bytes().chunks(piece) {
            agent.receive(chunk);
            to_agent.extend(drain(agent));
        }
        for chunk in take(agent).as_bytes().chunks(piece) {
            client.receive(chunk);
            to_client.extend(drain(client));
        }
    }
    (to_client, to_agent)
}

fn ready_pair() -> (Connection, Connection) {
    let (mut client, mut agent) = (Connection::new(Config::client()), Connection::new(Config::agent()));
    client.request("initialize", CAPABLE).unwrap();
    let (_, asked) = pump(&mut client, &mut agent, usize::MAX);
    let [Event::Request(request)] = asked.as_slice() else { panic!("{asked:?}") };
    agent.respond(&request.id, r#"{"agentCapabilities":{"loadSession":true}}"#).unwrap();
    let (answered, _) = pump(&mut client, &mut agent, usize::MAX);
    assert!(matches!(answered.as_slice(), [Event::Response(_)]));
    (client, agent)
}

fn session_pair() -> (Connection, Connection) {
    let (mut client, mut agent) = ready_pair();
    client.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).unwrap();
    let (_, asked) = pump(&mut client, &mut agent, usize::MAX);
    let [Event::Request(request)] = asked.as_slice() else { panic!("{asked:?}") };
    agent.respond(&request.id, r#"{"sessionId":"s"}"#).unwrap();
    pump(&mut client, &mut agent, usize::MAX);
    (client, agent)
}

#[test]
fn what_waits_is_counted_and_a_glance_tells_that_nothing_came() {
    for framing in [Framing::Lines, Framing::ContentLength, Framing::Messages] {
        let mut client = Connection::new(Config { framing, ..Config::client() });
        let mut agent = Connection::new(Config { framing, ..Config::agent() });
        client.request("initialize", CAPABLE).unwrap();
        let (_, asked) = pump(&mut client, &mut agent, usize::MAX);
        let [Event::Request(request)] = asked.as_slice() else { panic!("{asked:?}") };
        agent.respond(&request.id, "{}").unwrap();
        pump(&mut client, &mut agent, usize::MAX);
        client.notify("_x/y", "{}").unwrap();
        let one = client.transmit().to_vec();
        client.notify("_x/y", "{}").unwrap();
        assert_eq!(client.unsent(), 2 * one.len());
        if framing == Framing::Messages {
            agent.receive(&one);
        } else {
            let (start, end) = one.split_at(one.len() - 1);
            agent.receive(start);
            assert!(agent.poll_event().is_none() && agent.is_starved());
            agent.receive(end);
        }
        assert!(!agent.is_starved() && agent.poll_event().is_some());
    }
}

#[test]
fn initialize_fills_the_version_and_opens_the_gates() {
    let (client, agent) = ready_pair();
    for side in [&client, &agent] {
        assert_eq!((side.phase(), side.version()), (Phase::Ready, Some(1)));
    }
    assert!(agent.can("fs/read_text_file") && agent.can("terminal/create") && client.can("session/load"));
    assert_eq!(client.why_not("session/list").unwrap().rule, "SESS-12");
    assert_eq!(client.why_not("fs/read_text_file").unwrap().rule, "RPC-27");
    assert_eq!(client.why_not("nes/start").unwrap().rule, "EXT-07");
    assert!(client.can("_x/y"));
}

#[test]
fn a_turn_in_every_split_gives_the_same_events() {
    let run = |piece: usize| {
        let (mut client, mut agent) = session_pair();
        let prompt = r#"{"sessionId":"s","prompt":[{"type":"text","text":"é🙂\u2028"}]}"#;
        let prompt_id = client.request("session/prompt", prompt).unwrap();
        let (_, asked) = pump(&mut client, &mut agent, piece);
        let [Event::Request(request)] = asked.as_slice() else { panic!("{asked:?}") };
        agent.notify("session/update", r#"{"sessionId":"s","update":{"content":{"type":"text","text":"a"},"sessionUpdate":"agent_message_chunk"}}"#).unwrap();
        let options = r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}"#;
        agent.request("session/request_permission", options).unwrap();
        let (mut told, _) = pump(&mut client, &mut agent, piece);
        client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
        told.extend(drain(&mut client));
        let (_, heard) = pump(&mut client, &mut agent, piece);
        assert!(heard.iter().any(|event| matches!(event, Event::Response(r) if r.outcome.result() == Some(r#"{"outcome":{"outcome":"cancelled"}}"#))));
        agent.respond_error(&request.id, ErrorCode::INTERNAL_ERROR, "aborted", None).unwrap();
        told.extend(pump(&mut client, &mut agent, piece).0);
        let Some(Event::Response(last)) = told.last() else { panic!("{told:?}") };
        assert_eq!((&last.id, last.outcome.result()), (&prompt_id, Some(r#"{"stopReason":"cancelled"}"#)));
        assert!(!told.iter().chain(&heard).any(|event| matches!(event, Event::Violation(_))), "{told:?}");
        assert_eq!(client.session("s").unwrap().turn, Turn::Idle);
        assert_eq!(agent.session("s").unwrap().turn, Turn::Idle);
        (told, heard)
    };
    let whole = run(usize::MAX);
    for piece in 1..64 {
        assert_eq!(run(piece), whole, "pieces of {piece}");
    }
}

#[test]
fn misuse_changes_and_sends_nothing() {
    let (mut client, mut agent) = session_pair();
    let calls: [(&str, &str, &str, &str); 11] = [
        ("session/new", r#"{"cwd":"relative","mcpServers":[]}"#, "SESS-04", "/cwd"),
        ("session/new", r#"{"mcpServers":[]}"#, "SESS-04", "/cwd"),
        ("session/new", "[]", "RPC-19", ""),
        ("session/new", "{", "RPC-21", ""),
        ("_x", "nul", "RPC-21", ""),
        ("_x", "7", "RPC-19", ""),
        ("session/list", "{}", "SESS-12", ""),
        ("initialize", "{}", "INIT-09", ""),
        ("session/prompt", r#"{"sessionId":"other","prompt":[]}"#, "SESS-01", "/sessionId"),
        ("no_underscore", "{}", "EXT-07", ""),
        ("session/cancel", r#"{"sessionId":"s"}"#, "RPC-29", ""),
    ];
    for (method, params, rule, pointer) in calls {
        let misuse = client.request(method, params).unwrap_err();
        assert_eq!((misuse.rule.as_str(), misuse.pointer.as_str()), (rule, pointer), "{method} {params}: {misuse}");
        assert!(client.transmit().is_empty() && client.pending().next().is_none());
    }
    assert_eq!(agent.respond(&Id::Number(77), "{}").unwrap_err().rule, "RPC-15");
    assert_eq!(client.cancel(&Id::Number(77)).unwrap_err().rule, "CANCEL-08");
    assert!(agent.transmit().is_empty());
}

#[test]
fn every_request_ends_exactly_once() {
    let (mut client, _) = ready_pair();
    let by_time =
        client.request_with("_a", "{}", CallOptions { timeout: Timeout::After(10), ..CallOptions::default() }).unwrap();
    let by_answer = client.request("_b", "{}").unwrap();
    let by_error = client.request("_c", "{}").unwrap();
    let by_nonsense = client.request("_d", "{}").unwrap();
    let by_end = client.request("_e", "{}").unwrap();
    assert_eq!(client.poll_timeout(), Some(10));
    client.handle_timeout(10);
    let frames = format!(
        "{{\"id\":{by_answer},\"result\":1,\"jsonrpc\":\"2.0\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":{by_answer},\"result\":2}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":{by_error},\"error\":{{\"code\":-32000,\"message\":\"m\",\"data\":[1]}}}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":{by_nonsense},\"error\":\"text\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":{by_time},\"result\":0}}\n"
    );
    client.receive(frames.as_bytes());
    client.receive_eof();
    let mut ends = Vec::new();
    for event in drain(&mut client) {
        match event {
            Event::Response(response) => ends.push((response.id, response.outcome.name().to_owned())),
            Event::LateResponse(response) => ends.push((response.id, format!("late {}", response.outcome.name()))),
            Event::Violation(violation) => ends.push((violation.id.unwrap(), violation.rule.to_string())),
            Event::Closed(closed) => assert_eq!(closed.reason, CloseReason::EndOfStream),
            other => panic!("{other:?}"),
        }
    }
    let expected: Vec<(Id, String)> = [
        (&by_time, "timeout"),
        (&by_answer, "result"),
        (&by_answer, "RPC-16"),
        (&by_error, "error"),
        (&by_nonsense, "RPC-04"),
        (&by_nonsense, "invalid"),
        (&by_time, "late result"),
        (&by_end, "closed"),
    ]
    .into_iter()
    .map(|(id, name)| (id.clone(), name.to_owned()))
    .collect();
    assert_eq!(ends, expected);
    assert_eq!(client.request("_f", "{}").unwrap_err().kind, MisuseKind::Phase);
}

#[test]
fn terminals_are_followed_on_both_sides() {
    let (mut client, mut agent) = session_pair();
    let ask = |method: &str, params: &str, answer: &str, client: &mut Connection, agent: &mut Connection| {
        agent.request(method, params).unwrap();
        let (asked, _) = pump(client, agent, usize::MAX);
        let Some(Event::Request(request)) = asked.last() else { panic!("{asked:?}") };
        client.respond(&request.id, answer).unwrap();
        pump(client, agent, usize::MAX);
    };
    ask("terminal/create", r#"{"sessionId":"s","command":"ls"}"#, r#"{"terminalId":"t"}"#, &mut client, &mut agent);
    assert_eq!(client.open_terminals(), agent.open_terminals());
    assert_eq!(client.open_terminals().len(), 1);
    let named = r#"{"sessionId":"s","terminalId":"t"}"#;
    ask("terminal/wait_for_exit", named, r#"{"exitCode":0}"#, &mut client, &mut agent);
    assert!(agent.session("s").unwrap().terminals["t"]);
    ask("terminal/release", named, "{}", &mut client, &mut agent);
    assert!(client.open_terminals().is_empty() && agent.open_terminals().is_empty());
}

#[test]
fn version_2_needs_the_hosts_consent() {
    for (client_allows, agent_allows, agreed) in [(true, true, 2), (true, false, 1), (false, true, 1)] {
        let config = |mut config: Config, allow| {
            config.versions = if allow { Versions::ALL } else { Versions::only(1) };
            Connection::new(config)
        };
        let (mut client, mut agent) = (config(Config::client(), client_allows), config(Config::agent(), agent_allows));
        let hello = if client_allows { r#"{"info":{"name":"c","version":"1"},"capabilities":{}}"# } else { "{}" };
        client.request("initialize", hello).unwrap();
        let (_, asked) = pump(&mut client, &mut agent, usize::MAX);
        let [Event::Request(request)] = asked.as_slice() else { panic!("{asked:?}") };
        let answer =
            if agreed == 2 { r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}"# } else { "{}" };
        agent.respond(&request.id, answer).unwrap();
        pump(&mut client, &mut agent, usize::MAX);
        assert_eq!((client.version(), agent.version()), (Some(agreed), Some(agreed)));
    }
}

#[test]
fn whole_messages_need_no_line_ends() {
    let mut config = Config::client();
    config.framing = Framing::Messages;
    let mut client = Connection::new(config);
    client.request("initialize", "{\n \"clientInfo\": {\"name\": \"x\",\r\n \"version\": \"1\"}}").unwrap();
    let text = take(&mut client);
    assert!(!text.contains(['\n', '\r']), "{text}");
    client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{\"protocolVersion\":1}}");
    assert!(matches!(drain(&mut client).as_slice(), [Event::Response(_)]));
}

/// LIMIT-07: what a peer names may be remembered, so it is short; the refusal does not carry it back.
#[test]
fn a_name_is_not_as_long_as_a_frame() {
    let long = "x".repeat(5_000);
    let ids = format!(r#""{long}""#);
    let cancel = format!(r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{long}"}}}}"#);
    let cases = [
        (format!(r#"{{"jsonrpc":"2.0","id":{ids},"method":"_x"}}"#), Some("null")),
        (format!(r#"{{"jsonrpc":"2.0","id":5,"method":"_{long}"}}"#), Some("5")),
        (format!(r#"{{"jsonrpc":"2.0","method":"_{long}"}}"#), None),
        (cancel, None),
    ];
    for (message, answered) in cases {
        let (_, mut agent) = session_pair();
        agent.receive(format!("{message}\n").as_bytes());
        let events = drain(&mut agent);
        let [Event::Violation(violation)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(violation.rule, "LIMIT-07");
        let sent = take(&mut agent);
        assert_eq!(crate::json::pointer(sent.trim_end(), "/id"), answered, "{sent}");
        assert!(!sent.contains(&long));
    }
}

/// A peer that provokes answers and reads none is read no further, until the host has written them.
#[test]
fn own_answers_hold_back_what_provokes_them() {
    let mut agent = Connection::new(Config { limits: Limits { frame: 100, ..Limits::default() }, ..Config::agent() });
    let noise = "[]\n".repeat(50_000);
    agent.receive(noise.as_bytes());
    let mut told = drain(&mut agent).len();
    let waiting = agent.transmit().len();
    assert!(waiting > MIN_REPLY_BUDGET && waiting < MIN_REPLY_BUDGET + 1_000 && agent.buffered() > 0, "{waiting}");
    assert_eq!(agent.poll_timeout(), None);
    agent.handle_timeout(7);
    while !agent.transmit().is_empty() {
        assert_eq!(drain(&mut agent).len(), 0);
        take(&mut agent);
        assert_eq!(agent.poll_timeout(), (agent.buffered() > 0).then_some(7));
        told += drain(&mut agent).len();
    }
    assert_eq!((told, agent.buffered(), agent.poll_timeout()), (50_000, 0, None));
}

#[test]
fn foreign_methods_have_names_that_nobody_else_gives() {
    let mut config = Config::client();
    let longest = "x".repeat(4096);
    for name in ["vendor/x", "session/fancy", "vendor/x", "Rpc.x", "$", &longest] {
        assert_eq!(config.foreign_method(name), Ok(()));
    }
    assert!(config.foreign_methods().eq(["vendor/x", "session/fancy", "Rpc.x", "$", &*longest]));
    let longer = "x".repeat(4097);
    for (name, why) in [
        ("", NotForeign::Length),
        (&*longer, NotForeign::Length),
        ("_", NotForeign::Extension),
        ("_vendor/x", NotForeign::Extension),
        ("rpc.x", NotForeign::Reserved),
        ("$/x", NotForeign::Reserved),
        ("session/prompt", NotForeign::Specified),
        // A draft's, and one that only version 2 has.
        ("session/fork", NotForeign::Specified),
        ("auth/login", NotForeign::Specified),
    ] {
        assert_eq!(config.foreign_method(name), Err(why), "{name}");
    }
}
