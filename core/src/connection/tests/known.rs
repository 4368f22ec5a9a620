//! Tests of what is known of a connection as a whole and shows in no event.

use crate::connection::{Config, Connection, Login, LoginKind};

const METHODS: &str = r#"[{"id":"web","name":"W"},{"id":"tty","name":"T","type":"terminal"},{"id":"web","name":"X"}]"#;

/// A client that has told these capabilities, and whose agent has answered with these members.
fn opened(config: Config, capabilities: &str, members: &str) -> Connection {
    let mut client = Connection::new(config);
    client.request("initialize", &format!(r#"{{"clientCapabilities":{capabilities}}}"#)).unwrap();
    receive(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1{members}}}}}"#));
    client
}

fn receive(client: &mut Connection, message: &str) {
    client.receive(message.as_bytes());
    client.receive(b"\n");
    while client.poll_event().is_some() {}
}

/// Calls, and gets this as the answer's result or error.
fn call(client: &mut Connection, method: &str, params: &str, answer: &str) {
    let id = client.request(method, params).unwrap();
    receive(client, &format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
}

const NEW: &str = r#"{"cwd":"/w","mcpServers":[]}"#;
const REFUSED: &str = r#""error":{"code":-32000,"message":"Authentication required"}"#;

#[test]
fn a_login_is_known_by_its_traces() {
    let members = format!(r#","agentCapabilities":{{"auth":{{"logout":{{}}}}}},"authMethods":{METHODS}"#);
    let mut client = opened(Config::client(), "{}", &members);
    assert_eq!(client.login(), Login::Unknown);
    call(&mut client, "session/new", NEW, REFUSED);
    assert_eq!(client.login(), Login::Required);
    call(&mut client, "authenticate", r#"{"methodId":"web"}"#, r#""error":{"code":-32603,"message":"no"}"#);
    assert_eq!(client.login(), Login::Required);
    call(&mut client, "authenticate", r#"{"methodId":"web"}"#, r#""result":{}"#);
    assert_eq!(client.login(), Login::Done);
    call(&mut client, "session/new", NEW, r#""result":{"sessionId":"s"}"#);
    assert!(!client.session("s").unwrap().auth_uncertain);
    call(&mut client, "logout", "{}", r#""error":{"code":-32603,"message":"no"}"#);
    assert_eq!((client.login(), client.session("s").unwrap().auth_uncertain), (Login::Done, false));
    call(&mut client, "logout", "{}", r#""result":{}"#);
    assert_eq!((client.login(), client.session("s").unwrap().auth_uncertain), (Login::Required, true));
    call(&mut client, "session/new", NEW, r#""result":{"sessionId":"t"}"#);
    assert_eq!(client.login(), Login::Unknown, "it works without, so nothing says that a login is needed");
    assert!(client.session("s").unwrap().auth_uncertain && !client.session("t").unwrap().auth_uncertain);
    call(&mut client, "authenticate", r#"{"methodId":"web"}"#, r#""result":{}"#);
    assert!(!client.session("s").unwrap().auth_uncertain);
}

#[test]
fn ways_to_log_in_are_those_that_can_be_used() {
    let methods = |capabilities| {
        let client = opened(Config::client(), capabilities, &format!(r#","authMethods":{METHODS}"#));
        client.login_methods().map(|(id, kind)| (id.to_owned(), kind)).collect::<Vec<_>>()
    };
    let web = ("web".to_owned(), LoginKind::Agent);
    assert_eq!(methods("{}"), std::slice::from_ref(&web));
    assert_eq!(methods(r#"{"auth":{"terminal":true}}"#), [web, ("tty".to_owned(), LoginKind::Terminal)]);
}

#[test]
fn an_agent_says_itself_whether_somebody_is_logged_in() {
    let mut config = Config::client();
    config.draft("auth_status").unwrap();
    let mut client = opened(config, "{}", r#","agentCapabilities":{"auth":{"status":{}}}"#);
    for (state, login) in [
        ("unauthenticated", Login::Required),
        ("unknown", Login::Required),
        ("not_required", Login::Done),
        ("_odd", Login::Done),
        ("unauthenticated", Login::Required),
        ("authenticated", Login::Done),
    ] {
        call(&mut client, "auth/status", "{}", &format!(r#""result":{{"state":"{state}"}}"#));
        assert_eq!(client.login(), login, "{state}");
    }
    let told = r#"{"jsonrpc":"2.0","method":"auth/status_update","params":{"state":"unauthenticated"}}"#;
    receive(&mut client, told);
    assert_eq!(client.login(), Login::Required);
}

#[test]
fn questions_on_web_pages_are_open_until_they_are_completed() {
    let capabilities = r#","agentCapabilities":{"sessionCapabilities":{"close":{}}}"#;
    let mut client = opened(Config::client(), r#"{"elicitation":{"url":{}}}"#, capabilities);
    call(&mut client, "session/new", NEW, r#""result":{"sessionId":"s"}"#);
    let open = |client: &Connection| client.open_elicitations().map(str::to_owned).collect::<Vec<_>>();
    for id in ["a", "b", "c"] {
        let params = format!(
            r#"{{"mode":"url","message":"M","elicitationId":"{id}","url":"https://x.example","sessionId":"s"}}"#
        );
        let request = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"elicitation/create","params":{params}}}"#);
        receive(&mut client, &request);
    }
    assert_eq!(open(&client), ["a", "b", "c"]);
    client.respond(&crate::Id::from("a"), r#"{"action":"accept"}"#).unwrap();
    client.respond(&crate::Id::from("b"), r#"{"action":"decline"}"#).unwrap();
    assert_eq!(open(&client), ["a", "c"]);
    receive(&mut client, r#"{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"a"}}"#);
    assert_eq!(open(&client), ["c"]);
    call(&mut client, "session/close", r#"{"sessionId":"s"}"#, r#""result":{}"#);
    assert!(open(&client).is_empty());
}

#[test]
fn a_provider_is_on_when_it_is_routed() {
    let mut config = Config::client();
    config.draft("llm_providers").unwrap();
    let mut client = opened(config, "{}", r#","agentCapabilities":{"providers":{}}"#);
    let list = r#""result":{"providers":[
        {"providerId":"a","supported":["openai"],"required":false,"current":{"apiType":"openai","baseUrl":"https://a.example"}},
        {"providerId":"b","supported":["openai"],"required":false,"current":null},
        {"providerId":"c","supported":[],"required":false}]}"#;
    call(&mut client, "providers/list", "{}", &list.replace('\n', " "));
    let on =
        |client: &Connection| client.providers().filter(|(_, on)| *on).map(|(id, _)| id.to_owned()).collect::<Vec<_>>();
    assert_eq!((client.providers().count(), on(&client)), (3, vec!["a".to_owned()]));
    call(
        &mut client,
        "providers/set",
        r#"{"providerId":"b","apiType":"openai","baseUrl":"https://b.example"}"#,
        r#""result":{}"#,
    );
    call(&mut client, "providers/disable", r#"{"providerId":"a"}"#, r#""result":{}"#);
    assert_eq!(on(&client), ["b"]);
}

#[test]
fn misuse_says_what_to_do_instead() {
    let client = opened(Config::client(), "{}", "");
    let why = client.why_not("session/load").unwrap().to_string();
    assert!(why.starts_with("SESS-09: ") && why.ends_with(r#"check before: can("session/load")"#), "{why}");
}

#[cfg(feature = "types")]
#[test]
fn typed_capabilities_say_what_is_not_supported() {
    let text = serde_json::to_string(&crate::schema::v1::ClientCapabilities::default()).unwrap();
    let expected = r#"{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false}}"#;
    assert_eq!(text, expected);
}
