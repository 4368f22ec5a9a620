//! The program with real processes: `acp serve` around an agent, `acp connect` in front of it, and a client that speaks over
//! the standard streams.
#![cfg(target_os = "linux")]

mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libacp::aio::{Client, Failure};
use libacp_tokio::{spawn, Spawn};
use server::{Server, ACP};

/// More than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

fn storyteller() -> PathBuf {
    PathBuf::from(ACP).with_file_name("examples").join("storyteller")
}

fn around_the_storyteller() -> Server {
    Server::start(&[], &[storyteller().to_str().unwrap()])
}

/// The address of a server as one of WebSocket.
fn websocket(server: &Server) -> String {
    server.url.replace("http://", "ws://")
}

fn front(url: &str) -> Spawn {
    spawn(ACP).args(["connect", url]).on_stderr(|_| {})
}

/// Starts `acp connect` with a first message. Its input ends with what is returned second.
fn begun(command: &mut Command) -> (Child, ChildStdin) {
    let mut process = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    // A program that refuses its arguments is gone before it reads.
    drop(writeln!(input, "{hello}"));
    (process, input)
}

fn signal(signal: &str, process: u32) {
    assert!(Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().unwrap().success());
}

fn within(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The children of a process, of all kinds.
fn children(process: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let mut all: Vec<u32> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    // A process may start others from any of its threads.
    for task in std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(text.split_whitespace().map(|number| number.parse::<u32>().unwrap()));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The processes among these that run the storyteller.
fn storytellers(processes: &[u32]) -> Vec<u32> {
    let is = |process: &&u32| {
        std::fs::read(format!("/proc/{process}/cmdline"))
            .is_ok_and(|line| line.windows(11).any(|it| it == b"storyteller"))
    };
    processes.iter().filter(is).copied().collect()
}

#[tokio::test]
async fn a_remote_agent_is_a_command() {
    let server = around_the_storyteller();
    for url in [server.url.clone(), websocket(&server)] {
        let client = Client::new("test", "1.0").permission(async |request| Ok(request.allow()));
        let front = front(&url);
        let talking = front.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
            assert_eq!(session.prompt("ask").read_text().await?, "allowed");
            let mut turn = session.prompt("wait");
            turn.update().await?;
            turn.cancel().await?;
            while turn.update().await?.is_some() {}
            assert_eq!(turn.stop_reason().unwrap().to_string(), "cancelled");
            let mut loading = agent.load_session("old", "/work");
            let mut told = String::new();
            while let Some(update) = loading.update().await? {
                told += update.text().unwrap_or_default();
            }
            assert_eq!(told, "Once upon a time");
            Ok(())
        });
        tokio::time::timeout(LIMIT, talking).await.unwrap().unwrap();
    }
    // One process for each connection, and no longer than that.
    within("the agents stay", || storytellers(&children(server.process.id())).is_empty());
}

/// A proxy whose connections can be cut.
fn proxy(server: &str) -> (String, Arc<Mutex<Vec<TcpStream>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (listener.local_addr().unwrap().to_string(), server.to_owned());
    let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let opened = Arc::clone(&open);
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(&server) else { continue };
            for (mut from, mut to) in
                [(&near, &far), (&far, &near)].map(|(a, b)| (a.try_clone().unwrap(), b.try_clone().unwrap()))
            {
                opened.lock().unwrap().push(from.try_clone().unwrap());
                std::thread::spawn(move || {
                    drop(std::io::copy(&mut from, &mut to));
                    drop(to.shutdown(std::net::Shutdown::Both));
                });
            }
        }
    });
    (address, open)
}

fn cut(open: &Mutex<Vec<TcpStream>>) {
    for stream in open.lock().unwrap().drain(..) {
        drop(stream.shutdown(std::net::Shutdown::Both));
    }
}

#[tokio::test]
async fn the_conversation_outlives_its_connections() {
    let server = around_the_storyteller();
    let behind = server.url.trim_start_matches("http://").trim_end_matches("/acp");
    let (address, open) = proxy(behind);
    for websocket in [false, true] {
        let url = format!("{}://{address}/acp", if websocket { "ws" } else { "http" });
        let client = Client::new("test", "1.0");
        let front = front(&url);
        let talking = front.run(&client, async |agent| {
            let session = agent.new_session("/work").await?;
            let mut turn = session.prompt("slowly 60");
            turn.update().await?;
            cut(&open);
            let ended = loop {
                match turn.update().await {
                    Ok(Some(_)) => {}
                    other => break other,
                }
            };
            if websocket {
                // Its connection is gone, and nobody knows what has become of the turn.
                let problem = ended.unwrap_err();
                assert!(problem.to_string().contains("connection was lost"), "{problem}");
            } else {
                ended.unwrap();
            }
            assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
            Ok(())
        });
        tokio::time::timeout(LIMIT, talking).await.unwrap().unwrap();
    }
}

#[test]
fn nothing_is_left_of_a_server_that_is_killed() {
    for how in ["KILL", "TERM", "INT"] {
        let mut server = around_the_storyteller();
        let (mut connected, _input) =
            begun(Command::new(ACP).args(["--quiet", "connect", &websocket(&server)]).stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(connected.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("protocolVersion"), "{line}");
        let agents = storytellers(&children(server.process.id()));
        assert_eq!(agents.len(), 1);
        signal(how, server.process.id());
        let status = server.process.wait().unwrap();
        let code = match how {
            "KILL" => None,
            "TERM" => Some(143),
            _ => Some(130),
        };
        assert_eq!(status.code(), code, "{how}");
        within("an agent stays", || storytellers(&agents).is_empty());
        drop(connected.kill());
        drop(connected.wait());
    }
}

#[test]
fn nothing_is_left_of_a_client_that_is_killed() {
    let server = around_the_storyteller();
    let (mut connected, _input) =
        begun(Command::new(ACP).args(["--quiet", "connect", &websocket(&server)]).stdout(Stdio::null()));
    within("no agent", || storytellers(&children(server.process.id())).len() == 1);
    signal("KILL", connected.id());
    connected.wait().unwrap();
    within("the agent stays", || storytellers(&children(server.process.id())).is_empty());
}

fn output(arguments: &[&str]) -> Output {
    Command::new(ACP).args(arguments).stdin(Stdio::piped()).output().unwrap()
}

/// What `acp connect` ends with after a first message.
fn connected(arguments: &[&str]) -> (Option<i32>, String) {
    let command = &mut Command::new(ACP);
    let (mut process, _input) =
        begun(command.arg("connect").args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut said = String::new();
    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (process.wait().unwrap().code(), said)
}

#[test]
fn exit_codes_and_a_log_without_secrets() {
    let folder = std::env::temp_dir().join(format!("libacp-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (right, wrong) = (folder.join("right"), folder.join("wrong"));
    std::fs::write(&right, "s3cret-right\n").unwrap();
    std::fs::write(&wrong, "s3cret-wrong\n").unwrap();
    let server = Server::start(&["--token", right.to_str().unwrap()], &[storyteller().to_str().unwrap()]);
    let wrong = wrong.to_str().unwrap();
    let cases: [(&[&str], i32); 6] = [
        (&[&server.url, "--token", wrong, "--header", "X-Key: s3cret-header"], 4),
        (&[&websocket(&server), "--token", wrong], 4),
        (&[&server.url.replace("/acp", "/other"), "--token", wrong], 5),
        (&["http://127.0.0.1:1/acp", "--first", "1"], 3),
        (&["ftp://127.0.0.1/acp"], 2),
        (&[&server.url, "--header", "s3cret-header"], 2),
    ];
    for (arguments, code) in cases {
        let (ended, said) = connected(arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {said}");
        assert!(!said.contains("s3cret") && said.contains("acp: "), "{said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(output(&["serve"]).status.code(), Some(2));
    assert_eq!(output(&["serve", "--origin", "x", "--", "true"]).status.code(), Some(2));
    for path in ["acp", "/a b", "/acp?x", "/acp#x", "/\u{e4}"] {
        // Listening is what ends the others: with another code.
        let listen = ["serve", "--listen", "192.0.2.1:9", "--path", path, "--", "true"];
        assert_eq!(output(&listen).status.code(), Some(2), "{path}");
    }
    let completions = output(&["completions", "bash"]);
    assert!(completions.status.success() && String::from_utf8(completions.stdout).unwrap().contains("_acp"));
}

/// Failures of the agent say what it said.
#[tokio::test]
async fn last_words_of_an_agent_are_told() {
    let server = Server::start(&[], &["sh", "-c", "read line; echo 'no key for the model' >&2; exit 7"]);
    let failed: Failure = front(&server.url).run(&Client::new("test", "1.0"), async |_| Ok(())).await.unwrap_err();
    let text = failed.to_string();
    assert!(text.contains("exit code 7") && text.contains("no key for the model"), "{text}");
}
