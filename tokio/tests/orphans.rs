//! Clients that are killed, and end by signals: neither their agents nor the commands of these stay.
#![cfg(target_os = "linux")]

mod support;

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use support::{alive, example, left, mark, until, LIMIT};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// An agent that runs a command, ignores the end of its input, and stays until SIGTERM, or until SIGKILL.
fn agent(mark: &str, trap: &str) -> String {
    let answer = |result: &str| {
        format!(
            "read line; id=${{line#*\\\"id\\\":}}; \
             printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{result}}}\\n' \"${{id%%[,\\}}]*}}\"; "
        )
    };
    let (hello, session) = (answer("{\"protocolVersion\":1}"), answer("{\"sessionId\":\"s\"}"));
    let command = format!("[\"-c\",\"sleep {mark} & exec sleep {mark}\"]");
    let params = format!("{{\"sessionId\":\"s\",\"command\":\"sh\",\"args\":{command}}}");
    format!(
        "{hello}{session}read prompt; \
         printf '{{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"method\":\"terminal/create\",\"params\":{params}}}\\n'; \
         {trap} sleep {mark}; sleep {mark}"
    )
}

fn client(mark: &str, trap: &str) -> Child {
    // Who starts the tests may ignore signals, as `nohup` does, and children inherit that.
    let mut client = Command::new("env");
    client.arg("--default-signal=HUP,INT,TERM").arg(example("client"));
    client.args(["go", "sh", "-c", &agent(mark, trap)]).stdin(Stdio::null()).stdout(Stdio::null());
    client.kill_on_drop(true).spawn().unwrap()
}

/// Waits for two of the command, and what the agent itself waits for.
async fn all_run(mark: &str) {
    until(|| alive(mark).len() == 3).await;
    // The client may still have to tell the warden what it has started.
    tokio::time::sleep(Duration::from_millis(200)).await;
}

async fn end(client: &mut Child) -> ExitStatus {
    timeout(LIMIT, client.wait()).await.expect("the client has not ended").unwrap()
}

fn kill(signal: &str, number: u32) {
    let status = std::process::Command::new("kill").args([format!("-{signal}"), number.to_string()]).status();
    assert!(status.unwrap().success());
}

#[tokio::test]
async fn a_client_that_is_killed_or_ends_by_a_signal() {
    for signal in ["KILL", "TERM", "INT", "HUP"] {
        let mark = mark();
        let mut client = client(&mark, "trap '' TERM;");
        all_run(&mark).await;
        kill(signal, client.id().unwrap());
        assert!(!end(&mut client).await.success());
        let remaining = left(&mark, LIMIT).await;
        assert!(remaining.is_empty(), "{signal}: {remaining:?}");
    }
}

#[tokio::test]
async fn commands_end_at_once() {
    let mark = mark();
    let mut client = client(&mark, "");
    all_run(&mark).await;
    kill("KILL", client.id().unwrap());
    end(&mut client).await;
    // What the agent waits for has a second more.
    until(|| alive(&mark).len() <= 1).await;
    assert_eq!(alive(&mark).len(), 1, "only the agent has time");
    assert!(left(&mark, LIMIT).await.is_empty());
}
