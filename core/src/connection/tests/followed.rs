//! Tests of what is followed of a session and shows in no event.

use crate::connection::{Config, Connection, Session};

/// A client with one open session, `s`, whose `session/new` was answered with these members beside its id.
fn opened(capabilities: &str, members: &str) -> Connection {
    open_with(Config::client(), capabilities, members)
}

fn open_with(config: Config, capabilities: &str, members: &str) -> Connection {
    let mut client = Connection::new(config);
    client.request("initialize", &format!(r#"{{"clientCapabilities":{capabilities}}}"#)).unwrap();
    receive(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
    client.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).unwrap();
    answer(&mut client, 2, &format!(r#"{{"sessionId":"s"{members}}}"#));
    client
}

fn receive(client: &mut Connection, message: &str) {
    client.receive(message.as_bytes());
    client.receive(b"\n");
    while client.poll_event().is_some() {}
}

fn answer(client: &mut Connection, id: i64, result: &str) {
    receive(client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

fn update(client: &mut Connection, update: &str) {
    let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
    receive(client, &format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#));
}

fn session(client: &Connection) -> &Session {
    client.session("s").unwrap()
}

const MODES: &str =
    r#","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"A"},{"id":"code","name":"C"}]}"#;

fn option(id: &str, category: &str, value: &str) -> String {
    format!(
        r#"{{"id":"{id}","name":"N","category":"{category}","type":"select","currentValue":"{value}","options":[{{"value":"ask","name":"A"}},{{"value":"code","name":"C"}}]}}"#
    )
}

#[test]
fn a_mode_is_in_force_once_the_agent_has_agreed() {
    let mut client = opened("{}", MODES);
    assert_eq!(session(&client).mode().unwrap(), "ask");
    client.request("session/set_mode", r#"{"sessionId":"s","modeId":"code"}"#).unwrap();
    assert_eq!(session(&client).mode().unwrap(), "ask");
    receive(&mut client, r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}}"#);
    assert_eq!(session(&client).mode().unwrap(), "ask");
    client.request("session/set_mode", r#"{"sessionId":"s","modeId":"code"}"#).unwrap();
    answer(&mut client, 4, "{}");
    assert_eq!(session(&client).mode().unwrap(), "code");
    update(&mut client, r#"{"sessionUpdate":"current_mode_update","currentModeId":"ask"}"#);
    assert_eq!(session(&client).mode().unwrap(), "ask");
}

#[test]
fn the_option_for_modes_goes_before_modes() {
    let mut client = opened("{}", &format!(r#"{MODES},"configOptions":[{}]"#, option("o", "mode", "ask")));
    update(&mut client, r#"{"sessionUpdate":"current_mode_update","currentModeId":"code"}"#);
    assert_eq!(session(&client).mode().unwrap(), "ask");
}

#[test]
fn options_are_kept_in_order_and_replaced_as_a_whole() {
    let (first, second) = (option("b", "model", "ask"), option("a", "model", "ask"));
    let mut client = opened("{}", &format!(r#","configOptions":[{first},{second}]"#));
    assert_eq!(session(&client).config_options(), Some(&*format!("[{first},{second}]")));
    let both = format!("[{},{}]", option("a", "model", "code"), option("b", "model", "code"));
    client.request("session/set_config_option", r#"{"sessionId":"s","configId":"a","value":"code"}"#).unwrap();
    assert_eq!(session(&client).config_options(), Some(&*format!("[{first},{second}]")));
    answer(&mut client, 3, &format!(r#"{{"configOptions":{both}}}"#));
    assert_eq!(session(&client).config_options(), Some(&*both));
    update(&mut client, &format!(r#"{{"sessionUpdate":"config_option_update","configOptions":[{first}]}}"#));
    assert_eq!(session(&client).config_options(), Some(&*format!("[{first}]")));
    let gone = client.request("session/set_config_option", r#"{"sessionId":"s","configId":"a","value":"ask"}"#);
    assert_eq!(gone.unwrap_err().rule, "CONF-05");
}

fn tools(client: &Connection) -> Vec<(&str, &str)> {
    session(client).tool_calls().collect()
}

#[test]
fn tool_calls_keep_what_updates_leave_out() {
    let mut client = opened("{}", "");
    update(&mut client, r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"A"}"#);
    update(&mut client, r#"{"sessionUpdate":"tool_call","toolCallId":"b","title":"B","status":"in_progress"}"#);
    assert_eq!(tools(&client), [("a", "pending"), ("b", "in_progress")]);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","title":"C"}"#);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":null}"#);
    assert_eq!(tools(&client), [("a", "pending"), ("b", "in_progress")]);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"failed"}"#);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}"#);
    assert_eq!(tools(&client), [("a", "completed"), ("b", "failed")]);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"pending"}"#);
    assert_eq!(tools(&client), [("a", "pending"), ("b", "failed")]);
}

#[test]
fn a_cancel_marks_what_the_turn_has_not_finished() {
    let mut client = opened("{}", "");
    let call = |id: &str, status: &str| {
        format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"T","status":"{status}"}}"#)
    };
    update(&mut client, &call("of no turn", "pending"));
    client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    client.request("session/prompt", r#"{"sessionId":"s","prompt":[]}"#).unwrap();
    for (id, status) in [("a", "pending"), ("b", "in_progress"), ("c", "completed"), ("d", "failed")] {
        update(&mut client, &call(id, status));
    }
    client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    assert_eq!(tools(&client)[0], ("of no turn", "pending"));
    assert_eq!(tools(&client)[1..], [("a", "cancelled"), ("b", "cancelled"), ("c", "completed"), ("d", "failed")]);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"U"}"#);
    update(&mut client, r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"completed"}"#);
    assert_eq!(tools(&client)[1..3], [("a", "cancelled"), ("b", "completed")]);
}

#[test]
fn a_cancel_leaves_the_calls_of_earlier_turns_alone() {
    let mut client = opened("{}", "");
    client.request("session/prompt", r#"{"sessionId":"s","prompt":[]}"#).unwrap();
    update(&mut client, r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"A"}"#);
    answer(&mut client, 3, r#"{"stopReason":"end_turn"}"#);
    client.request("session/prompt", r#"{"sessionId":"s","prompt":[]}"#).unwrap();
    update(&mut client, r#"{"sessionUpdate":"tool_call","toolCallId":"b","title":"B"}"#);
    client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    assert_eq!(tools(&client), [("a", "pending"), ("b", "cancelled")]);
}

#[test]
fn the_requests_below_a_cancelled_turn_are_listed_with_their_session() {
    let mut agent = Connection::new(Config::agent());
    let hello = r#"{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}"#;
    receive(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#));
    agent.respond(&crate::Id::from(0), "{}").unwrap();
    for (id, session) in [(1, "s"), (2, "other")] {
        let new = r#"{"cwd":"/w","mcpServers":[]}"#;
        receive(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/new","params":{new}}}"#));
        agent.respond(&crate::Id::from(id), &format!(r#"{{"sessionId":"{session}"}}"#)).unwrap();
        let prompt = format!(r#"{{"sessionId":"{session}","prompt":[]}}"#);
        receive(
            &mut agent,
            &format!(r#"{{"jsonrpc":"2.0","id":"{session}","method":"session/prompt","params":{prompt}}}"#),
        );
        agent.request("fs/read_text_file", &format!(r#"{{"sessionId":"{session}","path":"/w/x"}}"#)).unwrap();
    }
    receive(&mut agent, r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
    let nested = agent.pending().filter(|request| request.session.as_deref() == Some("s"));
    let nested: Vec<_> = nested.map(|request| (request.id.clone(), &*request.method)).collect();
    assert_eq!(nested, [(1.into(), "fs/read_text_file")]);
}

#[test]
fn a_tool_call_outlives_the_terminal_that_it_showed() {
    let mut client = opened(r#"{"terminal":true}"#, "");
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"ls"}}"#,
    );
    client.respond(&crate::Id::from(1), r#"{"terminalId":"t"}"#).unwrap();
    update(
        &mut client,
        r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"A","content":[{"type":"terminal","terminalId":"t"}]}"#,
    );
    receive(
        &mut client,
        r#"{"jsonrpc":"2.0","id":2,"method":"terminal/release","params":{"sessionId":"s","terminalId":"t"}}"#,
    );
    client.respond(&crate::Id::from(2), "{}").unwrap();
    assert!(client.open_terminals().is_empty());
    assert_eq!(tools(&client), [("a", "pending")]);
}

#[test]
fn no_more_tool_calls_are_remembered_than_the_limit_says() {
    let mut client = opened("{}", "");
    for number in 0..5_000 {
        update(&mut client, &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{number}","title":"A"}}"#));
    }
    let limit = client.config().limits.remembered;
    assert_eq!(tools(&client).len(), limit);
    assert_eq!(tools(&client)[0].0, (5_000 - limit).to_string());
    // An update of one that was forgotten is no false alarm.
    let params = r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"0"}}"#;
    let message = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{params}}}\n");
    client.receive(message.as_bytes());
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(events.iter().map(crate::connection::Event::name).collect::<Vec<_>>(), ["notification"]);
}

#[test]
fn a_plan_takes_the_place_of_the_one_before() {
    let mut client = opened("{}", "");
    let entry = |content: &str| format!(r#"{{"content":"{content}","priority":"high","status":"pending"}}"#);
    let (two, one) = (format!("[{},{}]", entry("a"), entry("b")), format!("[{}]", entry("c")));
    update(&mut client, &format!(r#"{{"sessionUpdate":"plan","entries":{two}}}"#));
    assert_eq!(session(&client).plan(), Some(&*two));
    update(&mut client, &format!(r#"{{"sessionUpdate":"plan","entries":{one}}}"#));
    assert_eq!(session(&client).plan(), Some(&*one));
}

#[test]
fn a_plan_that_is_removed_is_gone() {
    let mut config = Config::client();
    config.draft("plan_operations").unwrap();
    let mut client = open_with(config, r#"{"plan":{}}"#, "");
    for id in ["a", "b"] {
        let plan = format!(r#"{{"type":"markdown","planId":"{id}","content":""}}"#);
        update(&mut client, &format!(r#"{{"sessionUpdate":"plan_update","plan":{plan}}}"#));
    }
    assert_eq!(session(&client).plan_ids().collect::<Vec<_>>(), ["a", "b"]);
    for id in ["a", "other"] {
        update(&mut client, &format!(r#"{{"sessionUpdate":"plan_removed","planId":"{id}"}}"#));
        assert_eq!(session(&client).plan_ids().collect::<Vec<_>>(), ["b"]);
    }
}

#[test]
fn commands_are_the_last_ones_told() {
    let mut client = opened("{}", "");
    assert_eq!(session(&client).commands(), None);
    let list = |name: &str| format!(r#"[{{"name":"{name}","description":"D"}}]"#);
    for name in ["plan", "web"] {
        let update_of =
            format!(r#"{{"sessionUpdate":"available_commands_update","availableCommands":{}}}"#, list(name));
        update(&mut client, &update_of);
        assert_eq!(session(&client).commands(), Some(&*list(name)));
    }
    assert_eq!(session(&client).command_text("web", "").unwrap(), "/web");
    assert_eq!(session(&client).command_text("web", "a b").unwrap(), "/web a b");
    assert_eq!(session(&client).command_text("plan", ""), None);
}

#[test]
fn compactions_are_open_until_their_final_status() {
    let mut client = opened(r#"{"session":{"compaction":{}}}"#, "");
    let mut say = |id: &str, status: &str| {
        let text = format!(r#"{{"sessionUpdate":"compaction_update","compactionId":"{id}","status":"{status}"}}"#);
        update(&mut client, &text);
        session(&client).open_compactions().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(say("a", "in_progress"), ["a"]);
    assert_eq!(say("b", "completed"), ["a"]);
    assert_eq!(say("c", "in_progress"), ["a", "c"]);
    assert_eq!(say("a", "cancelled"), ["c"]);
}

#[test]
fn the_peer_s_name_and_extensions_are_kept() {
    let mut client = Connection::new(Config::client());
    assert_eq!((client.peer_info(), client.peer_extension("x.dev")), ("{}", None));
    client.request("initialize", "{}").unwrap();
    let hello = r#"{"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"_meta":{"x.dev":{"n": 1.0},"y/~":null}}}"#;
    answer(&mut client, 1, hello);
    assert_eq!(client.peer_info(), hello);
    assert_eq!(client.peer_extension("x.dev"), Some(r#"{"n": 1.0}"#));
    assert_eq!(client.peer_extension("y/~"), Some("null"));
    assert_eq!(client.peer_extension("x"), None);
}
