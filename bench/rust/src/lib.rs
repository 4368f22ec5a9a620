//! Clients that are ready for updates. The works are in `main.rs` and the files beside it; how programs are called and
//! measure is in `rust-measure`.
#![forbid(unsafe_code)]

use libacp::{Config, Connection};

/// The answer that opens the session of W4: all that the mix changes.
pub const SESSION: &str = r#"{"sessionId":"s-0","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]},"configOptions":[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"big","options":[{"value":"big","name":"Big"},{"value":"small","name":"Small"}]}]}"#;

/// Passes bytes to a connection, and takes all events.
pub fn feed(connection: &mut Connection, message: &str) {
    connection.receive(message.as_bytes());
    connection.receive(b"\n");
    while connection.poll_event().is_some() {}
    connection.consume(usize::MAX);
}

/// A client whose one session is at work.
///
/// # Panics
/// When it is refused what it asks.
pub fn client(session: &str) -> Connection {
    client_with(Config::client(), session)
}

/// The same with another configuration.
///
/// # Panics
/// When it is refused what it asks.
pub fn client_with(config: Config, session: &str) -> Connection {
    let mut client = idle_client_with(config, session);
    client.request("session/prompt", r#"{"sessionId":"s-0","prompt":[]}"#).expect("a prompt");
    client.consume(usize::MAX);
    client
}

/// A client with one session.
///
/// # Panics
/// When it is refused what it asks.
pub fn idle_client(session: &str) -> Connection {
    idle_client_with(Config::client(), session)
}

fn idle_client_with(config: Config, session: &str) -> Connection {
    let mut client = Connection::new(config);
    client.request("initialize", r#"{"clientCapabilities":{}}"#).expect("a greeting");
    feed(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).expect("a session");
    feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":2,"result":{session}}}"#));
    client
}
