//! `acp serve` with a reader that stops while its agent has much to say: memory is bounded, other connections go on, another
//! session of the same connection waits for a bounded time, and the reader is told what it has lost.
//!
//! The clients are sockets and nothing else, as what a library reads in advance would be read.
#![cfg(target_os = "linux")]

mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use server::{Server, ACP};

/// `--stall`: seconds that a reader has, and what it has while others wait behind it.
const STALL: u64 = 20;
const BLOCKING: Duration = Duration::from_secs(STALL / 4);
/// More than anything here takes that waits for no reader.
const LIMIT: Duration = Duration::from_secs(60);
/// MiB that the agent has to say, and how much of it the server may take into memory. The system's buffers are not its memory.
const ALL: u32 = 256;
const MEMORY: u64 = 32;

/// The server around the agent of the tests, and where it listens.
fn start() -> (Server, String) {
    let agent = PathBuf::from(ACP).with_file_name("examples").join("storyteller");
    let server = Server::start(&["--stall", &STALL.to_string()], &[agent.to_str().unwrap()]);
    let address = server.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/acp")).unwrap().to_owned();
    (server, address)
}

/// The most MiB that a server has had in memory.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

/// A response over HTTP/1.1: its status, its headers, and what is left of its connection.
struct Response {
    status: u32,
    headers: Vec<(String, String)>,
    body: BufReader<TcpStream>,
    text: String,
}

impl Response {
    /// Asks on a connection of its own.
    fn of(address: &str, headers: &[(&str, &str)], message: Option<&Value>) -> Self {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let (method, body) = message.map_or(("GET", String::new()), |message| ("POST", message.to_string()));
        let length = body.len().to_string();
        let own = [("host", address), ("content-length", &*length)];
        let headers: String =
            own.iter().chain(headers).flat_map(|(name, value)| [*name, ": ", value, "\r\n"]).collect();
        socket.write_all(format!("{method} /acp HTTP/1.1\r\n{headers}\r\n{body}").as_bytes()).unwrap();
        let mut body = BufReader::new(socket);
        let mut line = || {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        while let Some((name, value)) = line().split_once(": ") {
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        Response { status, headers, body, text: String::new() }
    }

    fn header(&self, name: &str) -> &str {
        &self.headers.iter().find(|header| header.0 == name).unwrap().1
    }

    /// The next message of a stream; `None` at its end.
    fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.strip_prefix("data: ").map(|data| serde_json::from_str(data).unwrap());
                self.text = rest.to_owned();
                if data.is_some() {
                    return data;
                }
                continue;
            }
            let mut size = String::new();
            self.body.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.body.read_exact(&mut chunk).unwrap();
            if size == 0 {
                return None;
            }
            self.text += std::str::from_utf8(&chunk[..size]).unwrap();
        }
    }

    fn answer(&mut self, id: u32) -> Value {
        std::iter::from_fn(|| self.next()).find(|message| message["id"] == id).expect("the stream has ended")
    }
}

/// A connection of ACP with its stream.
struct Client {
    address: String,
    id: String,
    main: Response,
}

impl Client {
    fn open(address: &str) -> Self {
        let message = call(0, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
        let hello = Response::of(address, &[("content-type", "application/json")], Some(&message));
        let id = hello.header("acp-connection-id").to_owned();
        let main = stream(address, &id, None);
        assert_eq!((hello.status, main.status), (200, 200));
        Client { address: address.to_owned(), id, main }
    }

    fn post(&self, session: Option<&str>, message: &Value) {
        let mut headers = vec![("content-type", "application/json"), ("acp-connection-id", &*self.id)];
        headers.extend(session.map(|session| ("acp-session-id", session)));
        assert_eq!(Response::of(&self.address, &headers, Some(message)).status, 202);
    }

    /// A new session and its stream.
    fn session(&mut self, id: u32) -> (String, Response) {
        self.post(None, &call(id, "session/new", json!({"cwd": "/work", "mcpServers": []})));
        let session = self.main.answer(id)["result"]["sessionId"].as_str().unwrap().to_owned();
        let events = stream(&self.address, &self.id, Some(&session));
        assert_eq!(events.status, 200);
        (session, events)
    }

    fn prompt(&self, id: u32, session: &str, text: &str) {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        self.post(Some(session), &call(id, "session/prompt", params));
    }

    /// How long a turn takes.
    fn turn(&self, id: u32, session: &str, events: &mut Response) -> Duration {
        let begun = Instant::now();
        self.prompt(id, session, "hello");
        assert_eq!(events.answer(id)["result"]["stopReason"], "end_turn");
        begun.elapsed()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is written where it is passed")]
fn call(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn stream(address: &str, connection: &str, session: Option<&str>) -> Response {
    let mut headers = vec![("accept", "text/event-stream"), ("acp-connection-id", connection)];
    headers.extend(session.map(|session| ("acp-session-id", session)));
    Response::of(address, &headers, None)
}

#[test]
fn a_reader_that_stops_holds_nobody_up_for_long() {
    let (server, address) = start();
    let mut client = Client::open(&address);
    let (first, mut stopped) = client.session(1);
    let (second, mut events) = client.session(2);
    let mut other = Client::open(&address);
    let (its, mut read) = other.session(1);
    let before = peak(&server);

    client.prompt(3, &first, &format!("flood {}", ALL * 16));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            for id in 2.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                longest = other.turn(id, &its, &mut read).max(longest);
                thread::sleep(Duration::from_millis(20));
            }
            longest
        });
        // Turns are short until all buffers are full. The next one then waits for the reader to be given up.
        let begun = Instant::now();
        let mut waited = Duration::ZERO;
        for id in 4.. {
            waited = client.turn(id, &second, &mut events);
            if waited > BLOCKING / 2 {
                break;
            }
            assert!(begun.elapsed() < LIMIT, "no buffer is full");
        }
        assert!(waited < Duration::from_secs(STALL), "another session waited {waited:?}");
        over.store(true, Ordering::Relaxed);
        let longest = others.join().unwrap();
        assert!(longest < BLOCKING / 2, "another connection waited {longest:?}");
    });
    let taken = peak(&server) - before;
    assert!(taken < MEMORY, "{taken} MiB");

    // What had been written is still read. The stream then ends, and is gone until the session is loaded.
    assert!(std::iter::from_fn(|| stopped.next()).all(|message| message["id"].is_null()), "the turn was not answered");
    assert_eq!(stream(&address, &client.id, Some(&first)).status, 410);
    let load = json!({"sessionId": first, "cwd": "/work", "mcpServers": []});
    client.post(Some(&first), &call(3000, "session/load", load));
    let mut again = stream(&address, &client.id, Some(&first));
    assert_eq!(again.status, 200);
    assert_eq!(again.next().unwrap()["params"]["update"]["content"]["text"], "Once");
    client.main.answer(3000);
}
