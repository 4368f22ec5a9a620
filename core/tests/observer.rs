//! Who looks on sees what both sides do, whatever they do, and answers nothing.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/recording.rs"]
mod recording;

use std::collections::BTreeMap;
use std::fs;

use libacp::connection::{Consequence, Event, Observer, Outcome, Phase, Turn};
use libacp::framing::Framing;
use libacp::{Config, ErrorCode, Role};

fn observer() -> Observer {
    Observer::default()
}

/// What one side says, without the line end and the member that all messages have.
fn say(observer: &mut Observer, from: Role, members: &str) {
    observer.receive(from, format!("{{\"jsonrpc\":\"2.0\",{members}}}\n").as_bytes());
}

fn drain(observer: &mut Observer) -> Vec<(Role, Event)> {
    std::iter::from_fn(|| observer.poll_event()).collect()
}

/// The violations among events: who, the rule, and what a receiver does.
fn broken(events: &[(Role, Event)]) -> Vec<(Role, String, Consequence)> {
    let violation = |(from, event): &(Role, Event)| match event {
        Event::Violation(violation) => Some((*from, violation.rule.to_string(), violation.consequence)),
        _ => None,
    };
    events.iter().filter_map(violation).collect()
}

/// Both have said hello in this version, and a session is open.
fn opened(version: u16) -> Observer {
    let mut observer = observer();
    let (hello, welcome) = if version == 1 {
        (r#""clientCapabilities":{}"#, r#""agentCapabilities":{}"#)
    } else {
        (
            r#""info":{"name":"c","version":"1"},"capabilities":{}"#,
            r#""info":{"name":"a","version":"1"},"capabilities":{"session":{}}"#,
        )
    };
    say(
        &mut observer,
        Role::Client,
        &format!(r#""id":0,"method":"initialize","params":{{"protocolVersion":{version},{hello}}}"#),
    );
    say(&mut observer, Role::Agent, &format!(r#""id":0,"result":{{"protocolVersion":{version},{welcome}}}"#));
    say(&mut observer, Role::Client, r#""id":1,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}"#);
    say(&mut observer, Role::Agent, r#""id":1,"result":{"sessionId":"s"}"#);
    let events = drain(&mut observer);
    assert_eq!(broken(&events), []);
    assert_eq!(events.len(), 4, "{events:?}");
    assert_eq!((observer.version(), observer.phase()), (Some(version), Phase::Ready));
    assert_eq!(observer.sessions().map(|(id, _)| &**id).collect::<Vec<_>>(), ["s"]);
    observer
}

#[test]
fn a_turn_is_followed_from_both_sides() {
    let mut observer = opened(1);
    say(
        &mut observer,
        Role::Client,
        r#""id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#,
    );
    say(
        &mut observer,
        Role::Agent,
        r#""id":2,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}"#,
    );
    let before = drain(&mut observer);
    assert_eq!(observer.session("s").map(|session| session.turn), Some(Turn::Running));
    let open = |observer: &Observer, of| {
        observer.open_requests(of).map(|request| request.method.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(open(&observer, Role::Client), ["session/prompt"]);
    assert_eq!(open(&observer, Role::Agent), ["session/request_permission"]);
    say(&mut observer, Role::Client, r#""method":"session/cancel","params":{"sessionId":"s"}"#);
    say(&mut observer, Role::Client, r#""id":2,"result":{"outcome":{"outcome":"cancelled"}}"#);
    say(&mut observer, Role::Agent, r#""id":2,"result":{"stopReason":"cancelled"}"#);
    let events: Vec<_> = before.into_iter().chain(drain(&mut observer)).collect();
    assert_eq!(broken(&events), []);
    let names: Vec<_> = events.iter().map(|(from, event)| (*from, event.name())).collect();
    assert_eq!(
        names,
        [
            (Role::Client, "request"),
            (Role::Agent, "request"),
            (Role::Client, "notification"),
            (Role::Client, "response"),
            (Role::Agent, "response")
        ]
    );
    assert_eq!(observer.session("s").map(|session| session.turn), Some(Turn::Idle));
    assert!(open(&observer, Role::Client).is_empty() && open(&observer, Role::Agent).is_empty());
}

#[test]
fn what_should_be_refused_is_followed() {
    let mut observer = opened(1);
    // Not advertised, with a relative path, for a session that there is not; and served all the same.
    say(
        &mut observer,
        Role::Client,
        r#""id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/work","mcpServers":[]}"#,
    );
    say(
        &mut observer,
        Role::Agent,
        r#""method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}"#,
    );
    say(&mut observer, Role::Agent, r#""id":2,"result":{}"#);
    say(&mut observer, Role::Client, r#""id":3,"method":"session/new","params":{"cwd":"work","mcpServers":[]}"#);
    say(&mut observer, Role::Agent, r#""id":3,"result":{"sessionId":"t"}"#);
    say(&mut observer, Role::Client, r#""id":4,"method":"session/prompt","params":{"sessionId":"none","prompt":[]}"#);
    say(&mut observer, Role::Agent, r#""id":4,"error":{"code":-32002,"message":"no such session"}"#);
    let events = drain(&mut observer);
    let refused = |code| Consequence::Refused(code);
    assert_eq!(
        broken(&events),
        [
            (Role::Client, "SESS-09".to_owned(), Consequence::Delivered),
            (Role::Client, "SESS-04".to_owned(), refused(ErrorCode::INVALID_PARAMS)),
            (Role::Client, "SESS-01".to_owned(), refused(ErrorCode::RESOURCE_NOT_FOUND)),
        ]
    );
    let mut open: Vec<_> = observer.sessions().map(|(id, _)| id.to_string()).collect();
    open.sort_unstable();
    assert_eq!(open, ["old", "s", "t"]);
    let ends = events.iter().filter_map(|(from, event)| match event {
        Event::Response(response) => {
            Some((*from, response.id.to_string(), matches!(response.outcome, Outcome::Error(_))))
        }
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    assert_eq!(
        ends,
        [
            (Role::Agent, "2".to_owned(), false),
            (Role::Agent, "3".to_owned(), false),
            (Role::Agent, "4".to_owned(), true)
        ]
    );
}

#[test]
fn each_side_is_told_what_is_its_own_fault() {
    let mut observer = opened(1);
    say(
        &mut observer,
        Role::Agent,
        r#""id":9,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/work/a"}"#,
    );
    say(&mut observer, Role::Client, r#""id":9,"error":{"code":-32601,"message":"no"}"#);
    say(&mut observer, Role::Agent, r#""id":7,"result":{}"#);
    say(&mut observer, Role::Client, r#""id":7,"result":{}"#);
    observer.receive(Role::Client, b"noise\n");
    observer.receive(Role::Agent, b"noise\n");
    let rules: Vec<_> = broken(&drain(&mut observer)).into_iter().map(|(from, rule, _)| (from, rule)).collect();
    let expected = [
        (Role::Agent, "FS-01"),
        (Role::Agent, "RPC-13"),
        (Role::Client, "RPC-13"),
        (Role::Client, "FRAME-05"),
        (Role::Agent, "FRAME-04"),
    ];
    assert_eq!(rules, expected.map(|(from, rule)| (from, rule.to_owned())));
}

#[test]
fn a_batch_is_answered_by_the_other_side() {
    let mut observer = opened(2);
    observer.receive(
        Role::Client,
        b"[{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"_a\"},{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/list\",\"params\":{}}]\n",
    );
    observer.receive(
        Role::Agent,
        b"[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"sessions\":[]}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1}]\n",
    );
    let events = drain(&mut observer);
    assert_eq!(broken(&events), []);
    let names: Vec<_> = events.iter().map(|(_, event)| event.name()).collect();
    assert_eq!(names, ["request", "request", "response", "response"]);
}

#[test]
fn an_initialize_that_failed_is_tried_again() {
    let mut observer = observer();
    let hello =
        r#""method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}"#;
    say(&mut observer, Role::Client, &format!("\"id\":0,{hello}"));
    say(&mut observer, Role::Agent, r#""id":0,"error":{"code":-32603,"message":"later"}"#);
    assert_eq!(broken(&drain(&mut observer)), []);
    assert_eq!((observer.version(), observer.phase()), (None, Phase::Start));
    say(&mut observer, Role::Client, r#""id":1,"method":"initialize","params":{"protocolVersion":1}"#);
    say(&mut observer, Role::Agent, r#""id":1,"result":{"protocolVersion":1}"#);
    assert_eq!(broken(&drain(&mut observer)), []);
    assert_eq!((observer.version(), observer.phase()), (Some(1), Phase::Ready));
}

#[test]
fn the_agent_may_answer_an_older_version() {
    let mut observer = observer();
    say(
        &mut observer,
        Role::Client,
        r#""id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{},"clientCapabilities":{"terminal":true}}"#,
    );
    say(
        &mut observer,
        Role::Agent,
        r#""id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#,
    );
    assert_eq!(broken(&drain(&mut observer)), []);
    assert_eq!(observer.version(), Some(1));
    assert_eq!(observer.capabilities(Role::Client), r#"{"terminal":true}"#);
    assert_eq!(observer.capabilities(Role::Agent), r#"{"loadSession":true}"#);
}

#[test]
fn the_end_of_both_streams_is_the_last_event() {
    let mut observer = opened(1);
    say(&mut observer, Role::Client, r#""id":2,"method":"session/list","params":{}"#);
    observer
        .receive(Role::Client, b"{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s\"}}");
    observer.receive_eof(Role::Client);
    assert!(!drain(&mut observer).iter().any(|(_, event)| matches!(event, Event::Closed(_))));
    observer.receive_eof(Role::Agent);
    observer.receive_eof(Role::Agent);
    let names: Vec<_> = drain(&mut observer).into_iter().map(|(from, event)| (from, event.name())).collect();
    assert_eq!(names, [(Role::Client, "response"), (Role::Agent, "closed")]);
    observer.receive(Role::Client, b"{}\n");
    assert!(drain(&mut observer).is_empty());
}

#[test]
fn what_waits_is_read_when_it_is_asked_for() {
    let mut observer = opened(1);
    let call = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"_x/list\"}}\n");
    let (first, second) = (call(2), call(3));
    let (start, rest) = second.as_bytes().split_at(20);
    observer.receive(Role::Client, first.as_bytes());
    observer.receive(Role::Client, start);
    observer.receive(Role::Agent, b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessions\":[]}}\n");
    observer.receive(Role::Client, rest);
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"sessions\":[]}}\n";
    for byte in answer {
        observer.receive(Role::Agent, &[*byte]);
    }
    assert_eq!(observer.open_requests(Role::Client).count(), 0);
    assert_eq!(observer.buffered(), first.len() + second.len() + 2 * answer.len());
    let events = drain(&mut observer);
    assert_eq!(broken(&events), []);
    let names: Vec<_> = events.iter().map(|(_, event)| event.name()).collect();
    assert_eq!(names, ["request", "response", "request", "response"]);
    assert_eq!(observer.buffered(), 0);
}

#[test]
fn messages_stay_apart_where_the_transport_keeps_them_apart() {
    let mut config = Config::client();
    config.framing = Framing::Messages;
    let mut observer = Observer::new(config);
    observer.receive(Role::Client, br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    observer.receive(Role::Agent, br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#);
    for id in 1..4 {
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/list","params":{{}}}}"#);
        observer.receive(Role::Client, call.as_bytes());
    }
    let events = drain(&mut observer);
    assert_eq!(events.iter().filter(|(_, event)| event.name() == "request").count(), 4, "{events:?}");
}

/// Whatever the two sides do, no more is kept than the limits allow: refused requests and their sessions are followed up to
/// them.
#[test]
fn what_is_over_a_limit_is_not_followed() {
    let mut config = Config::client();
    (config.limits.pending, config.limits.sessions) = (8, 4);
    let mut observer = Observer::new(config);
    say(&mut observer, Role::Client, r#""id":0,"method":"initialize","params":{"protocolVersion":1}"#);
    say(&mut observer, Role::Agent, r#""id":0,"result":{"protocolVersion":1}"#);
    for round in 0..20 {
        // Each wrong, so that a receiver should refuse it.
        for id in 0..20 {
            let id = 100 * round + id;
            say(
                &mut observer,
                Role::Client,
                &format!(r#""id":{id},"method":"session/new","params":{{"cwd":"work","mcpServers":[]}}"#),
            );
        }
        drain(&mut observer);
        assert_eq!(observer.open_requests(Role::Client).count(), 8);
        for id in 0..20 {
            let id = 100 * round + id;
            say(&mut observer, Role::Agent, &format!(r#""id":{id},"result":{{"sessionId":"s-{id}"}}"#));
        }
        drain(&mut observer);
        assert_eq!(observer.open_requests(Role::Client).count(), 0);
        assert!(observer.sessions().count() <= 4 + 8, "{} sessions", observer.sessions().count());
    }
}

#[test]
fn both_sides_may_end_in_any_order_and_more_than_once() {
    for first in [Role::Client, Role::Agent] {
        let mut observer = opened(1);
        say(&mut observer, Role::Client, r#""id":2,"method":"_x/list""#);
        observer.receive_eof(first);
        observer.receive_eof(first);
        observer.receive(first, b"{}\n");
        assert_eq!(drain(&mut observer).len(), 1);
        observer.receive_eof(first.other());
        let names: Vec<_> = drain(&mut observer).into_iter().map(|(from, event)| (from, event.name())).collect();
        assert_eq!(names, [(Role::Client, "response"), (first.other(), "closed")]);
        assert_eq!(observer.phase(), Phase::Closed);
    }
}

/// How often which side of which recording breaks which rule. Every language is held to this list.
const OBSERVED: &str = "../tests/recordings/observed.txt";

/// The recordings, in any split, with what each side is accused of.
#[test]
fn recordings_are_seen_alike_in_any_split() {
    let mut lines = Vec::new();
    for path in recording::all() {
        let records = recording::records(&path);
        let look = |piece: usize, poll: bool| {
            let (mut observer, mut events) = (observer(), Vec::new());
            for (direction, bytes) in &records {
                let from = match direction {
                    '>' => Role::Client,
                    '<' => Role::Agent,
                    _ => continue,
                };
                for bytes in bytes.chunks(piece.min(bytes.len().max(1))) {
                    observer.receive(from, bytes);
                    if poll {
                        events.extend(std::iter::from_fn(|| observer.poll_event()));
                    }
                }
            }
            events.extend(drain(&mut observer));
            events
        };
        let name = recording::name(&path);
        let whole = look(usize::MAX, true);
        assert!(whole.len() > 6, "{name}: {} events", whole.len());
        for (piece, poll) in [(1, true), (7, true), (7, false), (usize::MAX, false)] {
            assert_eq!(look(piece, poll), whole, "{name} in pieces of {piece}");
        }
        let mut tally: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for (from, rule, _) in broken(&whole) {
            *tally.entry((from.name(), rule)).or_default() += 1;
        }
        lines.extend(tally.into_iter().map(|((side, rule), count)| format!("{name} {side} {rule} {count}")));
    }
    if std::env::var_os("UPDATE_RECORDINGS").is_some() {
        fs::write(OBSERVED, lines.join("\n") + "\n").unwrap();
    }
    let listed = fs::read_to_string(OBSERVED).unwrap();
    assert_eq!(lines, listed.lines().collect::<Vec<_>>());
}
