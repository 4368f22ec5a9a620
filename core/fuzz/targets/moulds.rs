//! Repeated messages: a connection that may know a line from the lines before reads it as one does that cannot.
//!
//! An input is lines of an agent's, which are read in both versions, with all drafts and with none. The second
//! connection gets each with some more spaces in it, so that it is never equal to one before.

use libacp::connection::{Event, Versions};
use libacp::schema::drafts::DRAFTS;
use libacp::{Config, Connection};

pub(crate) fn run(data: &[u8]) {
    for (version, drafts) in [(1, false), (1, true), (2, false), (2, true)] {
        lines(data, version, drafts);
    }
}

fn lines(data: &[u8], version: u16, drafts: bool) {
    let (mut plain, mut spaced) = (client(version, drafts), client(version, drafts));
    for (at, line) in data.split(|&byte| byte == b'\n').take(64).enumerate() {
        let mut wide = line.to_vec();
        if line.starts_with(b"{") {
            wide.splice(1..1, [b' '].repeat(1 + at));
        }
        let (one, other) = (feed(&mut plain, line), feed(&mut spaced, &wide));
        assert_eq!(one, other, "{}", String::from_utf8_lossy(line));
    }
}

fn client(version: u16, drafts: bool) -> Connection {
    let mut config = Config::client();
    config.versions = Versions::only(version);
    for name in DRAFTS.iter().filter(|_| drafts) {
        config.draft(name).expect("a draft");
    }
    let mut client = Connection::new(config);
    let line = |client: &mut Connection, answer: &str| {
        client.receive(answer.as_bytes());
        client.receive(b"\n");
        while client.poll_event().is_some() {}
    };
    if version == 1 {
        client.request("initialize", "{}").expect("initialize");
        line(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
    } else {
        client.request("initialize", r#"{"info":{"name":"c","version":"1"}}"#).expect("initialize");
        line(
            &mut client,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#,
        );
    }
    client.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).expect("session/new");
    line(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}"#);
    let prompt = r#"{"sessionId":"s-1","prompt":[{"type":"text","text":"x"}]}"#;
    client.request("session/prompt", prompt).expect("session/prompt");
    client.consume(usize::MAX);
    client
}

fn feed(client: &mut Connection, line: &[u8]) -> Vec<String> {
    client.receive(line);
    client.receive(b"\n");
    let mut out = Vec::new();
    while let Some(mut event) = client.poll_event() {
        if let Event::Violation(violation) = &mut event {
            violation.excerpt.clear();
            // Places in the text are further back.
            if let Some(at) = violation.message.find(" at byte") {
                violation.message.truncate(at);
            }
        }
        out.push(format!("{event:?}"));
    }
    out.push(String::from_utf8(client.transmit().to_vec()).expect("UTF-8 is sent"));
    client.consume(usize::MAX);
    out
}
