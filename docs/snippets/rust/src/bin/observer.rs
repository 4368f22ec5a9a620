use libacp::connection::{Event, Observer};
use libacp::Role;

fn main() {
    let mut observer = Observer::default();
    for (from, bytes) in [
        (Role::Client, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n"),
        (Role::Agent, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}\nready!\n"),
        (
            Role::Client,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"work\",\"mcpServers\":[]}}\n",
        ),
    ] {
        observer.receive(from, bytes.as_bytes());
        while let Some((from, event)) = observer.poll_event() {
            if let Event::Violation(violation) = event {
                let pointer = if violation.pointer.is_empty() { "-" } else { &violation.pointer };
                println!("{} {} {pointer}", from.name(), violation.rule);
            }
        }
    }
}
