//! Proofs of what is followed of a session and shows in no event.

use crate::connection::{Config, Connection, Session};

/// A client with one open session, `s`, whose `session/new` was answered with these members beside its id.
fn opened(capabilities: &str, members: &str) -> Connection {
    let mut client = Connection::new(Config::client());
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

/// Proves MODE-07.
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

/// Proves MODE-08.
#[test]
fn the_option_for_modes_goes_before_modes() {
    let mut client = opened("{}", &format!(r#"{MODES},"configOptions":[{}]"#, option("o", "mode", "ask")));
    update(&mut client, r#"{"sessionUpdate":"current_mode_update","currentModeId":"code"}"#);
    assert_eq!(session(&client).mode().unwrap(), "ask");
}

/// Proves CONF-01, CONF-15, CONF-07, CONF-17.
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
