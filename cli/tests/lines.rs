//! `acp connect` as an editor sees it that writes what is no message, and in front of servers that refuse it.
#![cfg(target_os = "linux")]

mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libacp::json;
use server::{Server, ACP};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;

/// Answers each request with the same bytes, and ends the connection or does nothing more with it.
fn answering(bytes: String, ends: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/acp", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut some = [0; 4096];
            drop(stream.read(&mut some));
            drop(stream.write_all(bytes.as_bytes()));
            open.extend((!ends).then_some(stream));
        }
    });
    url
}

fn refusing(status: u16) -> String {
    answering(format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), true)
}

/// What `acp connect` ends with after a first message, and what it has said.
fn ended(arguments: &[&str]) -> (Option<i32>, String) {
    let mut process = connect(arguments);
    let mut input = process.stdin.take().unwrap();
    writeln!(input, "{HELLO}").unwrap();
    let mut said = String::new();
    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (process.wait().unwrap().code(), said)
}

fn connect(arguments: &[&str]) -> Child {
    let mut command = Command::new(ACP);
    command.arg("connect").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn refusals_are_told_by_their_status() {
    for (status, code) in [(201, 5), (301, 5), (400, 5), (401, 4), (403, 4), (405, 5), (421, 5), (503, 3)] {
        let (ended, said) = ended(&[&refusing(status), "--first", "1"]);
        assert_eq!(ended, Some(code), "{status}: {said}");
        assert!(said.contains(&status.to_string()), "{status}: {said}");
    }
}

/// `--first` is how long it takes, whatever the server does with the connection.
#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nAcp-Connection-Id: c\r\nContent-Length: 99\r\n\r\n";
    for bytes in ["", head] {
        let begun = Instant::now();
        let (code, said) = ended(&[&answering(bytes.to_owned(), false), "--first", "1"]);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("in time") && begun.elapsed() < Duration::from_secs(20), "{said}");
    }
}

#[test]
fn lines_that_are_no_messages_are_answered() {
    let agent = concat!(
        r#"read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'; "#,
        r#"read line; sleep 1; echo '{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}'; read line"#,
    );
    let server = Server::start(&[], &["sh", "-c", agent]);
    let mut process = connect(&[&server.url]);
    let mut input = process.stdin.take().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    writeln!(input, "{HELLO}").unwrap();
    assert!(lines.next().unwrap().contains("protocolVersion"));
    let mut answer = |line: &[u8]| {
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        let answer = lines.next().unwrap();
        let member = |name| json::pointer(&answer, name).unwrap_or_default().to_owned();
        (member("/id"), member("/error/code"))
    };
    let error = |code: &str| ("null".to_owned(), code.to_owned());
    assert_eq!(answer(b"garbage"), error("-32700"));
    assert_eq!(answer(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), error("-32700"));
    assert_eq!(answer(br#"[{"jsonrpc":"2.0","id":7,"method":"session/list"}]"#), error("-32600"));
    assert_eq!(answer(br#"{"jsonrpc":"2.0","id":7}"#), error("-32600"));
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}"#;
    // The second call with an id is refused, and does not end the first one.
    assert_eq!(answer(&[list.as_slice(), b"\n", list].concat()), error("-32600"));
    assert_eq!(answer(b""), ("1".to_owned(), String::new()));
    drop(input);
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

/// Whoever writes everything at once and says no more gets the answers, as from an agent on a pipe.
#[test]
fn answers_come_after_the_end_of_the_input() {
    let agent = r#"read line; sleep 0.5; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'; read line"#;
    let server = Server::start(&[], &["sh", "-c", agent]);
    for silent in [false, true] {
        let mut process = connect(&[&server.url]);
        let mut input = process.stdin.take().unwrap();
        writeln!(input, "{HELLO}").unwrap();
        if silent {
            writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"session/list","params":{{}}}}"#).unwrap();
        }
        drop(input);
        let begun = Instant::now();
        let mut said = String::new();
        process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(said.contains("protocolVersion"), "{said}");
        assert_eq!(process.wait().unwrap().code(), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
