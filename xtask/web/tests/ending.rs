//! Whatever ends the server also ends its agents, including those that ignore signals and the end of their input.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};
use tokio_tungstenite::tungstenite::client::{client, IntoClientRequest};
use tokio_tungstenite::tungstenite::WebSocket;

/// Nothing here takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Writes its id, then ignores the end of its input and every request to end.
const STUBBORN: &str =
    "trap '' TERM INT HUP; exec < /dev/null; echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; while :; do sleep 1; done";
/// Writes its id, and notes when it is asked to end.
const POLITE: &str =
    "trap 'echo ended > \"$0\"; exit' TERM; echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; while :; do sleep 0.1; done";

/// A server, a socket to it, and the agent behind that.
struct Served {
    server: Child,
    agent: Pid,
    file: PathBuf,
    _socket: WebSocket<TcpStream>,
}

fn serve(name: &str, script: &str) -> Served {
    let file = std::env::temp_dir().join(format!("libacp-web-{name}-{}", std::process::id()));
    let _ = fs::remove_file(&file);
    let mut server = Command::new(env!("CARGO_BIN_EXE_xtask-web"))
        .args(["--", "sh", "-c", script])
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().strip_prefix("http://").unwrap();
    let host = address.split('/').next().unwrap();
    let mut request = format!("ws://{address}agent").into_client_request().unwrap();
    request.headers_mut().insert("Origin", format!("http://{host}").parse().unwrap());
    let (socket, _) = client(request, TcpStream::connect(host).unwrap()).unwrap();
    until("the agent runs", || file.exists());
    let id = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    Served { server, agent: Pid::from_raw(id).unwrap(), file, _socket: socket }
}

/// Waits until a condition holds.
fn until(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process still runs. One that has ended and was not reaped yet does not.
fn runs(process: Pid) -> bool {
    if cfg!(target_os = "linux") {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
        return stat
            .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']));
    }
    rustix::process::test_kill_process(process).is_ok()
}

fn end(mut served: Served, signal: Signal) -> PathBuf {
    assert!(runs(served.agent), "an agent whose end could not be seen");
    kill_process(Pid::from_child(&served.server), signal).unwrap();
    served.server.wait().unwrap();
    until("the agent has ended", || !runs(served.agent));
    served.file
}

#[test]
fn signals_end_stubborn_agents() {
    for (name, signal) in [("int", Signal::INT), ("term", Signal::TERM), ("hup", Signal::HUP)] {
        fs::remove_file(end(serve(name, STUBBORN), signal)).unwrap();
    }
}

#[test]
fn agents_are_asked_first() {
    let file = end(serve("polite", POLITE), Signal::TERM);
    assert_eq!(fs::read_to_string(&file).unwrap(), "ended\n");
    fs::remove_file(file).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_server_leaves_no_agent() {
    fs::remove_file(end(serve("kill", STUBBORN), Signal::KILL)).unwrap();
}
