//! Whatever an agent says, nothing of it steers the terminal in which a client prints it.

use std::process::{Command, Output};

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::future::join;
use futures::StreamExt;
use libacp::aio::{messages, Agent, Client, Turn};
use libacp::schema::v1::ToolKind;
use libacp_examples_async::talk;

const CLIENTS: [&str; 2] = [env!("CARGO_BIN_EXE_acp-tokio-client"), env!("CARGO_BIN_EXE_acp-smol-client")];
const AGENT: &str = env!("CARGO_BIN_EXE_acp-tokio-agent");

/// Every control character, and those that turn the direction of writing or end lines.
fn hostile() -> impl Iterator<Item = char> {
    let controls = (1..0xa0).filter_map(char::from_u32).filter(|character| character.is_control());
    controls
        .chain("\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}".chars())
        .chain('\u{202a}'..='\u{202e}')
        .chain('\u{2066}'..='\u{2069}')
}

fn run(client: &str, prompt: &str, agent: &[&str]) -> Output {
    Command::new(client).args([prompt, "--"]).args(agent).output().unwrap()
}

/// What of the above stands in some lines; only line ends may.
fn found(printed: &[u8]) -> Vec<char> {
    let text = std::str::from_utf8(printed).unwrap();
    hostile().filter(|character| *character != '\n' && text.contains(*character)).collect()
}

#[test]
fn messages_of_an_agent() {
    let prompt: String = hostile().chain("hello".chars()).collect();
    for client in CLIENTS {
        // The agent says what it was told, in capitals.
        let Output { status, stdout, stderr } = run(client, &prompt, &[AGENT]);
        assert!(status.success());
        assert!(String::from_utf8_lossy(&stdout).contains("HELLO"));
        assert_eq!((found(&stdout), found(&stderr)), (vec![], vec![]));
    }
}

#[test]
fn violations_and_errors_of_an_agent() {
    const STEER: &str = "\\\\u001b[2K\\\\r\\\\u009d\\\\u202e\\\\n";
    let method = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{STEER}"}}"#);
    let error = format!(r#"{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32000,"message":"{STEER}"}}}}"#);
    let script = format!(
        "read first; printf '\\033[2J\\n{method}\\n'; id=${{first#*\\\"id\\\":}}; printf '{error}\\n' \"${{id%%[,\\}}]*}}\"; cat > /dev/null"
    );
    for client in CLIENTS {
        let Output { status, stdout, stderr } = run(client, "hello", &["sh", "-c", &script]);
        let said = String::from_utf8_lossy(&stderr);
        assert!(!status.success() && said.contains("Error: ") && said.contains("\\u202e"), "{said:?}");
        assert_eq!((found(&stdout), found(&stderr)), (vec![], vec![]));
    }
}

#[test]
fn titles_of_an_agent() {
    let title: String = hostile().collect();
    let (to_agent, from_client) = mpsc::channel::<String>(1);
    let (to_client, from_agent) = mpsc::channel::<String>(1);
    let agent = Agent::new("test", "1").prompt(async move |turn: Turn| {
        turn.tool_call(&format!("begin{title}end"), ToolKind::Other).await?.complete().await?;
        Ok(())
    });
    let client = Client::new("test", "1");
    let lines = block_on(async {
        let serving = agent.serve(messages(from_client.map(Ok::<_, std::io::Error>), to_client));
        let talking = client.run(messages(from_agent.map(Ok::<_, std::io::Error>), to_agent), async |agent| {
            let mut lines = Vec::new();
            talk(agent, "/work", "hello", false, |line| lines.push(line)).await?;
            Ok(lines)
        });
        join(serving, talking).await.1.unwrap()
    });
    assert!(lines[0].starts_with("tool: begin") && lines[0].ends_with("end"), "{lines:?}");
    // A title has one line.
    assert!(!lines.iter().any(|line| line.contains(|character| hostile().any(|hostile| hostile == character))));
}
